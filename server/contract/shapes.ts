import { z } from "zod";
import { PAYMENT_STATUSES } from "#server/domain/payment/state.ts";

// C0 and C1 controls; NUL among them, which PostgreSQL cannot store.
// biome-ignore lint/suspicious/noControlCharactersInRegex: controls are what is looked for
const CONTROL = /[\u0000-\u001f\u007f-\u009f]/;

/** Text people wrote: `min` to `max` code points without control characters and unpaired surrogates. */
export const text = (min: number, max: number) =>
  z
    .string()
    .refine((value) => !CONTROL.test(value), "must not contain control characters")
    .refine((value) => value.isWellFormed(), "must be well-formed Unicode")
    .refine(
      (value) => value.length >= min,
      `must have at least ${min} character${min === 1 ? "" : "s"}`,
    )
    .refine(
      (value) => value.length <= max || (value.length <= 2 * max && [...value].length <= max),
      `must have at most ${max} characters`,
    );

/** How to show an amount; fiat has the three required members only. */
export const amountDisplay = z.object({
  assetName: z.string(),
  assetSymbol: z.string(),
  decimals: z.int().min(0),
  iconUrl: z.string().nullish(),
  networkIconUrl: z.string().nullish(),
  networkName: z.string().nullish(),
});

/** An amount in an answer; `value` is in minor units. */
export const amount = z.object({ unit: z.string(), value: z.string(), display: amountDisplay });

/** An amount in a creation request: fiat alone, 1 to 18 digits without sign, point or leading zero. */
export const amountParameter = z.object({
  unit: z.string().regex(/^iso4217\/[A-Z]{3}$/, "must be iso4217/<CODE>, such as iso4217/USD"),
  value: z
    .string()
    .regex(
      /^[1-9][0-9]{0,17}$/,
      "must be a whole number of minor units, 1 to 18 digits without sign, point or leading zero",
    ),
});

export const paymentStatus = z.enum(PAYMENT_STATUSES);

export const failureCode = z.enum([
  "declined_user",
  "internal_error",
  "authorization_expired",
  "broadcast_failed",
]);

/** What paid: there once a payment succeeded. */
export const paymentInformation = z.object({ txId: z.string(), optionAmount: amount });

/** One call a wallet makes; `params` is the JSON array of the call itself. */
export const walletRpcAction = z.object({
  type: z.literal("walletRpc"),
  data: z.object({ chain_id: z.string(), method: z.string(), params: z.array(z.unknown()) }),
});

/** Resolved by fetch, which is sent the opaque string. */
export const buildAction = z.object({
  type: z.literal("build"),
  data: z.object({ data: z.string() }),
});

export const action = z.discriminatedUnion("type", [walletRpcAction, buildAction]);

/** Data a buyer must give: a page for a web view, a JSON Schema for a wallet's own form. */
export const collectData = z.object({
  url: z.string(),
  schema: z.record(z.string(), z.unknown()),
  fields: z.array(
    z.object({ type: z.string(), id: z.string(), name: z.string(), required: z.boolean() }),
  ),
});

/** Where a payment stands; `pollInMs` is null once it is final. */
export const standing = z.object({
  status: paymentStatus,
  isFinal: z.boolean(),
  pollInMs: z.int().nullable(),
  info: paymentInformation.nullable(),
});

/** `maxPollMs`: how long the answer may be held; larger values than the cap are taken for the cap. */
export const maxPollMs = (capMs: number) =>
  z
    .string()
    .regex(/^[0-9]{1,100}$/, "must be an integer of milliseconds, 0 or more")
    .transform((value) => Math.min(Number(value), capMs))
    .optional();

/** A query switch: exactly `true` or `false`. */
export const flag = z
  .enum(["true", "false"], "must be true or false")
  .transform((value) => value === "true")
  .optional();
