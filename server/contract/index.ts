import type { EndpointShape } from "./endpoint.ts";
import {
  confirmPayment,
  fetchPaymentActions,
  getGatewayPayment,
  getGatewayPaymentStatus,
  listPaymentOptions,
} from "./gateway.ts";
import { createMerchantPayment, getMerchantPaymentStatus } from "./merchant.ts";
import {
  cancelGatewayPayment,
  cancelPayment,
  createPayment,
  getPaymentStatus,
} from "./payment-lifecycle.ts";
import { getPayment } from "./payments.ts";

/** Everything served under /v1, and nothing else is. */
export const ENDPOINTS: readonly EndpointShape[] = [
  createMerchantPayment,
  getMerchantPaymentStatus,
  getPayment,
  createPayment,
  getPaymentStatus,
  cancelPayment,
  cancelGatewayPayment,
  getGatewayPayment,
  getGatewayPaymentStatus,
  listPaymentOptions,
  fetchPaymentActions,
  confirmPayment,
];
