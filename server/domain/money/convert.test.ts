import fc from "fast-check";
import { expect, test } from "vitest";
import { splitFee, tokenAmountDue, usdMicros, withinBand } from "./convert.ts";

const price = fc.bigInt({ min: 1n, max: 10n ** 13n });

// Guarantee: the merchant is never paid less than what was due, and the payer never a whole unit more.
test("an amount due is the smallest one that covers the debt", () => {
  fc.assert(
    fc.property(
      fc.bigInt({ min: 1n, max: 10n ** 17n }),
      fc.constantFrom(0, 2, 3),
      price,
      fc.constantFrom(0, 6, 8, 18),
      price,
      (fiat, digits, fiatPrice, decimals, tokenPrice) => {
        const due = tokenAmountDue(fiat, digits, fiatPrice, decimals, tokenPrice);
        const debt = fiat * fiatPrice * 10n ** BigInt(decimals);
        const unit = 10n ** BigInt(digits) * tokenPrice;
        expect(due * unit >= debt).toBe(true);
        expect((due - 1n) * unit < debt).toBe(true);
      },
    ),
  );
});

// Guarantee: 10.00 USD is 10 whole 6-decimal tokens at par.
test("par conversions are exact", () => {
  expect(tokenAmountDue(1000n, 2, 100_000_000n, 6, 100_000_000n)).toBe(10_000_000n);
  expect(tokenAmountDue(1000n, 0, 665_000n, 6, 100_000_000n)).toBe(6_650_000n);
  expect(usdMicros(1999n, 2, 100_000_000n)).toBe(19_990_000n);
});

// Guarantee: net and fee always add up to what arrived, and neither is negative.
test("a fee never invents or loses a unit", () => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 30n });
  fc.assert(
    fc.property(
      amount,
      fc.integer({ min: 0, max: 10_000 }),
      amount,
      amount,
      (received, bps, fixed, due) => {
        const { net, fee } = splitFee(received, bps, fixed, due);
        expect(net + fee).toBe(received);
        expect(net >= 0n && fee >= 0n).toBe(true);
      },
    ),
  );
  expect(splitFee(10_000_000n, 40, 14n, 1000n)).toEqual({ net: 9_820_000n, fee: 180_000n });
});

// Guarantee: the edge of the band is inside it.
test("the depeg band includes its edge", () => {
  expect(withinBand(101_000_000n, 100_000_000n, 100)).toBe(true);
  expect(withinBand(101_000_001n, 100_000_000n, 100)).toBe(false);
  expect(withinBand(99_000_000n, 100_000_000n, 100)).toBe(true);
  expect(withinBand(98_999_999n, 100_000_000n, 100)).toBe(false);
});
