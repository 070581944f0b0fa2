import { formatMinor, parseMinor, pow10 } from "#server/domain/money/amount.ts";
import { PRICE_SCALE } from "#server/domain/money/convert.ts";
import { type Currency, currencyOfUnit } from "#server/domain/money/currencies.ts";
import {
  DEFAULT_LIFETIME_S,
  MAX_LIFETIME_S,
  MAX_UNIX_SECONDS,
  MIN_LIFETIME_S,
} from "#server/domain/payment/expiry.ts";
import { redirectUrl } from "#server/domain/payment/redirect.ts";
import { AppError } from "#server/platform/app-error.ts";
import { failpoint } from "#server/platform/failpoint.ts";
import { keyReused } from "#server/platform/idempotency-refusals.ts";
import { newId } from "#server/platform/ids.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { IdempotencyClaim, Merchant, NewPayment, StoredAnswer } from "#server/ports/store.ts";

/** What a merchant asks for; shapes are checked at the edge, rules here. */
export type CreatePaymentInput = {
  unit: string;
  value: string;
  referenceId: string;
  successUrl?: unknown;
  errorUrl?: unknown;
  /** Unix seconds; null: the default lifetime. */
  expiresAt: number | null;
  metadata: Record<string, string> | null;
  description: string | null;
};

const refuse = (field: string, message: string): AppError =>
  new AppError("params_validation", `Validation error: ${message}`, {
    issues: [{ path: field, field, message }],
  });

function readAmount(
  services: Services,
  input: CreatePaymentInput,
): { currency: Currency; minor: bigint } {
  const currency = currencyOfUnit(input.unit);
  if (currency === null || !services.prices.hasFiat(currency.code))
    throw refuse("amount.unit", "Currency is not supported: use iso4217/<CODE> of a supported one");
  const minor = parseMinor(input.value);
  if (minor === null)
    throw refuse(
      "amount.value",
      "Amount must be a whole number of minor units, 1 to 18 digits without sign, point or leading zero",
    );
  return { currency, minor };
}

/** Fiat minor units worth `usdCents` at a USD price, rounded up. */
function fromUsdCents(usdCents: bigint, currency: Currency, usdE8: bigint): bigint {
  const numerator = usdCents * pow10(currency.digits) * pow10(PRICE_SCALE);
  const denominator = 100n * usdE8;
  return (numerator + denominator - 1n) / denominator;
}

async function checkSize(
  services: Services,
  currency: Currency,
  minor: bigint,
  merchant: Merchant,
): Promise<{ feeFixedMinor: bigint; collectsData: boolean }> {
  const price = await services.prices.fiat(currency.code);
  if (price === null)
    throw new AppError("internal_error", `No price for ${currency.code} at the moment`, {
      status: 503,
      retryAfterS: 2,
    });
  const { FLORIN_MIN_PAYMENT_CENTS, FLORIN_MAX_PAYMENT_USD } = services.env;
  // The direct flow takes no fee, whatever the merchant's terms are.
  const feeFixedCents = merchant.flow === "direct" ? 0 : merchant.feeFixedCents;
  const smallest = fromUsdCents(
    BigInt(FLORIN_MIN_PAYMENT_CENTS + feeFixedCents),
    currency,
    price.usdE8,
  );
  if (minor < smallest)
    throw refuse("amount.value", `Amount must be at least ${smallest} to cover fees`);
  const largest = fromUsdCents(BigInt(FLORIN_MAX_PAYMENT_USD) * 100n, currency, price.usdE8);
  if (minor > largest)
    throw refuse(
      "amount.value",
      `Amount must be at most ${largest} (${formatMinor(largest, currency.digits)} ${currency.code})`,
    );
  const fixed = BigInt(feeFixedCents);
  const collectFrom = fromUsdCents(BigInt(merchant.collectAboveCents), currency, price.usdE8);
  return {
    feeFixedMinor: fixed === 0n ? 0n : fromUsdCents(fixed, currency, price.usdE8),
    collectsData:
      merchant.collectWhen === "always" ||
      (merchant.collectWhen === "above" && minor >= collectFrom),
  };
}

function readExpiry(services: Services, asked: number | null): number {
  const now = services.clock.now();
  if (asked === null) return now + DEFAULT_LIFETIME_S;
  if (asked > MAX_UNIX_SECONDS)
    throw refuse("expiresAt", "expiresAt is in milliseconds: send Unix time in seconds");
  const shortest = MIN_LIFETIME_S[services.env.FLORIN_MODE];
  if (asked < now + shortest)
    throw refuse("expiresAt", `expiresAt must be at least ${shortest} seconds ahead`);
  if (asked > now + MAX_LIFETIME_S)
    throw refuse("expiresAt", "expiresAt must be at most 7 days ahead");
  return asked;
}

/** The payment a merchant asked for; throws when a rule refuses it. */
async function readPayment(
  services: Services,
  merchantId: string,
  input: CreatePaymentInput,
): Promise<NewPayment> {
  const merchant = await services.store.merchant(merchantId);
  if (merchant === null || merchant.status !== "active")
    throw new AppError("merchant_not_found", "There is no such merchant");
  const { currency, minor } = readAmount(services, input);
  const expiresAt = readExpiry(services, input.expiresAt);
  const { feeFixedMinor, collectsData } = await checkSize(services, currency, minor, merchant);
  const sandbox = services.env.FLORIN_MODE === "sandbox";
  const successUrl = redirectUrl(input.successUrl, sandbox);
  const errorUrl = redirectUrl(input.errorUrl, sandbox);
  const redirects = successUrl !== null && errorUrl !== null;
  return {
    id: newId("payment"),
    merchantId: merchant.id,
    environment: merchant.environment,
    unit: input.unit,
    minor,
    referenceId: input.referenceId,
    successUrl: redirects ? successUrl : null,
    errorUrl: redirects ? errorUrl : null,
    expiresAt,
    flow: merchant.flow,
    settlementSchedule: merchant.settlementSchedule,
    feeBps: merchant.flow === "direct" ? 0 : merchant.feeBps,
    feeFixedMinor,
    destinations: merchant.destinations,
    collectsData,
    provesOwnership: merchant.proveOwnership,
    metadata: input.metadata,
    description: input.description,
  };
}

/** Creates a payment, or answers again what the same idempotency key was answered before. */
export async function createPayment(
  services: Services,
  caller: Caller & { kind: "merchant" },
  input: CreatePaymentInput,
  claim: IdempotencyClaim | null,
  render: (payment: { id: string; status: "requires_action"; expiresAt: number }) => StoredAnswer,
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  const payment = await readPayment(services, caller.merchantId, input);
  const { id, expiresAt } = payment;
  const answer = render({ id, status: "requires_action", expiresAt });
  await failpoint("create.before_commit");
  const outcome = await services.store.createPayment(payment, claim, answer);
  await failpoint("create.after_commit");
  if (outcome.kind === "conflict") throw keyReused();
  return outcome.kind === "replay"
    ? { answer: outcome.answer, replayed: true }
    : { answer, replayed: false };
}
