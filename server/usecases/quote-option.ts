import { currencyOfUnit } from "#server/domain/money/currencies.ts";
import { type Quote, quote } from "#server/domain/option/quote.ts";
import type { ChainFacts } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { Payment } from "#server/ports/store.ts";

/** What a payment costs in a token right now; null: no usable price, so the token is not offered. */
export async function quoteOption(
  services: Services,
  payment: Pick<Payment, "unit" | "minor">,
  token: ChainFacts["tokens"][number],
): Promise<Quote | null> {
  const currency = currencyOfUnit(payment.unit);
  if (currency === null) return null;
  const [fiat, price, peg] = await Promise.all([
    services.prices.fiat(currency.code),
    services.prices.token(token.asset),
    token.peg === null ? null : services.prices.fiat(token.peg),
  ]);
  if (fiat === null || price === null || (token.peg !== null && peg === null)) return null;
  return quote(
    { minor: payment.minor, digits: currency.digits, code: currency.code },
    fiat,
    token,
    price,
    peg,
  );
}
