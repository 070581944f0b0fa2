import { readFileSync } from "node:fs";
import { type Registry, registrySchema } from "#server/platform/registry.ts";
import { SHIPPED_REGISTRY } from "#server/platform/registry-shipped.ts";
import { readSandbox, type Sandbox } from "../sandbox-file.ts";
import type { Token } from "./chain-view.ts";
import type { SolanaNode } from "./solana-node.ts";

/** A node of a chain and what is registered there. */
export type Node = { urls: string[]; tokens: Token[]; native: string | null; maxLogRange: number };

/** What a run looks at. No key and no other secret is needed. */
export type Settings = {
  databaseUrl: string;
  nodes: Map<string, Node>;
  solana: Map<string, SolanaNode>;
  /** Decimals of the registered tokens, by asset. */
  decimals: Map<string, number>;
  batchS: number;
};

/** Thrown when there is nothing to look at; the message is for people. */
export class Unusable extends Error {}

type Source = Record<string, string | undefined>;

/** What `FLORIN_SETTLEMENT_BATCH_S` is when it is not set. */
const BATCH_S = 3_600;

/** As the server reads it: what is set to nothing is not set. */
function readBatchS(text = ""): number {
  if (text.trim() === "") return BATCH_S;
  const seconds = Number(text);
  if (Number.isInteger(seconds) && seconds > 0) return seconds;
  throw new Unusable("FLORIN_SETTLEMENT_BATCH_S: must be a whole number of seconds");
}

const SANDBOX_LOG_RANGE = 1_000;

const list = (value: string | undefined): string[] =>
  (value ?? "")
    .split(",")
    .map((part) => part.trim())
    .filter((part) => part !== "");

const assetOf = (chain: string, address: string): string =>
  `${chain}/erc20:${address.toLowerCase()}`;

function readRegistry(file: string | undefined): Registry {
  if (file === undefined || file === "") return SHIPPED_REGISTRY;
  const parsed = registrySchema.safeParse(JSON.parse(readFileSync(file, "utf8")));
  if (parsed.success) return parsed.data;
  throw new Unusable(
    `FLORIN_REGISTRY_FILE: ${parsed.error.issues.map((i) => `${i.path.join(".")}: ${i.message}`).join("; ")}`,
  );
}

type Chains = Pick<Settings, "nodes" | "solana" | "decimals">;

const noChains = (): Chains => ({ nodes: new Map(), solana: new Map(), decimals: new Map() });

const LAMPORT_DECIMALS = 9;

/** Chains of the registry whose `FLORIN_RPC_<chain id>` is set, and the decimals of everything registered. */
function chainsOfEnvironment(source: Source): Chains {
  const chains = noChains();
  const registry = readRegistry(source.FLORIN_REGISTRY_FILE);
  for (const { caip2, tokens } of registry.solana) {
    const coin = `${caip2}/slip44:501`;
    chains.decimals.set(coin, LAMPORT_DECIMALS);
    for (const { mint, decimals } of tokens)
      chains.decimals.set(`${caip2}/token:${mint}`, decimals);
    const urls = list(source[`FLORIN_RPC_${caip2.slice("solana:".length)}`]);
    if (urls.length === 0) continue;
    const minted = tokens.map(({ mint }) => ({ asset: `${caip2}/token:${mint}`, mint }));
    chains.solana.set(caip2, { urls, assets: [...minted, { asset: coin, mint: null }] });
  }
  for (const entry of registry.chains) {
    const { caip2, tokens, maxLogRange } = entry;
    const registered = tokens.map(({ address, decimals }) => {
      const asset = assetOf(caip2, address);
      chains.decimals.set(asset, decimals);
      return { asset, address: address.toLowerCase() };
    });
    const { accepted, feed, slip44, decimals } = entry.native;
    const coin = `${caip2}/slip44:${slip44}`;
    chains.decimals.set(coin, decimals);
    const urls = list(source[`FLORIN_RPC_${caip2.slice("eip155:".length)}`]);
    if (urls.length === 0) continue;
    const native = accepted && feed !== null ? coin : null;
    chains.nodes.set(caip2, { urls, tokens: registered, native, maxLogRange });
  }
  return chains;
}

function chainsOfSandbox({ chains: found }: Sandbox): Chains {
  const chains = noChains();
  for (const { caip2, rpcUrl, tokens } of found) {
    if (caip2.startsWith("solana:")) {
      for (const { caip19, decimals } of tokens) chains.decimals.set(caip19, decimals);
      const assets = tokens.map(({ caip19, address }) => ({
        asset: caip19,
        mint: address ?? null,
      }));
      chains.solana.set(caip2, { urls: [rpcUrl], assets });
      continue;
    }
    const coin = tokens.find(({ caip19 }) => caip19.includes("/slip44:"));
    if (coin !== undefined) chains.decimals.set(coin.caip19, coin.decimals);
    const registered = tokens.flatMap(({ address, decimals }) => {
      if (address == null) return [];
      const asset = assetOf(caip2, address);
      chains.decimals.set(asset, decimals);
      return [{ asset, address: address.toLowerCase() }];
    });
    const node = {
      urls: [rpcUrl],
      tokens: registered,
      native: coin?.caip19 ?? null,
      maxLogRange: SANDBOX_LOG_RANGE,
    };
    chains.nodes.set(caip2, node);
  }
  return chains;
}

/**
 * The database and the nodes of the environment, as a server reads them; what is missing there comes from the running sandbox,
 * whose nodes are used with its own database only.
 */
export function readSettings(source: Source): Settings {
  const given = source.DATABASE_URL ?? "";
  const batchS = readBatchS(source.FLORIN_SETTLEMENT_BATCH_S);
  const ofEnvironment = given === "" ? null : chainsOfEnvironment(source);
  if (ofEnvironment !== null && ofEnvironment.nodes.size + ofEnvironment.solana.size > 0)
    return { databaseUrl: given, batchS, ...ofEnvironment };
  const file = readSandbox();
  const sandbox = file.kind === "found" ? file.sandbox : null;
  const databaseUrl = given === "" ? sandbox?.databaseUrl : given;
  if (databaseUrl === undefined)
    throw new Unusable(
      file.kind === "found"
        ? "The sandbox names no database; set DATABASE_URL"
        : `${file.message}; or set DATABASE_URL and FLORIN_RPC_<chain id>`,
    );
  const own = sandbox !== null && sandbox.databaseUrl === databaseUrl;
  return {
    databaseUrl,
    batchS,
    ...(own ? chainsOfSandbox(sandbox) : (ofEnvironment ?? noChains())),
  };
}
