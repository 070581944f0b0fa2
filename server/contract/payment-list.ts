import { z } from "zod";
import { isChainId } from "#server/domain/asset/caip.ts";
import { defineEndpoint } from "./endpoint.ts";
import { cursor, pageSize } from "./merchants.ts";
import { amount, paymentStatus, text } from "./shapes.ts";

/** A query parameter that may be given up to `max` times. */
const repeatable = <T extends z.ZodType>(item: T, max: number) =>
  z.array(item).max(max, `must be given at most ${max} times`).optional();

/** A time in microseconds since 1970, which is as exact as it is stored. */
function toMicros(time: string): string {
  const fraction = /\.(\d+)/.exec(time)?.[1] ?? "";
  const micros = BigInt(fraction.slice(3, 6).padEnd(3, "0"));
  return (BigInt(Date.parse(time)) * 1000n + micros).toString();
}

const timestamp = z
  .string()
  // A plus sign that was not percent-encoded arrives as a space.
  .transform((value) => value.replace(/ (?=\d\d:\d\d$)/, "+"))
  .pipe(z.iso.datetime({ offset: true, error: "must be an RFC 3339 time with its zone" }))
  .transform(toMicros)
  .optional();

const network = z
  .string()
  .max(1024)
  .transform((value) => value.split(","))
  .refine(
    (chains) => chains.length <= 20 && chains.every(isChainId),
    "must be 1 to 20 CAIP-2 chain ids with commas between them",
  )
  .optional();

const filters = {
  startTs: timestamp,
  endTs: timestamp,
  status: repeatable(paymentStatus, 6),
  network,
  token_symbol: repeatable(text(1, 32), 20),
  referenceId: text(1, 255).optional(),
  sortBy: z.enum(["date", "amount"]).optional(),
  sortDir: z.enum(["asc", "desc"]).optional(),
  cursor,
  limit: pageSize(200),
};

/** A payment in a list. What is not known (yet) is not there. */
const row = z.object({
  paymentId: z.string(),
  merchant: z.object({ id: z.string(), name: z.string(), iconUrl: z.string().nullable() }),
  merchantId: z.string(),
  referenceId: z.string(),
  status: paymentStatus,
  isTerminal: z.boolean(),
  fiatAmount: amount,
  tokenAmount: amount.optional(),
  buyer: z.object({ accountCaip10: z.string() }).optional(),
  /** `networkId` is the chain's own id: the part of CAIP-2 after the colon. */
  transaction: z.object({ networkId: z.string(), hash: z.string() }).optional(),
  /** `percentage` is per cent: `0.4` means 0.4 %. */
  fees: z.object({ total: amount, fixed: amount, percentage: z.string() }).optional(),
  /** Absent in the direct flow; `amount` and `txHash` are there once the transfer is final. */
  settlement: z
    .object({ settled: z.boolean(), amount: amount.optional(), txHash: z.string().optional() })
    .optional(),
  createdAt: z.string(),
  lastUpdatedAt: z.string(),
  settledAt: z.string().optional(),
});

/** Rows, and sums over everything the filters name, on every page. */
const response = z.object({
  data: z.array(row),
  nextCursor: z.string().nullable(),
  hasMore: z.boolean(),
  stats: z.object({
    /** Succeeded payments only. `amount` is in major units for people, `value` the exact sum in minor units. */
    totalRevenue: z.array(
      z.object({ amount: z.number(), currency: z.string(), value: z.string() }),
    ),
    totalTransactions: z.int(),
    totalCustomers: z.int(),
  }),
});

const list = {
  method: "GET",
  missingKey: "missing_api_key",
  body: null,
  bodyLimit: 0,
  response,
  status: 200,
  errors: [],
  idempotent: false,
  cors: false,
} as const;

/** GET /v1/payments */
export const listPayments = defineEndpoint({
  ...list,
  operation: "listPayments",
  path: "/v1/payments",
  summary: "Lists payments of the partner's merchants, newest first unless sorted otherwise.",
  auth: "partner",
  query: z.object({ ...filters, merchantId: repeatable(text(1, 100), 100) }),
});

/** GET /v1/merchants/payments */
export const listMerchantPayments = defineEndpoint({
  ...list,
  operation: "listMerchantPayments",
  path: "/v1/merchants/payments",
  summary: "Lists one merchant's payments, newest first unless sorted otherwise.",
  auth: "merchant",
  query: z.object(filters),
});
