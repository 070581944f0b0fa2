import { z } from "zod";
import { defineEndpoint } from "./endpoint.ts";
import { amount, failureCode, paymentInformation, paymentStatus } from "./shapes.ts";

/** GET /v1/payments/{id} */
export const getPayment = defineEndpoint({
  operation: "getPayment",
  method: "GET",
  path: "/v1/payments/{id}",
  summary: "Returns the full details of a payment, with its settlement when there is one.",
  auth: "merchant",
  missingKey: "missing_api_key",
  query: null,
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
  }),
  status: 200,
  errors: ["payment_not_found"],
  idempotent: false,
  cors: false,
});
