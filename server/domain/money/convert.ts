import { divideUp, pow10 } from "./amount.ts";

/** Prices are USD per whole unit, scaled by 10^8 as Chainlink's USD feeds are. */
export const PRICE_SCALE = 8;

/** A price with where it came from, kept with the quote that used it. */
export type Price = {
  /** USD per whole unit, scaled by 10^8; positive. */
  usdE8: bigint;
  /** Feed and round, or the name of a fixed rate. */
  source: string;
  /** Unix seconds the source gives for it. */
  updatedAt: number;
};

/**
 * What a payer owes in token minor units for an amount of fiat, rounded up so that the merchant never gets less.
 * `fiatUsdE8` and `tokenUsdE8` are USD per whole unit, scaled by 10^8.
 */
export function tokenAmountDue(
  fiatMinor: bigint,
  fiatDigits: number,
  fiatUsdE8: bigint,
  tokenDecimals: number,
  tokenUsdE8: bigint,
): bigint {
  return divideUp(fiatMinor * fiatUsdE8 * pow10(tokenDecimals), pow10(fiatDigits) * tokenUsdE8);
}

/** USD value of a fiat amount in micro-dollars, rounded up: the band an amount on a boundary falls into is the higher one. */
export const usdMicros = (fiatMinor: bigint, fiatDigits: number, fiatUsdE8: bigint): bigint =>
  divideUp(fiatMinor * fiatUsdE8 * pow10(6), pow10(fiatDigits) * pow10(PRICE_SCALE));

/** Whether a price lies within `bps` basis points of `target`. */
export function withinBand(usdE8: bigint, target: bigint, bps: number): boolean {
  const distance = usdE8 > target ? usdE8 - target : target - usdE8;
  return distance * 10_000n <= target * BigInt(bps);
}

/** The service's fee on what arrives, part by part, each rounded down; together they never exceed what arrived. */
export function feeParts(
  received: bigint,
  bps: number,
  fixedMinor: bigint,
  dueMinor: bigint,
): { fixed: bigint; percent: bigint; fee: bigint } {
  const percent = (received * BigInt(bps)) / 10_000n;
  const fixed = (received * fixedMinor) / dueMinor;
  const wanted = percent + fixed;
  return { fixed, percent, fee: wanted > received ? received : wanted };
}

/**
 * Splits what arrived into the merchant's net and the service's fee. Net is rounded up, so a remainder is the merchant's.
 * `fixedMinor` is the fixed fee in minor units of the payment's currency, `dueMinor` the payment's amount in the same.
 */
export function splitFee(
  received: bigint,
  bps: number,
  fixedMinor: bigint,
  dueMinor: bigint,
): { net: bigint; fee: bigint } {
  const { fee } = feeParts(received, bps, fixedMinor, dueMinor);
  return { net: received - fee, fee };
}
