import * as events from "#app/v1/events/route.ts";
import * as gatewayCancel from "#app/v1/gateway/payment/[id]/cancel/route.ts";
import * as gatewayConfirm from "#app/v1/gateway/payment/[id]/confirm/route.ts";
import * as gatewayFetch from "#app/v1/gateway/payment/[id]/fetch/route.ts";
import * as gatewayOptions from "#app/v1/gateway/payment/[id]/options/route.ts";
import * as gatewayPayment from "#app/v1/gateway/payment/[id]/route.ts";
import * as gatewayStatus from "#app/v1/gateway/payment/[id]/status/route.ts";
import * as merchantPaymentStatus from "#app/v1/merchant/payment/[id]/status/route.ts";
import * as merchantPayment from "#app/v1/merchant/payment/route.ts";
import * as oneMerchant from "#app/v1/merchants/[merchantId]/route.ts";
import * as merchantSettlement from "#app/v1/merchants/[merchantId]/settlements/crypto/[settlementId]/route.ts";
import * as merchantSettlementsCrypto from "#app/v1/merchants/[merchantId]/settlements/crypto/route.ts";
import * as merchantSettlements from "#app/v1/merchants/[merchantId]/settlements/route.ts";
import * as merchantPayments from "#app/v1/merchants/payments/route.ts";
import * as merchants from "#app/v1/merchants/route.ts";
import * as paymentCancel from "#app/v1/payments/[id]/cancel/route.ts";
import * as payment from "#app/v1/payments/[id]/route.ts";
import * as paymentStatus from "#app/v1/payments/[id]/status/route.ts";
import * as payments from "#app/v1/payments/route.ts";
import * as refund from "#app/v1/refunds/[refundId]/route.ts";
import * as refunds from "#app/v1/refunds/route.ts";
import * as webhookRedelivery from "#app/v1/webhook-deliveries/[deliveryId]/redeliver/route.ts";
import * as webhookDelivery from "#app/v1/webhook-deliveries/[deliveryId]/route.ts";
import * as webhookDeliveries from "#app/v1/webhook-endpoints/[endpointId]/deliveries/route.ts";
import * as webhookRotation from "#app/v1/webhook-endpoints/[endpointId]/rotate-secret/route.ts";
import * as webhookEndpoint from "#app/v1/webhook-endpoints/[endpointId]/route.ts";
import * as webhookEndpoints from "#app/v1/webhook-endpoints/route.ts";
import type { RouteHandler } from "#server/http/define-route.ts";

/** The route files under app/v1 by their URL path; a test compares the table with the contract. */
export const ROUTES: Readonly<Record<string, Readonly<Record<string, RouteHandler>>>> = {
  "/v1/merchant/payment": merchantPayment,
  "/v1/merchant/payment/{id}/status": merchantPaymentStatus,
  "/v1/merchants": merchants,
  "/v1/merchants/payments": merchantPayments,
  "/v1/merchants/{merchantId}": oneMerchant,
  "/v1/merchants/{merchantId}/settlements": merchantSettlements,
  "/v1/merchants/{merchantId}/settlements/crypto": merchantSettlementsCrypto,
  "/v1/merchants/{merchantId}/settlements/crypto/{settlementId}": merchantSettlement,
  "/v1/payments": payments,
  "/v1/payments/{id}": payment,
  "/v1/payments/{id}/status": paymentStatus,
  "/v1/payments/{id}/cancel": paymentCancel,
  "/v1/refunds": refunds,
  "/v1/refunds/{refundId}": refund,
  "/v1/gateway/payment/{id}/cancel": gatewayCancel,
  "/v1/gateway/payment/{id}": gatewayPayment,
  "/v1/gateway/payment/{id}/options": gatewayOptions,
  "/v1/gateway/payment/{id}/fetch": gatewayFetch,
  "/v1/gateway/payment/{id}/confirm": gatewayConfirm,
  "/v1/gateway/payment/{id}/status": gatewayStatus,
  "/v1/events": events,
  "/v1/webhook-endpoints": webhookEndpoints,
  "/v1/webhook-endpoints/{endpointId}": webhookEndpoint,
  "/v1/webhook-endpoints/{endpointId}/rotate-secret": webhookRotation,
  "/v1/webhook-endpoints/{endpointId}/deliveries": webhookDeliveries,
  "/v1/webhook-deliveries/{deliveryId}": webhookDelivery,
  "/v1/webhook-deliveries/{deliveryId}/redeliver": webhookRedelivery,
};
