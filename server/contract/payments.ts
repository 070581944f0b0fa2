import { z } from "zod";
import { ACTORS } from "#server/domain/payment/texts/text.ts";
import { defineEndpoint } from "./endpoint.ts";
import { amount, failureCode, paymentInformation, paymentStatus } from "./shapes.ts";

const INCLUDES = ["explanation", "timeline"] as const;

/** What to add to the answer, as a comma list. */
const includes = z
  .string()
  .transform((list) => list.split(","))
  .pipe(z.array(z.enum(INCLUDES, `must be one or more of ${INCLUDES.join(", ")}, with commas`)));

const explanationLine = z.object({
  /** `<status>.<reason>`, for programs; new ones may be added. */
  code: z.string(),
  sentence: z.string(),
  /** Who can move it on. */
  actor: z.enum(ACTORS),
  nextStep: z.string(),
});

/** GET /v1/payments/{id} */
export const getPayment = defineEndpoint({
  operation: "getPayment",
  method: "GET",
  path: "/v1/payments/{id}",
  summary: "Returns the full details of a payment, with its settlement when there is one.",
  auth: "merchant",
  missingKey: "missing_api_key",
  query: z.object({ include: includes.optional() }),
  body: null,
  bodyLimit: 0,
  response: z.object({
    status: paymentStatus,
    referenceId: z.string(),
    failureCode: failureCode.nullable(),
    info: paymentInformation.nullable(),
    /** Null until the transfer to the merchant's destination is final, and always in the direct flow. */
    settlement: z
      .object({ successful: z.object({ txId: z.string(), amount }).nullable() })
      .nullable(),
    /** Why the payment is where it is; there only when asked for. */
    explanation: explanationLine
      .extend({
        /** One for each open exception and each refund. */
        notes: z.array(explanationLine),
      })
      .optional(),
    /** What happened to the payment, oldest first; there only when asked for. */
    timeline: z
      .array(
        z.object({
          /** Unix seconds. */
          at: z.int(),
          kind: z.string(),
          text: z.string(),
          data: z.record(z.string(), z.union([z.string(), z.number(), z.null()])),
        }),
      )
      .optional(),
  }),
  status: 200,
  errors: ["payment_not_found"],
  idempotent: false,
  cors: false,
});
