import * as gatewayCancel from "#app/v1/gateway/payment/[id]/cancel/route.ts";
import * as gatewayConfirm from "#app/v1/gateway/payment/[id]/confirm/route.ts";
import * as gatewayFetch from "#app/v1/gateway/payment/[id]/fetch/route.ts";
import * as gatewayOptions from "#app/v1/gateway/payment/[id]/options/route.ts";
import * as gatewayPayment from "#app/v1/gateway/payment/[id]/route.ts";
import * as gatewayStatus from "#app/v1/gateway/payment/[id]/status/route.ts";
import * as merchantPaymentStatus from "#app/v1/merchant/payment/[id]/status/route.ts";
import * as merchantPayment from "#app/v1/merchant/payment/route.ts";
import * as paymentCancel from "#app/v1/payments/[id]/cancel/route.ts";
import * as payment from "#app/v1/payments/[id]/route.ts";
import * as paymentStatus from "#app/v1/payments/[id]/status/route.ts";
import * as payments from "#app/v1/payments/route.ts";
import type { RouteHandler } from "#server/http/define-route.ts";

/** The route files under app/v1 by their URL path; a test compares the table with the contract. */
export const ROUTES: Readonly<Record<string, Readonly<Record<string, RouteHandler>>>> = {
  "/v1/merchant/payment": merchantPayment,
  "/v1/merchant/payment/{id}/status": merchantPaymentStatus,
  "/v1/payments": payments,
  "/v1/payments/{id}": payment,
  "/v1/payments/{id}/status": paymentStatus,
  "/v1/payments/{id}/cancel": paymentCancel,
  "/v1/gateway/payment/{id}/cancel": gatewayCancel,
  "/v1/gateway/payment/{id}": gatewayPayment,
  "/v1/gateway/payment/{id}/options": gatewayOptions,
  "/v1/gateway/payment/{id}/fetch": gatewayFetch,
  "/v1/gateway/payment/{id}/confirm": gatewayConfirm,
  "/v1/gateway/payment/{id}/status": gatewayStatus,
};
