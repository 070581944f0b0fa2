import { expect, test } from "vitest";
import { ChainUnavailable } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import { WALLET } from "#server/testing/callers.ts";
import { listOptions } from "./list-options.ts";

const ACCOUNT = `0x${"1".repeat(40)}`;

/** Lists what one account can pay with on a chain of which the merchant accepts nothing; returns who was screened. */
async function list(
  verdict: "clear" | "listed" | "unavailable" | "away",
  { environment = "test", chain = "eip155:1" } = {},
): Promise<{ options: number; screened: string[] }> {
  const screened: string[] = [];
  const payment = { id: "pay_1", environment: "test", status: "requires_action", destinations: {} };
  const services = {
    log: { warn: () => undefined },
    clock: { now: () => 1_800_000_000 },
    chains: new Map([["eip155:1", { facts: { environment, tokens: [{ asset: "usdc" }] } }]]),
    screening: {
      screen: async (name: string, address: string) => {
        screened.push(`${name}:${address}`);
        if (verdict === "away") throw new ChainUnavailable("away");
        return verdict;
      },
    },
    store: {
      payment: async () => payment,
      optionsOf: async () => [],
      saveOptions: async () => [],
      pushLock: async () => null,
    },
  } as unknown as Services;
  const input = { accounts: [`${chain}:${ACCOUNT}`], includePaymentInfo: false };
  const { options } = await listOptions(services, WALLET, payment.id, input);
  return { options: options.length, screened };
}

// Guarantee: a listed account refuses the call even where nothing could be paid from it.
test.for(["test", "live"])(
  "a listed account on a chain of which nothing is accepted, %s",
  async (environment) => {
    await expect(list("listed", { environment })).rejects.toMatchObject({
      code: "sanctioned_user",
    });
  },
);

// Guarantee: a chain that cannot tell costs only its own options, and one that is not configured is not asked.
test("screening without an answer where nothing is accepted", async () => {
  for (const verdict of ["clear", "unavailable", "away"] as const)
    expect(await list(verdict)).toEqual({ options: 0, screened: [`eip155:1:${ACCOUNT}`] });
  expect(await list("listed", { chain: "eip155:2" })).toEqual({ options: 0, screened: [] });
});
