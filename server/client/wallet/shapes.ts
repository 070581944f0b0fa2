import { z } from "zod";
import { isSafePage } from "./payment-link.ts";

/** Missing and null mean the same; unknown members are dropped everywhere in this file. */
const orNull = <T extends z.ZodType>(shape: T) =>
  shape.nullish().transform((value) => value ?? null);

const amount = z.object({
  unit: z.string(),
  value: z.string().regex(/^[0-9]{1,78}$/),
  display: z.object({
    assetName: z.string(),
    assetSymbol: z.string(),
    decimals: z.int().min(0).max(255),
    iconUrl: orNull(z.string()),
    networkIconUrl: orNull(z.string()),
    networkName: orNull(z.string()),
  }),
});

/** The call's parameters: an array as such, or the JSON text of one. */
const params = z.union([
  z.array(z.unknown()),
  z.string().transform((text, context): unknown[] => {
    try {
      const parsed: unknown = JSON.parse(text);
      if (Array.isArray(parsed)) return parsed;
    } catch (error) {
      context.addIssue(`params is not JSON: ${String(error)}`);
      return z.NEVER;
    }
    context.addIssue("params is not the JSON text of an array");
    return z.NEVER;
  }),
]);

const walletRpc = z
  .object({
    type: z.literal("walletRpc"),
    data: z.object({
      chain_id: z.string().regex(/^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}$/),
      method: z.string().min(1),
      params,
    }),
  })
  .transform(({ data }) => ({
    type: "walletRpc" as const,
    chainId: data.chain_id,
    method: data.method,
    params: data.params,
  }));

const build = z
  .object({ type: z.literal("build"), data: z.object({ data: z.string() }) })
  .transform(({ data }) => ({ type: "build" as const, data: data.data }));

/** A kind of action this client does not know: kept in its place, so that its option is not offered. */
const unsupported = z
  .object({ type: z.string().refine((type) => type !== "walletRpc" && type !== "build") })
  .transform(({ type }) => ({ type: "unsupported" as const, name: type }));

const action = z.union([walletRpc, build, unsupported]);

/** A page that a wallet would show with a bridge into it: nothing but the web. */
const collectData = z.object({ url: z.string().refine(isSafePage), schema: z.unknown() });

const option = z.object({
  id: z.string().min(1),
  account: z.string(),
  amount,
  etaS: orNull(z.number()),
  expiresAt: orNull(z.int()),
  actions: z
    .array(action)
    .nullish()
    .transform((actions) => actions ?? []),
  collectData: orNull(collectData),
});

const status = z.enum([
  "requires_action",
  "processing",
  "succeeded",
  "failed",
  "expired",
  "cancelled",
]);

/** The payment as the buyer sees it: `GET /v1/gateway/payment/{id}` and `info` of the options. */
export const paymentShape = z.object({
  status,
  amount,
  expiresAt: z.int(),
  merchant: orNull(z.object({ name: z.string(), iconUrl: orNull(z.string()) })),
  buyer: orNull(z.object({ accountCaip10: z.string() })),
});

/** The answer of the options call. */
export const optionsShape = z.object({
  options: z
    .array(option)
    .nullish()
    .transform((options) => options ?? []),
  info: orNull(paymentShape),
  collectData: orNull(collectData),
});

/** The answer of the fetch call. */
export const fetchShape = z.object({ actions: z.array(action) });

/** The answers of confirm and of status: where the payment stands. */
export const standingShape = z.object({
  status,
  isFinal: z.boolean(),
  pollInMs: orNull(z.number().min(0)),
  failureCode: orNull(z.string()),
  info: orNull(z.object({ txId: z.string(), optionAmount: amount })),
});

/** The answer of the cancel call. */
export const cancelShape = z.object({ status });

/** An amount in minor units of `unit`, with what is needed to show it. */
export type Amount = z.infer<typeof amount>;
/** A call for the wallet; `params` are always an array here, whatever the wire carried. */
export type WalletRpc = z.infer<typeof walletRpc>;
/** One step of an option: a call, something only fetch resolves, or a kind this client does not know. */
export type Action = z.infer<typeof action>;
/** Data the service asks for; `url` is a page for a web view, `schema` is for a form of the wallet's own. */
export type CollectData = z.infer<typeof collectData>;
/** One way to pay; `expiresAt` is the quote's deadline in Unix seconds, null: it lives as long as the payment. */
export type PaymentOption = z.infer<typeof option>;
/** The six statuses of a payment. */
export type PaymentStatus = z.infer<typeof status>;
/** What is paid, to whom, until when (Unix seconds). */
export type PaymentDetails = z.infer<typeof paymentShape>;
/** Options with the details of the payment (null unless asked for) and the top-level data request. */
export type Options = z.infer<typeof optionsShape>;
/** Where a payment stands; `info` is there once it succeeded, `pollInMs` while it is not final. */
export type Standing = z.infer<typeof standingShape>;
