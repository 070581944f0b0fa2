import type { ChainConfig, Env } from "#server/platform/env.ts";
import type { Log } from "#server/platform/log.ts";
import { type ChainPort, ChainUnavailable } from "#server/ports/chain.ts";
import type { PriceSource } from "#server/ports/prices.ts";
import type { Screening } from "#server/ports/screening.ts";
import { checkChain, type ForeignFeed } from "./evm/boot-check.ts";
import { createEvmChain, type EvmChain } from "./evm/chain.ts";
import { createPriceSource } from "./evm/price-feeds.ts";
import { createRpc, type Rpc } from "./evm/rpc.ts";
import { createScreening } from "./evm/sanctions.ts";
import { foreignFeeds, missingPrices } from "./missing-prices.ts";
import { createSolanaChain } from "./solana/chain.ts";
import { solanaPrices } from "./solana/prices.ts";
import { createRpc as createSolanaRpc } from "./solana/rpc.ts";
import { verifySolana } from "./solana/verify.ts";

/** The configured chains, and what is read from them besides payments. */
export type Chains = {
  chains: Map<string, ChainPort>;
  prices: PriceSource;
  screening: Screening;
  /** Compares every chain with its registry entry and puts what agrees into use; returns what does not. Silent chains are asked again. */
  verify(): Promise<string[]>;
};

/** Pause before chains that did not answer are compared again. */
const VERIFY_AGAIN_MS = 3_000;

type Evm = { config: ChainConfig; rpc: Rpc; chain: EvmChain };

/** A chain of any family, and how it is compared with its registry entry. */
type Configured = {
  chain: ChainPort;
  /** Puts what agrees into use; returns what does not agree. Throws `ChainUnavailable` when no node answers. */
  verify(): Promise<string[]>;
  /** What may be looked up once the chain answers; without it everything works, but later. */
  prepare(): Promise<void>;
};

/** Puts the tokens that agree with the chain into use; returns what does not agree. */
async function verifyEvm({ config, rpc, chain }: Evm, foreign: ForeignFeed[]): Promise<string[]> {
  const { entry } = config;
  const { relayers, spender, intermediary } = chain.facts;
  const signers = [...relayers, ...(spender === null ? [] : [spender]), intermediary];
  const { fatal, refused, unpriced } = await checkChain(rpc, config, signers, foreign);
  const left = new Set(refused.map(({ asset }) => asset));
  const { registered } = chain.facts;
  const usable = fatal.length === 0 ? registered.filter(({ asset }) => !left.has(asset)) : [];
  chain.facts.tokens.splice(0, chain.facts.tokens.length, ...usable);
  return [
    ...fatal.map((reason) => `nothing is offered on ${entry.name} (${entry.caip2}): ${reason}`),
    ...refused.map(({ symbol, reason }) => `${symbol} on ${entry.name} is not offered: ${reason}`),
    ...unpriced.map(({ name, reason }) => `${name} has no price now: ${reason}`),
  ];
}

function solanaChains(env: Pick<Env, "solana">, log: Log): Configured[] {
  return env.solana.map((config) => {
    const genesis = config.entry.caip2.slice("solana:".length);
    const chain = createSolanaChain(config, createSolanaRpc(config.rpcUrls, genesis), log);
    return {
      chain,
      verify: () => verifySolana(config, chain),
      prepare: async () => undefined,
    };
  });
}

/**
 * Builds every configured chain. Nothing is asked of a node, and no token offered, before `verify`. A chain that must not be
 * offered stays in the map: money that is on its way there is still watched and settled.
 */
export function createChains(
  env: Pick<Env, "chains" | "solana" | "registry" | "FLORIN_INTERMEDIARY_KEY_EVM">,
  log: Log,
): Chains {
  const evm = env.chains.map((config): Evm => {
    const rpc = createRpc(config.rpcUrls, BigInt(config.entry.caip2.slice("eip155:".length)));
    const chain = createEvmChain(config, rpc, env.FLORIN_INTERMEDIARY_KEY_EVM, log);
    return { config, rpc, chain };
  });
  const rpcs = new Map(evm.map(({ config, rpc }) => [config.entry.caip2, rpc]));
  const configured: Configured[] = [
    ...evm.map((one) => ({
      chain: one.chain,
      verify: () => verifyEvm(one, foreignFeeds(env, one.config.entry.caip2)),
      prepare: () => one.chain.prepare(),
    })),
    ...solanaChains(env, log),
  ];
  const chains = new Map(configured.map(({ chain }) => [chain.facts.chain, chain]));
  let unverified = configured;
  const verify = async (): Promise<string[]> => {
    const asked = unverified;
    const silent = new Set<Configured>();
    const found = await Promise.all(
      asked.map(async (one) => {
        const { chain: caip2, name } = one.chain.facts;
        try {
          const problems = await one.verify();
          one.prepare().catch((error) => {
            log.warn({ chain: caip2, err: error }, "allowance storage is looked for again later");
          });
          return problems;
        } catch (error) {
          if (!(error instanceof ChainUnavailable)) throw error;
          silent.add(one);
          return [`nothing is offered on ${name} (${caip2}) until it answers: ${error.message}`];
        }
      }),
    );
    unverified = asked.filter((one) => silent.has(one));
    return found.flat();
  };
  const verifyAgain = (told: string[]) => {
    if (unverified.length === 0) return;
    setTimeout(() => {
      verify()
        .then((found) => {
          for (const one of found) if (!told.includes(one)) log.warn(one);
          verifyAgain(found);
        })
        .catch((error) => {
          log.error({ err: error }, "chains were not verified");
          verifyAgain(told);
        });
    }, VERIFY_AGAIN_MS).unref();
  };
  return {
    chains,
    prices: createPriceSource(env.registry, rpcs, log, solanaPrices(env.registry)),
    screening: createScreening(env.registry, rpcs, log),
    async verify() {
      const found = await verify();
      verifyAgain(found);
      return [...missingPrices(env), ...found];
    },
  };
}
