import { expect, test } from "vitest";
import { SHIPPED_REGISTRY } from "#server/platform/registry-shipped.ts";
import { foreignFeeds, missingPrices } from "./missing-prices.ts";

/** The shipped registry with these chains on, and Solana where it is asked for. */
function withChains(ids: number[], solana: boolean) {
  const { chains, solana: clusters } = SHIPPED_REGISTRY;
  const access = { rpcUrls: [], relayerKeys: [] };
  return {
    registry: SHIPPED_REGISTRY,
    chains: chains
      .filter(({ caip2 }) => ids.some((id) => caip2 === `eip155:${id}`))
      .map((entry) => ({ ...access, entry, permit2SpenderKey: null, faucetKey: null })),
    solana: (solana ? clusters : []).map((entry) => ({ ...access, entry, intermediaryKey: "" })),
  };
}

const OFF = "the price comes from eip155:1, which is off: set FLORIN_RPC_1";

// Guarantee: what can never be offered, because its price comes from a chain that is off or from nowhere, is named at the start.
test("prices of a server without Ethereum", () => {
  expect(missingPrices(withChains([8453, 143], true))).toEqual([
    `payments in EUR, GBP, JPY, CHF, CAD, AUD, NZD, SGD are refused: ${OFF}`,
    `EURC on Base is not offered: it counts in EUR: ${OFF}`,
    "USDC on Monad is not offered: the registry has no price",
    `USDC on Solana is not offered: ${OFF}`,
    `USDT on Solana is not offered: ${OFF}`,
    `EURC on Solana is not offered: ${OFF}`,
  ]);
});

// Guarantee: nothing is said where nothing is missing.
test("prices of a server with Ethereum", () => {
  expect(missingPrices(withChains([1, 8453], true))).toEqual([]);
});

// Guarantee: a chain's node is asked for the feeds that currencies and other chains take from it, and a chain that is off needs none.
test("feeds for something elsewhere", () => {
  const names = (solana: boolean, chain: string) =>
    foreignFeeds(withChains([1], solana), chain).map(({ name }) => name);
  const currencies = Object.keys(SHIPPED_REGISTRY.currencies);
  expect(names(false, "eip155:1")).toEqual(currencies);
  expect(names(true, "eip155:1")).toEqual([
    ...currencies,
    "USDC on Solana",
    "USDT on Solana",
    "EURC on Solana",
  ]);
  expect(names(true, "eip155:8453")).toEqual([]);
});
