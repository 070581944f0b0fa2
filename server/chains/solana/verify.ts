import type { SolanaConfig } from "#server/platform/env.ts";
import { assetOf } from "./assets.ts";
import { checkCluster } from "./boot-check.ts";
import type { SolanaChain } from "./chain.ts";

/** Puts the tokens that agree with the cluster into use; returns what does not agree. Throws `ChainUnavailable` when no node answers. */
export async function verifySolana(
  { entry }: SolanaConfig,
  { context, facts }: SolanaChain,
): Promise<string[]> {
  const { fatal, refused } = await checkCluster(context);
  const left = new Set(refused.map(({ mint }) => assetOf(entry.caip2, mint)));
  const usable = fatal.length === 0 ? facts.registered.filter(({ asset }) => !left.has(asset)) : [];
  facts.tokens.splice(0, facts.tokens.length, ...usable);
  return [
    ...fatal.map((reason) => `nothing is offered on ${entry.name} (${entry.caip2}): ${reason}`),
    ...refused.map(({ symbol, reason }) => `${symbol} on ${entry.name} is not offered: ${reason}`),
  ];
}
