import { getAddress } from "viem";
import { expect, test } from "vitest";
import { type ChainEntry, registrySchema } from "./registry.ts";
import { SHIPPED_REGISTRY } from "./registry-shipped.ts";

const { chains, currencies } = SHIPPED_REGISTRY;
const byId = (id: number): ChainEntry => {
  const found = chains.find(({ caip2 }) => caip2 === `eip155:${id}`);
  if (found === undefined) throw new Error(`no chain ${id}`);
  return found;
};

const addresses = [
  ...chains.flatMap((chain) => [
    chain.permit2,
    chain.sanctionsOracle,
    chain.native.feed?.address ?? null,
    ...chain.tokens.flatMap(({ address, feed }) => [address, feed?.address ?? null]),
  ]),
  ...Object.values(currencies).map((source) => ("feed" in source ? source.feed.address : null)),
].filter((address) => address !== null);

// Guarantee: what is shipped passes the same checks as an operator's own file.
test("the shipped registry is a registry", () => {
  expect(registrySchema.parse(SHIPPED_REGISTRY)).toEqual(SHIPPED_REGISTRY);
});

// Guarantee: a mistyped address is caught by its checksum before anybody pays to it.
test.for(addresses.map((address) => [address] as const))("%s carries its checksum", ([address]) => {
  expect(getAddress(address)).toBe(address);
});

// Guarantee: one asset has one entry, so it has one price, one domain and one policy.
test("no asset is listed twice", () => {
  const assets = chains.flatMap(({ caip2, tokens }) =>
    tokens.map(({ address }) => `${caip2}/erc20:${address.toLowerCase()}`),
  );
  expect(new Set(assets).size).toBe(assets.length);
  expect(new Set(chains.map(({ caip2 }) => caip2)).size).toBe(chains.length);
});

// Guarantee: the networks and tokens are those of public wallets, with the decimals of their contracts.
test.for([
  [1, ["USDC:6", "USDT:6", "EURC:6", "PYUSD:6"]],
  [10, ["USDC:6"]],
  [56, ["USDC:18", "USDT:18"]],
  [137, ["USDC:6", "USDT:6"]],
  [8453, ["USDC:6", "EURC:6"]],
  [42161, ["USDC:6", "USDT:6", "PYUSD:6"]],
  [42220, ["USDC:6"]],
  [143, ["USDC:6"]],
] as const)("chain %s has its tokens", ([id, tokens]) => {
  expect(byId(id).tokens.map(({ symbol, decimals }) => `${symbol}:${decimals}`)).toEqual(tokens);
});

// Guarantee: tokens without EIP-3009 are exactly these; they are paid through Permit2.
test("Permit2 tokens", () => {
  const found = chains.flatMap(({ caip2, tokens }) =>
    tokens.filter(({ eip3009 }) => eip3009 === null).map(({ symbol }) => `${caip2} ${symbol}`),
  );
  expect(found).toEqual(["eip155:1 USDT", "eip155:56 USDC", "eip155:56 USDT", "eip155:137 USDT"]);
});

// Guarantee: larger sums wait for deeper evidence, and the largest for finality, on every chain.
test.for(chains.map(({ name, depth }) => [name, depth] as const))(
  "%s ends at finality",
  ([, depth]) => {
    expect(depth.at(-1)).toEqual({ belowUsd: null, depth: { tag: "finalized" } });
    const bounds = depth.slice(0, -1).map(({ belowUsd }) => belowUsd ?? 0);
    expect(bounds).toEqual(bounds.toSorted((a, b) => a - b));
  },
);

// Guarantee: currency feeds are on a chain that is in the registry.
test("currencies name known chains", () => {
  for (const source of Object.values(currencies))
    if ("chain" in source) expect(chains.map(({ caip2 }) => caip2)).toContain(source.chain);
});
