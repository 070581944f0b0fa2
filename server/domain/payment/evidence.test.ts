import { expect, test } from "vitest";
import { type DepthBand, deepEnough, depthFor } from "./evidence.ts";

const BANDS: DepthBand[] = [
  { belowUsd: 20, depth: { confirmations: 1 } },
  { belowUsd: 1000, depth: { tag: "safe" } },
  { belowUsd: null, depth: { tag: "finalized" } },
];

// Guarantee: a boundary belongs to the higher band, and an unknown value to the strictest.
test("bands", () => {
  expect(depthFor(BANDS, 19_999_999n)).toEqual({ confirmations: 1 });
  expect(depthFor(BANDS, 20_000_000n)).toEqual({ tag: "safe" });
  expect(depthFor(BANDS, 999_999_999n)).toEqual({ tag: "safe" });
  expect(depthFor(BANDS, 1_000_000_000n)).toEqual({ tag: "finalized" });
  expect(depthFor(BANDS, null)).toEqual({ tag: "finalized" });
});

// Guarantee: one confirmation is the block that holds the transfer.
test("depth", () => {
  const heads = { latest: 10n, safe: 9n, finalized: 8n };
  expect(deepEnough({ confirmations: 1 }, 10n, heads)).toBe(true);
  expect(deepEnough({ confirmations: 2 }, 10n, heads)).toBe(false);
  expect(deepEnough({ confirmations: 2 }, 9n, heads)).toBe(true);
  expect(deepEnough({ tag: "safe" }, 10n, heads)).toBe(false);
  expect(deepEnough({ tag: "safe" }, 9n, heads)).toBe(true);
  expect(deepEnough({ tag: "finalized" }, 9n, heads)).toBe(false);
  expect(deepEnough({ tag: "finalized" }, 8n, heads)).toBe(true);
});
