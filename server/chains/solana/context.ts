import type { Log } from "#server/platform/log.ts";
import type { MintEntry, SolanaEntry } from "#server/platform/registry.ts";
import type { ChainFacts } from "#server/ports/chain.ts";
import type { Key } from "./keys.ts";
import type { Rpc } from "./rpc.ts";

/** What the parts of one cluster share. */
export type Context = {
  /** CAIP-2. */
  chain: string;
  entry: SolanaEntry;
  rpc: Rpc;
  facts: ChainFacts;
  /** Every mint of the registry by asset, also those that are not offered: money in them is still ours to move. */
  mints: Map<string, MintEntry>;
  /** The token program of each mint, once the chain told. */
  programs: Map<string, string>;
  relayers: Map<string, Key>;
  intermediary: Key;
  log: Log;
};

/** The program that keeps a mint. Throws for one that was not compared with the chain yet. */
export function programOf(context: Context, mint: string): string {
  const program = context.programs.get(mint);
  if (program === undefined) throw new Error(`mint ${mint} was not compared with the chain`);
  return program;
}
