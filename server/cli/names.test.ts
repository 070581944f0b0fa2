import { expect, test } from "vitest";
import { SHIPPED_REGISTRY } from "#server/platform/registry-shipped.ts";
import { namesOf } from "./names.ts";

const names = namesOf(SHIPPED_REGISTRY);
const [cluster] = SHIPPED_REGISTRY.solana;
const [chain] = SHIPPED_REGISTRY.chains;

// Guarantee: an operator reads names, whatever family a chain is of.
test("chains and tokens of every family have names", () => {
  const [mint] = cluster?.tokens ?? [];
  const [token] = chain?.tokens ?? [];
  expect(names.chain(cluster?.caip2 ?? "")).toMatchObject({ name: cluster?.name });
  expect(names.token(`${cluster?.caip2}/token:${mint?.mint}`)).toEqual({
    symbol: mint?.symbol,
    decimals: mint?.decimals,
    network: cluster?.name,
  });
  expect(names.token(`${cluster?.caip2}/slip44:501`)).toMatchObject({ symbol: "SOL", decimals: 9 });
  expect(names.token(`${chain?.caip2}/erc20:${token?.address.toLowerCase()}`)).toMatchObject({
    symbol: token?.symbol,
    network: chain?.name,
  });
  expect(names.token(`${chain?.caip2}/slip44:60`)).toMatchObject({ decimals: 18 });
  // Base58 has two cases: another spelling is another account.
  expect(names.token(`${cluster?.caip2}/token:${mint?.mint.toLowerCase()}`)).toBeNull();
  expect(names.chain("eip155:999999999")).toBeNull();
});
