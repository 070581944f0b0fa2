import type { Hex } from "viem";
import type { Log } from "#server/platform/log.ts";
import type { ChainEntry, TokenEntry } from "#server/platform/registry.ts";
import { type ChainFacts, ChainUnavailable } from "#server/ports/chain.ts";
import type { AllowanceSlot } from "./allowance-slot.ts";
import type { Rpc } from "./rpc.ts";
import type { Signer } from "./signer.ts";

/** What the parts of one chain share. */
export type Context = {
  /** CAIP-2. */
  chain: string;
  chainId: number;
  rpc: Rpc;
  facts: ChainFacts;
  /** Every token of the registry by asset, also those that are not offered: money in them is still ours to move. */
  tokens: Map<string, TokenEntry>;
  /** Their contracts, lower case. */
  contracts: Set<string>;
  /** The asset of native coin. */
  native: string;
  /** Whether buyers may pay with it, so that its transfers are looked for. */
  acceptsNative: boolean;
  signers: Map<string, Signer>;
  /** Where tokens keep their allowances, by contract, once somebody asked. */
  slots: Map<string, Promise<AllowanceSlot | null>>;
  /** Answers of the last seconds to which keys have gas money. */
  funded: (key: string, ask: () => Promise<string[]>) => Promise<string[]>;
  log: Log;
};

/** The asset of a token contract. */
export const assetOf = (chain: string, contract: string): string =>
  `${chain}/erc20:${contract.toLowerCase()}`;

/** The asset of a chain's native coin. */
export const nativeAssetOf = ({ caip2, native }: Pick<ChainEntry, "caip2" | "native">): string =>
  `${caip2}/slip44:${native.slip44}`;

/** Whether buyers may pay with a chain's native coin: it is accepted, and has a price. */
export const acceptsNative = ({ native }: Pick<ChainEntry, "native">): boolean =>
  native.accepted && native.feed !== null;

/** The token contract of one of our assets. */
export const contractOf = (asset: string): Hex => asset.slice(asset.lastIndexOf(":") + 1) as Hex;

/** Whether an answer is one 32-byte word, as every getter used here returns. */
export const isWord = (value: unknown): value is Hex =>
  typeof value === "string" && /^0x[0-9a-fA-F]{64}$/.test(value);

/** A quantity or a word as a number; an answer that is none is no answer. */
export function toNumber(value: unknown): bigint {
  if (typeof value !== "string" || !/^0x[0-9a-fA-F]{1,64}$/.test(value))
    throw new ChainUnavailable("a node answered something else than a number");
  return BigInt(value);
}
