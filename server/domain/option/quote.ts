import { type Price, tokenAmountDue, usdMicros, withinBand } from "#server/domain/money/convert.ts";

/** How long an offer at a market price stands. */
export const QUOTE_LIFETIME_S = 300;

/** How far a price may move against the merchant before an accepted quote no longer holds, in basis points. */
export const QUOTE_TOLERANCE_BPS = 100;

/** Extra allowance asked for when the price may move before it is used, in basis points. */
export const PRICED_HEADROOM_BPS = 200;

const PAR = 100_000_000n;

type Pegged = { peg: string | null; depegBps: number; decimals: number };

/** What a payer owes in a token, and whether that figure may change (`priced`). */
export type Quote = {
  amount: bigint;
  usdMicros: bigint;
  priced: boolean;
  /** Prices it rests on, as stored beside the option. */
  prices: { fiatUsdE8: string; tokenUsdE8: string; sources: string[] };
};

/**
 * Quotes a fiat amount in a token. A pegged token counts exactly as its peg while its own price stays in its band; null:
 * outside the band, so the token is not offered. `pegPrice` is the USD price of the peg's currency, null for a floating token.
 */
export function quote(
  due: { minor: bigint; digits: number; code: string },
  fiatPrice: Price,
  token: Pegged,
  tokenPrice: Price,
  pegPrice: Price | null,
): Quote | null {
  if (pegPrice !== null && !withinBand(tokenPrice.usdE8, pegPrice.usdE8, token.depegBps))
    return null;
  const priced = token.peg !== due.code;
  const unit = pegPrice ?? tokenPrice;
  const amount = priced
    ? tokenAmountDue(due.minor, due.digits, fiatPrice.usdE8, token.decimals, unit.usdE8)
    : tokenAmountDue(due.minor, due.digits, PAR, token.decimals, PAR);
  return {
    amount,
    usdMicros: usdMicros(due.minor, due.digits, fiatPrice.usdE8),
    priced,
    prices: {
      fiatUsdE8: fiatPrice.usdE8.toString(),
      tokenUsdE8: unit.usdE8.toString(),
      sources: [
        fiatPrice.source,
        tokenPrice.source,
        ...(pegPrice === null ? [] : [pegPrice.source]),
      ],
    },
  };
}

/** Whether `quoted` is still enough when the same debt would cost `now` today. */
export const stillHolds = (quoted: bigint, now: bigint): boolean =>
  now * 10_000n <= quoted * BigInt(10_000 + QUOTE_TOLERANCE_BPS);
