import { expect, test } from "vitest";
import { formatAmount, formatDigits, formatPrice } from "./money.tsx";

// Guarantee: no digit of an amount is lost or rounded away, however many there are.
test("amounts are exact", () => {
  expect(formatDigits("en", "123456789012.123456789012345678", 18)).toBe(
    "123,456,789,012.123456789012345678",
  );
  expect(formatDigits("de", "1234.500000", 6)).toBe("1.234,50");
  expect(formatDigits("en", "0.000001", 6)).toBe("0.000001");
  expect(formatDigits("en", "5", 0)).toBe("5");
});

// Guarantee: prices are written as the language writes them, with as many digits as the currency has.
test("prices", () => {
  const price = (display: string, decimals: number, currency: string) => ({
    display,
    decimals,
    currency,
  });
  expect(formatPrice("en", price("24.80", 2, "USD"))).toBe("$24.80");
  expect(formatPrice("de", price("24.80", 2, "EUR"))).toBe("24,80\u00a0€");
  expect(formatPrice("en", price("2500", 0, "JPY"))).toBe("¥2,500");
  expect(formatPrice("en", price("1.5", 2, "not a code"))).toBe("1.50\u00a0not a code");
});

// Guarantee: inside a text from right to left, number and symbol stay in the order wallets show them in.
test("amounts in Arabic", () => {
  const amount = { value: "24800000", decimals: 6, display: "24.8", symbol: "USDC" };
  expect(formatAmount("ar", amount)).toBe("\u206624.80\u00a0USDC\u2069");
});
