import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chainOf } from "#server/domain/asset/caip.ts";
import type { Surroundings } from "#server/domain/payment/surroundings.ts";
import {
  type ChainEntry,
  type Registry,
  registrySchema,
  type SolanaEntry,
} from "#server/platform/registry.ts";
import { SHIPPED_REGISTRY } from "#server/platform/registry-shipped.ts";
import { Misuse } from "./command.ts";
import { sandboxDirectory } from "./sandbox-file.ts";

type Named = Pick<Surroundings, "token" | "chain">;

const present = (text: string | undefined): text is string => text !== undefined && text !== "";

function readFile(file: string): Registry {
  try {
    return registrySchema.parse(JSON.parse(readFileSync(file, "utf8")));
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new Misuse(`The registry ${file} cannot be read: ${why}`);
  }
}

/** The registry a command names things by: FLORIN_REGISTRY_FILE, the sandbox's where there is no DATABASE_URL, or the shipped one. */
export function readRegistry(source: Record<string, string | undefined>): Registry {
  if (present(source.FLORIN_REGISTRY_FILE)) return readFile(source.FLORIN_REGISTRY_FILE);
  if (present(source.DATABASE_URL)) return SHIPPED_REGISTRY;
  return readFile(join(sandboxDirectory(), "registry.json"));
}

type Token = { symbol: string; decimals: number };
type Network = NonNullable<ReturnType<Surroundings["chain"]>> & {
  coin: Token;
  /** By asset. */
  tokens: Map<string, Token>;
};

const LAMPORT_DECIMALS = 9;

const evmNetwork = ({ caip2, name, pollMs, stuckAfterS, native, tokens }: ChainEntry): Network => ({
  name,
  pollMs,
  stuckAfterS,
  coin: native,
  tokens: new Map(tokens.map((one) => [`${caip2}/erc20:${one.address.toLowerCase()}`, one])),
});

const solanaNetwork = ({ caip2, name, pollMs, native, tokens }: SolanaEntry): Network => ({
  name,
  pollMs,
  // Nothing is replaced there: a transaction lands in time or never.
  stuckAfterS: 0,
  coin: { symbol: native.symbol, decimals: LAMPORT_DECIMALS },
  tokens: new Map(tokens.map((one) => [`${caip2}/token:${one.mint}`, one])),
});

/** What the chains and tokens of a registry are called. */
export function namesOf({ chains, solana }: Registry): Named {
  const networks = new Map([
    ...chains.map((entry) => [entry.caip2, evmNetwork(entry)] as const),
    ...solana.map((entry) => [entry.caip2, solanaNetwork(entry)] as const),
  ]);
  return {
    chain: (caip2) => networks.get(caip2) ?? null,
    token(asset) {
      const chain = chainOf(asset);
      const network = networks.get(chain);
      if (network === undefined) return null;
      const isCoin = asset.startsWith(`${chain}/slip44:`);
      const exact = chain.startsWith("eip155:") ? asset.toLowerCase() : asset;
      const token = isCoin ? network.coin : network.tokens.get(exact);
      if (token === undefined) return null;
      return { symbol: token.symbol, decimals: token.decimals, network: network.name };
    },
  };
}
