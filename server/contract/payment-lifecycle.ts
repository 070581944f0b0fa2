import { z } from "zod";
import { MAX_POLL_MS } from "#server/domain/payment/polling.ts";
import { BODY_LIMIT, defineEndpoint } from "./endpoint.ts";
import { createdPayment, paymentRequest } from "./merchant.ts";
import { failureCode, maxPollMs, standing } from "./shapes.ts";

const merchantSide = {
  auth: "merchant",
  missingKey: "missing_api_key",
  cors: false,
} as const;

/** POST /v1/payments */
export const createPayment = defineEndpoint({
  ...merchantSide,
  operation: "createPayment",
  method: "POST",
  path: "/v1/payments",
  summary: "Creates a payment for a buyer to complete in the checkout portal or a wallet.",
  query: null,
  body: paymentRequest,
  bodyLimit: BODY_LIMIT,
  response: createdPayment,
  status: 201,
  errors: ["params_validation"],
  idempotent: true,
});

/** GET /v1/payments/{id}/status */
export const getPaymentStatus = defineEndpoint({
  ...merchantSide,
  operation: "getPaymentStatus",
  method: "GET",
  path: "/v1/payments/{id}/status",
  summary: "Returns where a payment stands, held for up to maxPollMs while nothing changes.",
  query: z.object({ maxPollMs: maxPollMs(MAX_POLL_MS) }),
  body: null,
  bodyLimit: 0,
  response: standing.extend({ failureCode: failureCode.nullable() }),
  status: 200,
  errors: ["payment_not_found"],
  idempotent: false,
});

/** What both cancel paths answer; `cancelledAt` is ISO 8601 in UTC. */
const cancelledPayment = z.object({
  paymentId: z.string(),
  status: z.literal("cancelled"),
  cancelledAt: z.string(),
  cancelledReason: z.enum(["cancelled_by_merchant", "cancelled_by_user"]),
});

/** POST /v1/payments/{id}/cancel */
export const cancelPayment = defineEndpoint({
  ...merchantSide,
  operation: "cancelPayment",
  method: "POST",
  path: "/v1/payments/{id}/cancel",
  summary: "Cancels a payment that nobody has started to pay.",
  query: null,
  body: null,
  bodyLimit: 0,
  response: cancelledPayment,
  status: 200,
  errors: ["payment_not_found", "invalid_state"],
  idempotent: true,
});

/** POST /v1/gateway/payment/{id}/cancel */
export const cancelGatewayPayment = defineEndpoint({
  operation: "cancelGatewayPayment",
  method: "POST",
  path: "/v1/gateway/payment/{id}/cancel",
  summary: "Cancels a payment for the buyer, who has not started to pay it.",
  auth: "gateway",
  missingKey: "missing_auth_headers",
  query: null,
  body: null,
  bodyLimit: 0,
  response: cancelledPayment,
  status: 200,
  errors: ["payment_not_found", "invalid_state"],
  idempotent: false,
  cors: true,
});
