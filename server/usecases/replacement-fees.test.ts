import fc from "fast-check";
import { expect, test } from "vitest";
import { replacementFees } from "./advance-intents.ts";

const gwei = 1_000_000_000n;
const fees = fc.record({
  maxFee: fc.bigInt({ min: 1n, max: 10_000n * gwei }),
  maxPriorityFee: fc.bigInt({ min: 1n, max: 100n * gwei }),
});

// Guarantee: every node takes a replacement, and none costs more than ten times the market.
test("a replacement is at least 12.5 % up on both fees and never beyond the cap", () => {
  fc.assert(
    fc.property(fees, fees, (last, market) => {
      const next = replacementFees(last, market);
      if (next === null) return;
      expect(next.maxFee * 1000n >= last.maxFee * 1125n).toBe(true);
      expect(next.maxPriorityFee * 1000n >= last.maxPriorityFee * 1125n).toBe(true);
      expect(next.maxFee >= market.maxFee && next.maxFee >= next.maxPriorityFee).toBe(true);
      expect(next.maxFee <= market.maxFee * 10n).toBe(true);
    }),
  );
});

// Guarantee: a chain that stands still for hours does not drive the price of one transaction up without end.
test("bumping again and again stops", () => {
  const market = { maxFee: 3n * gwei, maxPriorityFee: gwei };
  let last = market;
  let bumps = 0;
  for (
    let next = replacementFees(last, market);
    next !== null;
    next = replacementFees(last, market)
  ) {
    last = next;
    if (++bumps > 100) break;
  }
  expect(bumps).toBeGreaterThan(5);
  expect(bumps).toBeLessThan(30);
});
