import type { ChainConfig, Env } from "#server/platform/env.ts";
import type { Log } from "#server/platform/log.ts";
import { type ChainPort, ChainUnavailable } from "#server/ports/chain.ts";
import type { PriceSource } from "#server/ports/prices.ts";
import type { Screening } from "#server/ports/screening.ts";
import { checkChain } from "./evm/boot-check.ts";
import { createEvmChain } from "./evm/chain.ts";
import { createPriceSource } from "./evm/price-feeds.ts";
import { createRpc, type Rpc } from "./evm/rpc.ts";
import { createScreening } from "./evm/sanctions.ts";

/** The configured chains, and what is read from them besides payments. */
export type Chains = {
  chains: Map<string, ChainPort>;
  prices: PriceSource;
  screening: Screening;
  /** Compares every chain with its registry entry; a chain or token that differs is taken out. Returns what was found. */
  verify(): Promise<string[]>;
};

async function verifyOne(
  rpc: Rpc,
  config: ChainConfig,
  chain: ChainPort,
): Promise<{ fatal: boolean; found: string[] }> {
  const { entry } = config;
  const { relayers, spender, intermediary } = chain.facts;
  const signers = [...relayers, ...(spender === null ? [] : [spender]), intermediary];
  const { fatal, refused } = await checkChain(rpc, config, signers);
  for (const { address } of refused) {
    const asset = `${entry.caip2}/erc20:${address.toLowerCase()}`;
    const index = chain.facts.tokens.findIndex((token) => token.asset === asset);
    if (index >= 0) chain.facts.tokens.splice(index, 1);
  }
  return {
    fatal: fatal.length > 0,
    found: [
      ...fatal.map((reason) => `${entry.name} (${entry.caip2}) is not used: ${reason}`),
      ...refused.map(({ symbol, reason }) => `${symbol} on ${entry.name} is not used: ${reason}`),
    ],
  };
}

/** Builds every configured chain; nothing is asked of a node before `verify`. */
export function createChains(
  env: Pick<Env, "chains" | "registry" | "FLORIN_INTERMEDIARY_KEY_EVM">,
  log: Log,
): Chains {
  const rpcs = new Map(env.chains.map(({ entry, rpcUrls }) => [entry.caip2, createRpc(rpcUrls)]));
  const chains = new Map(
    env.chains.map((config) => [
      config.entry.caip2,
      createEvmChain(config, env.FLORIN_INTERMEDIARY_KEY_EVM, log),
    ]),
  );
  return {
    chains,
    prices: createPriceSource(env.registry, rpcs, log),
    screening: createScreening(env.registry, rpcs, log),
    async verify() {
      const all: string[] = [];
      for (const config of env.chains) {
        const { caip2 } = config.entry;
        const rpc = rpcs.get(caip2);
        const chain = chains.get(caip2);
        if (rpc === undefined || chain === undefined) continue;
        try {
          const { fatal, found } = await verifyOne(rpc, config, chain);
          if (fatal) chains.delete(caip2);
          all.push(...found);
        } catch (error) {
          if (!(error instanceof ChainUnavailable)) throw error;
          all.push(
            `${config.entry.name} (${caip2}) does not answer: its options are missing until it does`,
          );
        }
      }
      return all;
    },
  };
}
