import type { Registry } from "#server/platform/registry.ts";
import type { Deployment, FeedName } from "./deploy.ts";
import { type SolanaWorld, solanaEntry } from "./solana-world.ts";

const HEARTBEAT_S = 3_600;
const SLIP44 = 60;
const CURRENCIES = ["EUR", "GBP", "JPY", "KWD"] as const;

/** The asset of a sandbox chain's native coin. */
export const nativeAsset = (caip2: string): string => `${caip2}/slip44:${SLIP44}`;

/** The registry of a sandbox world: what is deployed on its chains, in the words a live server reads. */
export function worldRegistry(
  chains: { deployment: Deployment; name: string }[],
  solana: { world: SolanaWorld; slotMs: number } | null = null,
): Registry {
  const feedOf = (deployment: Deployment, name: FeedName) => ({
    address: deployment.feeds[name],
    heartbeatS: HEARTBEAT_S,
  });
  const first = chains[0]?.deployment;
  if (first === undefined) throw new Error("a world needs a chain");
  const currency = (name: FeedName) => ({
    chain: `eip155:${first.chainId}`,
    feed: feedOf(first, name),
  });
  return {
    chains: chains.map(({ deployment, name }) => ({
      caip2: `eip155:${deployment.chainId}`,
      name,
      environment: "test" as const,
      native: {
        symbol: "ETH",
        name: "Ether",
        decimals: 18,
        feed: feedOf(deployment, "ETH / USD"),
        slip44: SLIP44,
        accepted: true,
      },
      iconUrl: null,
      explorerUrl: null,
      blockTimeMs: 1_000,
      pollMs: 100,
      stuckAfterS: 8,
      maxLogRange: 500,
      depth: [
        { belowUsd: 20, depth: { confirmations: 1 } },
        { belowUsd: 1_000, depth: { tag: "safe" as const } },
        { belowUsd: null, depth: { tag: "finalized" as const } },
      ],
      tagBlocks: { safe: 1, finalized: 2 },
      permit2: deployment.permit2,
      permit2CodeHash: null,
      sanctionsOracle: deployment.sanctions,
      tokens: [
        {
          symbol: "USDC",
          name: "USD Coin",
          address: deployment.usdc,
          decimals: 6,
          peg: "USD",
          depegBps: 100,
          feed: feedOf(deployment, "USDC / USD"),
          eip3009: { name: "USD Coin", version: "2", signatures: "bytes" as const },
          approveZeroFirst: false,
          iconUrl: null,
        },
        {
          symbol: "USDT",
          name: "Tether USD",
          address: deployment.usdt,
          decimals: 6,
          peg: "USD",
          depegBps: 100,
          feed: feedOf(deployment, "USDT / USD"),
          eip3009: null,
          approveZeroFirst: true,
          iconUrl: null,
        },
      ],
    })),
    solana:
      solana === null ? [] : [solanaEntry(solana.world, solana.slotMs, currency("USDC / USD"))],
    currencies: Object.fromEntries(
      CURRENCIES.map((code) => [code, currency(`${code} / USD`)] as const),
    ),
  };
}
