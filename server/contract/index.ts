import type { EndpointShape } from "./endpoint.ts";
import { listEvents } from "./events.ts";
import {
  confirmPayment,
  fetchPaymentActions,
  getGatewayPayment,
  getGatewayPaymentStatus,
  listPaymentOptions,
} from "./gateway.ts";
import { createMerchantPayment, getMerchantPaymentStatus } from "./merchant.ts";
import {
  createMerchant,
  deleteMerchant,
  getMerchant,
  listMerchants,
  updateMerchant,
} from "./merchants.ts";
import {
  cancelGatewayPayment,
  cancelPayment,
  createPayment,
  getPaymentStatus,
} from "./payment-lifecycle.ts";
import { listMerchantPayments, listPayments } from "./payment-list.ts";
import { getPayment } from "./payments.ts";
import { createRefund, getRefund, listRefunds } from "./refunds.ts";
import {
  addSettlementDestinations,
  changeSettlementDestination,
  getSettlementDestination,
  listSettlementDestinations,
  removeSettlementDestination,
} from "./settlements.ts";
import {
  createWebhookEndpoint,
  deleteWebhookEndpoint,
  getWebhookDelivery,
  getWebhookEndpoint,
  listWebhookDeliveries,
  listWebhookEndpoints,
  redeliverWebhook,
  rotateWebhookSecret,
  updateWebhookEndpoint,
} from "./webhooks.ts";

const CONTRACT = [
  createMerchantPayment,
  getMerchantPaymentStatus,
  getPayment,
  createPayment,
  getPaymentStatus,
  cancelPayment,
  createRefund,
  getRefund,
  listRefunds,
  cancelGatewayPayment,
  getGatewayPayment,
  getGatewayPaymentStatus,
  listPaymentOptions,
  fetchPaymentActions,
  confirmPayment,
  listPayments,
  listMerchantPayments,
  createMerchant,
  listMerchants,
  getMerchant,
  updateMerchant,
  deleteMerchant,
  listSettlementDestinations,
  addSettlementDestinations,
  getSettlementDestination,
  changeSettlementDestination,
  removeSettlementDestination,
  listEvents,
  createWebhookEndpoint,
  listWebhookEndpoints,
  getWebhookEndpoint,
  updateWebhookEndpoint,
  deleteWebhookEndpoint,
  rotateWebhookSecret,
  listWebhookDeliveries,
  getWebhookDelivery,
  redeliverWebhook,
] as const satisfies readonly EndpointShape[];

/** Everything served under /v1, and nothing else is. */
export const ENDPOINTS: readonly EndpointShape[] = CONTRACT;

/** Any endpoint with its exact shapes, for code that is typed by the contract. */
export type Endpoint = (typeof CONTRACT)[number];
