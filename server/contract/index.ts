import type { EndpointShape } from "./endpoint.ts";
import {
  confirmPayment,
  fetchPaymentActions,
  getGatewayPayment,
  getGatewayPaymentStatus,
  listPaymentOptions,
} from "./gateway.ts";
import { createMerchantPayment, getMerchantPaymentStatus } from "./merchant.ts";
import { getPayment } from "./payments.ts";

/** Everything served under /v1, and nothing else is. */
export const ENDPOINTS: readonly EndpointShape[] = [
  createMerchantPayment,
  getMerchantPaymentStatus,
  getPayment,
  getGatewayPayment,
  getGatewayPaymentStatus,
  listPaymentOptions,
  fetchPaymentActions,
  confirmPayment,
];
