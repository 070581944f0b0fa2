import { expect, test } from "vitest";
import { ATTEMPT_DELAYS_S, delayAfter } from "./schedule.ts";

// Guarantee: a receiver that is away for three days, a long weekend, still gets its events.
test("ten attempts over 75 hours", () => {
  expect(ATTEMPT_DELAYS_S).toHaveLength(10);
  const total = ATTEMPT_DELAYS_S.reduce((sum, delay) => sum + delay, 0);
  expect(total).toBeGreaterThanOrEqual(75 * 3600);
  expect(ATTEMPT_DELAYS_S[0]).toBe(0);
  expect(ATTEMPT_DELAYS_S.toSorted((a, b) => a - b)).toEqual(ATTEMPT_DELAYS_S);
  expect([0, 1, 2, 9, 10].map(delayAfter)).toEqual([0, 5, 300, 24 * 3600, null]);
});
