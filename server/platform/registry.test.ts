import { expect, test } from "vitest";
import { registrySchema } from "./registry.ts";
import { SHIPPED_REGISTRY } from "./registry-shipped.ts";

type Json = Record<string, unknown>;

/** The shipped registry as an operator's file would have it, with one place of it changed. */
function changed(path: (string | number)[], value: unknown): unknown {
  const registry = JSON.parse(JSON.stringify(SHIPPED_REGISTRY)) as Json;
  let at = registry;
  for (const step of path.slice(0, -1)) at = at[step] as Json;
  at[path.at(-1) ?? ""] = value;
  return registry;
}

const problemsOf = (registry: unknown): string[] => {
  const parsed = registrySchema.safeParse(registry);
  if (parsed.success) return [];
  return parsed.error.issues.map(({ path, message }) => `${path.join(".")}: ${message}`);
};

// Guarantee: an amount of native coin is never a power of ten off: every EVM chain counts its coin in units of 10^-18.
test.for([8, 6, 0, 19, 36])("native coin with %s decimals is refused", (decimals) => {
  expect(problemsOf(changed(["chains", 1, "native", "decimals"], decimals))).toEqual([
    expect.stringMatching(/^chains\.1\.native\.decimals: must be 18/),
  ]);
});

const OTHER = { address: "0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419", heartbeatS: 60 };

// Guarantee: a slip in a member's name is told with its place, instead of the default standing in for what was meant.
test.for([
  [["chain"], /^: .*"chain"/],
  [["chains", 0, "minConfirmations"], /^chains\.0: .*"minConfirmations"/],
  [["chains", 0, "native", "decimal"], /^chains\.0\.native: .*"decimal"/],
  [["chains", 0, "native", "feed", "heartbeat"], /^chains\.0\.native\.feed: .*"heartbeat"/],
  [["chains", 0, "tagBlocks", "final"], /^chains\.0\.tagBlocks: .*"final"/],
  [["chains", 0, "depth", 1, "aboveUsd"], /^chains\.0\.depth\.1: .*"aboveUsd"/],
  [["chains", 0, "depth", 1, "depth", "deep"], /^chains\.0\.depth\.1\.depth: .*"deep"/],
  [["chains", 0, "tokens", 1, "aproveZeroFirst"], /^chains\.0\.tokens\.1: .*"aproveZeroFirst"/],
  [["chains", 0, "tokens", 0, "eip3009", "salt"], /^chains\.0\.tokens\.0\.eip3009: .*"salt"/],
  [["solana", 0, "sanctionsOracle"], /^solana\.0: .*"sanctionsOracle"/],
  [["solana", 0, "native", "decimals"], /^solana\.0\.native: .*"decimals"/],
  [["solana", 0, "tokens", 0, "feed"], /^solana\.0\.tokens\.0: .*"feed"/],
  [["solana", 0, "tokens", 0, "price", "peg"], /^solana\.0\.tokens\.0\.price: .*"peg"/],
  [["currencies", "EUR", "chains"], /^currencies\.EUR: .*"chains"/],
] as [(string | number)[], RegExp][])("unknown: %j", ([path, message]) => {
  expect(problemsOf(changed(path, 1))).toEqual([expect.stringMatching(message)]);
});

// Guarantee: a price is never looked for on a chain that is not there.
test.for([
  [["currencies", "EUR"], "currencies.EUR.chain"],
  [["solana", 0, "tokens", 0, "price"], "solana.0.tokens.0.price.chain"],
  [["solana", 0, "native", "price"], "solana.0.native.price.chain"],
] as [(string | number)[], string][])("a price at %j from nowhere", ([path, place]) => {
  expect(problemsOf(changed(path, { chain: "eip155:5", feed: OTHER }))).toEqual([
    `${place}: the registry has no EVM chain eip155:5`,
  ]);
  expect(problemsOf(changed(path, { chain: "eip155:10", feed: OTHER }))).toEqual([]);
});

const band = (belowUsd: number | null, confirmations: number) => ({
  belowUsd,
  depth: { confirmations },
});

// Guarantee: a price or a depth that is two things at once is neither.
test("one or the other", () => {
  const both = { usdPerUnitE8: "1", chain: "eip155:1", feed: OTHER };
  expect(problemsOf(changed(["currencies", "EUR"], both))).toEqual([
    expect.stringMatching(/^currencies\.EUR: must have either "chain"/),
  ]);
  const deep = { confirmations: 1, tag: "safe" };
  expect(problemsOf(changed(["chains", 0, "depth", 0, "depth"], deep))).toEqual([
    expect.stringMatching(/^chains\.0\.depth\.0\.depth: must have either "confirmations"/),
  ]);
});

// Guarantee: the band that applies to a sum is the one that the file seems to say, and every sum has one.
test.for([
  [[band(1_000, 6), band(100, 2), band(null, 20)], "depth.1.belowUsd: must be more than 1000"],
  [[band(100, 2), band(100, 6), band(null, 20)], "depth.1.belowUsd: must be more than 100"],
  [[band(100, 2), band(1_000, 6)], "depth.1.belowUsd: must be null"],
  [[band(null, 2), band(1_000, 6), band(null, 20)], "depth.0.belowUsd: must not be null"],
  [[band(null, 2), band(null, 20)], "depth.0.belowUsd: must not be null"],
] as [object[], string][])("bands %#", ([bands, message]) => {
  for (const family of ["chains", "solana"]) {
    const problems = problemsOf(changed([family, 0, "depth"], bands));
    expect(problems).toHaveLength(1);
    expect(problems[0]).toContain(`${family}.0.${message}`);
  }
});
