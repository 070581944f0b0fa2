import { z } from "zod";
import { BODY_LIMIT, defineEndpoint } from "./endpoint.ts";
import { text } from "./shapes.ts";

const partner = { auth: "partner", missingKey: "missing_api_key", cors: false } as const;
const read = {
  ...partner,
  method: "GET",
  body: null,
  bodyLimit: 0,
  status: 200,
  idempotent: false,
} as const;

/** Characters a URL may hold as they are; quotes, brackets and spaces would have to be escaped. */
const PLAIN_URL = /^https:\/\/[\w\-.~:/?#@!$&'()*+,;=%[\]]+$/;

function isIconUrl(value: string): boolean {
  const url = PLAIN_URL.test(value) ? URL.parse(value) : null;
  return url !== null && url.hostname !== "" && url.username === "" && url.password === "";
}

const iconUrl = z
  .string()
  .max(2048, "must have at most 2048 characters")
  .refine(isIconUrl, "must be an https URL without user name and password");

const COLLECT_WHEN = ["never", "above", "always"] as const;
const MAX_CENTS = 2_000_000_000;

/** When buyers must give personal data; `above` needs the amount from which on. */
const collectDataParameter = z
  .object({
    when: z.enum(COLLECT_WHEN),
    aboveCents: z.int().min(1, "must be 1 or more").max(MAX_CENTS, "is too large").nullish(),
  })
  .refine(({ when, aboveCents }) => when !== "above" || aboveCents != null, {
    path: ["aboveCents"],
    message: "is needed when data is collected above an amount",
  });

const settings = {
  merchantName: text(1, 256).refine((name) => name.trim() !== "", "must not be blank"),
  merchantEmail: z.email("must be an e-mail address").max(254, "must have at most 254 characters"),
  iconUrl: iconUrl.nullable(),
  flow: z.enum(["intermediary", "direct"]),
  settlementSchedule: z.enum(["instant", "batched"]),
  collectData: collectDataParameter,
  proveOwnership: z.boolean(),
};

/** A merchant in an answer. `feeBps` and `feeFixedCents` are the operator's and cannot be set here. */
const merchant = z.object({
  id: z.string(),
  name: z.string(),
  email: z.string().nullable(),
  status: z.enum(["active", "inactive", "suspended"]),
  createdAt: z.string(),
  iconUrl: z.string().nullable(),
  flow: z.enum(["intermediary", "direct"]),
  settlementSchedule: z.enum(["instant", "batched"]),
  feeBps: z.int(),
  feeFixedCents: z.int(),
  collectData: z.object({ when: z.enum(COLLECT_WHEN), aboveCents: z.int().nullable() }),
  proveOwnership: z.boolean(),
});

/** A settlement destination: CAIP-19 without prefix, and CAIP-10 on the same chain. */
export const cryptoSettlement = z.object({
  id: z.string(),
  asset: z.string(),
  destination: z.string(),
});

/** Both kinds of destinations; there is no payout to bank accounts, so `fiat` is empty. */
export const settlements = z.object({
  crypto: z.array(cryptoSettlement),
  fiat: z.array(z.object({ id: z.string(), status: z.string(), bankType: z.string() })),
});

/** POST /v1/merchants */
export const createMerchant = defineEndpoint({
  ...partner,
  operation: "createMerchant",
  method: "POST",
  path: "/v1/merchants",
  summary: "Creates a merchant; it takes payments as soon as it has a settlement destination.",
  query: null,
  body: z.object({
    merchantName: settings.merchantName,
    merchantEmail: settings.merchantEmail,
    iconUrl: settings.iconUrl.optional(),
    flow: settings.flow.optional(),
    settlementSchedule: settings.settlementSchedule.optional(),
    collectData: settings.collectData.optional(),
    proveOwnership: settings.proveOwnership.optional(),
  }),
  bodyLimit: BODY_LIMIT,
  response: z.object({ merchant }),
  status: 201,
  errors: ["params_validation", "forbidden"],
  idempotent: true,
});

/** How many rows of a list are asked for: 1 to `max`. */
export const pageSize = (max: number) =>
  z
    .string()
    .regex(/^[0-9]{1,9}$/, `must be a whole number from 1 to ${max}`)
    .transform(Number)
    .refine((size) => size >= 1 && size <= max, `must be a whole number from 1 to ${max}`)
    .optional();

/** The `nextCursor` of the page before. */
export const cursor = z.string().min(1).max(512).optional();

/** GET /v1/merchants */
export const listMerchants = defineEndpoint({
  ...read,
  operation: "listMerchants",
  path: "/v1/merchants",
  summary: "Lists the partner's merchants, newest first.",
  query: z.object({
    status: z.enum(["active", "inactive", "suspended"]).optional(),
    search: text(1, 256).optional(),
    cursor,
    limit: pageSize(100),
  }),
  response: z.object({
    merchants: z.array(merchant),
    totalCount: z.int(),
    nextCursor: z.string().nullable(),
  }),
  errors: [],
});

/** GET /v1/merchants/{merchantId} */
export const getMerchant = defineEndpoint({
  ...read,
  operation: "getMerchant",
  path: "/v1/merchants/{merchantId}",
  summary: "Returns a merchant with its settlement destinations.",
  query: null,
  response: z.object({ merchant: merchant.extend({ settlements }) }),
  errors: ["merchant_not_found"],
});

/** PATCH /v1/merchants/{merchantId} */
export const updateMerchant = defineEndpoint({
  ...partner,
  operation: "updateMerchant",
  method: "PATCH",
  path: "/v1/merchants/{merchantId}",
  summary:
    "Changes what is given of a merchant; payments that exist keep the terms they were made with.",
  query: null,
  body: z
    .object({
      merchantName: settings.merchantName.optional(),
      merchantEmail: settings.merchantEmail.optional(),
      iconUrl: settings.iconUrl.optional(),
      flow: settings.flow.optional(),
      settlementSchedule: settings.settlementSchedule.optional(),
      collectData: settings.collectData.optional(),
      proveOwnership: settings.proveOwnership.optional(),
    })
    .refine(
      (body) => Object.values(body).some((value) => value !== undefined),
      "must change at least one member",
    ),
  bodyLimit: BODY_LIMIT,
  response: z.object({ merchant }),
  status: 200,
  errors: ["merchant_not_found", "params_validation"],
  idempotent: false,
});

/** DELETE /v1/merchants/{merchantId} */
export const deleteMerchant = defineEndpoint({
  ...partner,
  operation: "deleteMerchant",
  method: "DELETE",
  path: "/v1/merchants/{merchantId}",
  summary:
    "Deletes a merchant: it takes no new payments, those it has are finished and stay in the partner's lists.",
  query: null,
  body: null,
  bodyLimit: 0,
  response: z.object({ id: z.string(), deleted: z.literal(true) }),
  status: 200,
  errors: ["merchant_not_found"],
  idempotent: false,
});
