import { z } from "zod";
import { BODY_LIMIT, defineEndpoint } from "./endpoint.ts";
import { amount, text } from "./shapes.ts";

const merchantSide = {
  auth: "merchant",
  missingKey: "missing_api_key",
  cors: false,
} as const;

const paymentId = z
  .string()
  .regex(/^pay_[A-Za-z0-9]+$/, "must be a payment id")
  .max(64, "must have at most 64 characters");

/** Money given back for a payment. */
const refund = z.object({
  id: z.string(),
  paymentId: z.string(),
  /** `awaiting_merchant`: the merchant's wallet is to send `transfer`; the chain shows when it did. */
  status: z.enum(["pending", "awaiting_merchant", "succeeded", "failed"]),
  /** `record`: done elsewhere and noted here. `execute`: sent to the paying account. */
  kind: z.enum(["record", "execute"]),
  amount,
  /** CAIP-10 of the account that paid. */
  destination: z.string(),
  txId: z.string().nullable(),
  reason: z.string().nullable(),
  /** Why it failed, in words. */
  detail: z.string().nullable(),
  /** ISO 8601 in UTC. */
  createdAt: z.string(),
  /** The call the merchant's own wallet makes; null unless the refund waits for it. */
  transfer: z
    .object({ chain_id: z.string(), method: z.string(), params: z.array(z.unknown()) })
    .nullable(),
});

const nullish = <T extends z.ZodType>(shape: T) =>
  shape.nullish().transform((value) => value ?? null);

/** POST /v1/refunds */
export const createRefund = defineEndpoint({
  ...merchantSide,
  operation: "createRefund",
  method: "POST",
  path: "/v1/refunds",
  summary: "Records a refund of a succeeded payment, or sends one to the account that paid.",
  query: null,
  body: z.object({
    paymentId,
    /** Minor units of the token that paid; absent: everything that is not refunded yet. */
    amount: nullish(
      z
        .string()
        .regex(
          /^[1-9][0-9]{0,77}$/,
          "must be a whole number of minor units without sign, point or leading zero",
        ),
    ),
    kind: z
      .enum(["record", "execute"], "must be record or execute")
      .nullish()
      .transform((value) => value ?? "record"),
    reason: nullish(text(1, 500)),
    /** Transaction of a recorded refund. */
    txId: nullish(z.string().regex(/^[0-9A-Za-z]{1,128}$/, "must be a transaction id")),
  }),
  bodyLimit: BODY_LIMIT,
  response: refund,
  status: 201,
  errors: ["params_validation", "payment_not_found", "payment_not_succeeded", "already_refunded"],
  idempotent: true,
});

/** GET /v1/refunds/{refundId} */
export const getRefund = defineEndpoint({
  ...merchantSide,
  operation: "getRefund",
  method: "GET",
  path: "/v1/refunds/{refundId}",
  summary:
    "Returns a refund, with the transfer the merchant's wallet is to make if it waits for one.",
  query: null,
  body: null,
  bodyLimit: 0,
  response: refund,
  status: 200,
  errors: ["not_found"],
  idempotent: false,
});

const MAX_PAGE = 100;

/** GET /v1/refunds */
export const listRefunds = defineEndpoint({
  ...merchantSide,
  operation: "listRefunds",
  method: "GET",
  path: "/v1/refunds",
  summary: "Lists the merchant's refunds, newest first, of one payment or of all.",
  query: z.object({
    paymentId: paymentId.optional(),
    cursor: z
      .string()
      .regex(/^ref_[0-9A-Z]{1,60}$/, "must be the nextCursor of a page")
      .optional(),
    limit: z
      .string()
      .regex(/^[1-9][0-9]{0,2}$/, `must be an integer from 1 to ${MAX_PAGE}`)
      .transform(Number)
      .refine((value) => value <= MAX_PAGE, `must be an integer from 1 to ${MAX_PAGE}`)
      .default(20),
  }),
  body: null,
  bodyLimit: 0,
  response: z.object({ refunds: z.array(refund), nextCursor: z.string().nullable() }),
  status: 200,
  errors: [],
  idempotent: false,
});
