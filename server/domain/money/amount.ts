/** An amount in minor units together with its unit: `iso4217/<CODE>` or `caip19/<asset>`. */
export type Amount = { unit: string; minor: bigint };

const WIRE_VALUE = /^[1-9][0-9]{0,17}$/;

/** Reads a creation amount from the wire; null: not a plain positive decimal of at most 18 digits. */
export const parseMinor = (value: string): bigint | null =>
  WIRE_VALUE.test(value) ? BigInt(value) : null;

/** `a / b` rounded up; both positive. The remainder falls to whoever receives the result. */
export const divideUp = (a: bigint, b: bigint): bigint => (a + b - 1n) / b;

/** Ten to the power of `exponent`, which is a small non-negative integer. */
export const pow10 = (exponent: number): bigint => 10n ** BigInt(exponent);

/** Digits with a decimal point for people: `formatMinor(1005n, 2)` is `10.05`. Trailing zeros stay. */
export function formatMinor(minor: bigint, decimals: number): string {
  if (decimals === 0) return minor.toString();
  const digits = minor.toString().padStart(decimals + 1, "0");
  return `${digits.slice(0, -decimals)}.${digits.slice(-decimals)}`;
}
