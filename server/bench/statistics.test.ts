import { expect, test } from "vitest";
import { median, quantile, share } from "./statistics.ts";

// Guarantee: a percentile is a value that was measured, by nearest rank, whatever order the values come in.
test("quantiles are nearest ranks", () => {
  const values = [50, 15, 40, 20, 35];
  expect([0.05, 0.3, 0.4, 0.5, 1].map((q) => quantile(values, q))).toEqual([15, 20, 20, 35, 50]);
  expect(quantile([], 0.5)).toBeNaN();
});

// Guarantee: the median of an even number of rounds favours neither of the two in the middle.
test("the median of an even number is the mean of the middle two", () => {
  expect(median([9, 1, 5])).toBe(5);
  expect(median([4, 1, 3, 100])).toBe(3.5);
  expect(median([])).toBeNaN();
});

// Guarantee: a share is counted over all values.
test("share counts", () => {
  expect(share([1, 2, 3, 4], (n) => n > 1)).toBe(0.75);
});
