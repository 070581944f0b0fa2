import { z } from "zod";
import { MAX_POLL_MS } from "#server/domain/payment/polling.ts";
import { BODY_LIMIT, CONFIRM_BODY_LIMIT, defineEndpoint } from "./endpoint.ts";
import {
  action,
  amount,
  collectData,
  failureCode,
  flag,
  maxPollMs,
  paymentStatus,
  standing,
  text,
  walletRpcAction,
} from "./shapes.ts";

const gateway = {
  auth: "gateway",
  missingKey: "missing_auth_headers",
  status: 200,
  idempotent: false,
  cors: true,
} as const;
const read = { ...gateway, method: "GET", body: null, bodyLimit: 0 } as const;
const write = { ...gateway, method: "POST" } as const;

/** What an action gave: text for the methods of today, an object where a wallet hands on its node's whole answer. */
const output = z.union(
  [z.string(), z.record(z.string(), z.unknown())],
  "must be text or an object",
);

/** The payment as a wallet may see it. */
const description = z.object({
  status: paymentStatus,
  amount,
  expiresAt: z.int(),
  merchant: z.object({ name: z.string(), iconUrl: z.string().nullable() }),
  /** The account whose results were accepted; who its wallet is, is not known. */
  buyer: z
    .object({
      accountCaip10: z.string(),
      accountProviderName: z.string(),
      accountProviderIcon: z.string().nullable(),
    })
    .nullable(),
});

/** GET /v1/gateway/payment/{id} */
export const getGatewayPayment = defineEndpoint({
  ...read,
  operation: "getGatewayPayment",
  path: "/v1/gateway/payment/{id}",
  summary: "Returns what a wallet needs to show a payment.",
  query: null,
  response: description,
  errors: ["payment_not_found"],
});

/** GET /v1/gateway/payment/{id}/status */
export const getGatewayPaymentStatus = defineEndpoint({
  ...read,
  operation: "getGatewayPaymentStatus",
  path: "/v1/gateway/payment/{id}/status",
  summary: "Returns where a payment stands, held for up to maxPollMs while nothing changes.",
  query: z.object({ maxPollMs: maxPollMs(MAX_POLL_MS) }),
  response: standing.extend({ failureCode: failureCode.nullable() }),
  errors: ["payment_not_found"],
});

/** POST /v1/gateway/payment/{id}/options */
export const listPaymentOptions = defineEndpoint({
  ...write,
  operation: "listPaymentOptions",
  path: "/v1/gateway/payment/{id}/options",
  summary: "Lists the ways in which the given accounts can pay.",
  query: z.object({ includePaymentInfo: flag }),
  /** Grammar of the accounts is the use case's: a malformed one answers 422. */
  body: z.object({
    accounts: z
      .array(z.string())
      .min(1, "must name at least one account")
      .max(100, "must name at most 100 accounts"),
  }),
  bodyLimit: BODY_LIMIT,
  response: z.object({
    options: z.array(
      z.object({
        id: z.string(),
        account: z.string(),
        amount,
        etaS: z.int().min(0),
        expiresAt: z.int().nullable(),
        actions: z.array(action),
        collectData: collectData.nullable(),
      }),
    ),
    info: description.nullable(),
    collectData: collectData.nullable(),
  }),
  errors: ["payment_not_found", "params_validation", "payment_expired", "sanctioned_user"],
});

/** POST /v1/gateway/payment/{id}/fetch */
export const fetchPaymentActions = defineEndpoint({
  ...write,
  operation: "fetchPaymentActions",
  path: "/v1/gateway/payment/{id}/fetch",
  summary: "Resolves a build action, or with empty data all actions of an option.",
  query: null,
  body: z.object({ optionId: text(1, 64), data: z.string() }),
  bodyLimit: BODY_LIMIT,
  response: z.object({ actions: z.array(walletRpcAction) }),
  errors: [
    "payment_not_found",
    "params_validation",
    "invalid_state",
    "quote_expired",
    "payment_expired",
    "sanctioned_user",
  ],
});

/** POST /v1/gateway/payment/{id}/confirm */
export const confirmPayment = defineEndpoint({
  ...write,
  operation: "confirmPayment",
  path: "/v1/gateway/payment/{id}/confirm",
  summary: "Hands in the results of an option's actions, and may wait for what becomes of them.",
  query: z.object({ maxPollMs: maxPollMs(MAX_POLL_MS) }),
  body: z.object({
    optionId: text(1, 64),
    results: z
      .array(z.object({ type: z.literal("walletRpc"), data: z.array(output).max(100) }))
      .max(100),
    collectedData: z.unknown().optional(),
  }),
  bodyLimit: CONFIRM_BODY_LIMIT,
  response: standing,
  errors: [
    "payment_not_found",
    "params_validation",
    "invalid_state",
    "quote_expired",
    "payment_expired",
    "sanctioned_user",
  ],
});
