import { z } from "zod";
import { BODY_LIMIT, defineEndpoint } from "./endpoint.ts";
import { amountParameter, failureCode, paymentInformation, paymentStatus, text } from "./shapes.ts";

/** `pending` stands for `requires_action`, and `failed` for `cancelled` too, unless the caller names an API version by its older headers. */
const merchantStatus = z.union([paymentStatus, z.literal("pending")]);

const nullish = <T extends z.ZodType>(shape: T) =>
  shape.nullish().transform((value) => value ?? null);

/** What a merchant asks for at both creation paths. */
export const paymentRequest = z.object({
  amount: amountParameter,
  referenceId: text(1, 255),
  /** Anything but two valid https URLs disables redirecting; it never refuses the payment. */
  checkout: z
    .object({ successUrl: z.unknown().optional(), errorUrl: z.unknown().optional() })
    .nullish(),
  expiresAt: nullish(z.int()),
  metadata: nullish(
    z
      .record(text(1, 500), text(0, 500))
      .refine((pairs) => Object.keys(pairs).length <= 50, "must have at most 50 pairs"),
  ),
  description: nullish(text(0, 500)),
});

/** What both creation paths answer. */
export const createdPayment = z.object({
  paymentId: z.string(),
  gatewayUrl: z.string(),
  status: paymentStatus,
  expiresAt: z.int(),
  isFinal: z.boolean(),
  pollInMs: z.int().nullable(),
});

/** POST /v1/merchant/payment */
export const createMerchantPayment = defineEndpoint({
  operation: "createMerchantPayment",
  method: "POST",
  path: "/v1/merchant/payment",
  summary: "Creates a payment for a buyer to complete in the checkout portal.",
  auth: "merchant",
  missingKey: "missing_merchant_api_key",
  query: null,
  body: paymentRequest,
  bodyLimit: BODY_LIMIT,
  response: createdPayment.extend({ status: merchantStatus }),
  status: 201,
  errors: ["params_validation"],
  idempotent: true,
  cors: false,
});

/** GET /v1/merchant/payment/{id}/status */
export const getMerchantPaymentStatus = defineEndpoint({
  operation: "getMerchantPaymentStatus",
  method: "GET",
  path: "/v1/merchant/payment/{id}/status",
  summary: "Returns the status of a payment to the merchant's backend.",
  auth: "merchant",
  missingKey: "missing_merchant_api_key",
  query: null,
  body: null,
  bodyLimit: 0,
  response: z.object({
    status: merchantStatus,
    isFinal: z.boolean(),
    pollInMs: z.int().nullable(),
    failureCode: failureCode.nullable(),
    info: paymentInformation.nullable(),
  }),
  status: 200,
  errors: ["payment_not_found"],
  idempotent: false,
  cors: false,
});
