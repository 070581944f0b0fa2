import type { ShownAmount, ShownMoney } from "#server/contract/checkout.ts";

const NUMBERS = new Map<string, Intl.NumberFormat>();

function numbers(locale: string, decimals: number): Intl.NumberFormat {
  const key = `${locale} ${decimals}`;
  const known = NUMBERS.get(key);
  if (known !== undefined) return known;
  const made = new Intl.NumberFormat(locale, {
    minimumFractionDigits: Math.min(decimals, 2),
    maximumFractionDigits: Math.min(decimals, 18),
  });
  NUMBERS.set(key, made);
  return made;
}

/** Latin digits in every language, as on receipts and in wallets; `ar-EG` and the like would change them. */
const withLatinDigits = (locale: string) =>
  locale.includes("-u-") ? locale : `${locale}-u-nu-latn`;

/** Plain digits (`1234.5`) as `locale` writes them, exact to the last place: no float is involved. */
export function formatDigits(locale: string, display: string, decimals: number): string {
  // A decimal string is formatted exactly; the type of `format` knows numbers and bigints only.
  return numbers(withLatinDigits(locale), decimals).format(display as `${number}`);
}

/** Amounts read from left to right in every language, as in wallets: `24.80 USDC` inside Arabic too. */
const asWritten = (locale: string, text: string): string =>
  locale.startsWith("ar") ? `\u2066${text.replace(/[\u200e\u200f\u061c]/g, "")}\u2069` : text;

/** `25.00 USDC`. */
export const formatAmount = (locale: string, amount: ShownAmount): string =>
  asWritten(
    locale,
    `${formatDigits(locale, amount.display, amount.decimals)}\u00a0${amount.symbol}`,
  );

/** What the shop asks, in its own currency, as the language writes it: `$25.00`, `25,00 €`. */
export function formatPrice(
  locale: string,
  price: { display: string; decimals: number; currency: string },
): string {
  try {
    const written = new Intl.NumberFormat(withLatinDigits(locale), {
      style: "currency",
      currency: price.currency,
      currencyDisplay: "narrowSymbol",
      minimumFractionDigits: price.decimals,
      maximumFractionDigits: price.decimals,
    }).format(price.display as `${number}`);
    return asWritten(locale, written);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return formatAmount(locale, { value: "", symbol: price.currency, ...price });
  }
}

/** The whole of it, token and network together, as `on` (`{amount} on {network}`) words it. */
export function formatMoney(
  locale: string,
  money: ShownMoney,
  on: (parts: { amount: string; network: string }) => string,
): string {
  return on({ amount: formatAmount(locale, money), network: money.network });
}

/**
 * An amount whose digits keep their width while it changes; digits and symbol are never torn apart. It reads in the direction of the
 * page, not in that of its first letter: "24.80 USDC on Base" in Arabic goes from right to left around an amount that does not.
 */
export function Money({ children, className }: { children: string; className?: string }) {
  return <span className={`digits bidi-isolate ${className ?? ""}`}>{children}</span>;
}
