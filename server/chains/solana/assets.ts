import { type Address, address } from "@solana/kit";
import { findAssociatedTokenPda, TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import type { SolanaEntry } from "#server/platform/registry.ts";

/** The number of SOL in CAIP-19. */
const SLIP44 = 501;

export const SYSTEM_PROGRAM = "11111111111111111111111111111111";
export const TOKEN_2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";
export const TOKEN_PROGRAMS: ReadonlySet<string> = new Set([TOKEN_PROGRAM_ADDRESS, TOKEN_2022]);

/** The asset of a mint. */
export const assetOf = (chain: string, mint: string): string => `${chain}/token:${mint}`;

/** The asset of a cluster's native coin. */
export const nativeAssetOf = (chain: string): string => `${chain}/slip44:${SLIP44}`;

export const isNative = (asset: string): boolean => asset.endsWith(`/slip44:${SLIP44}`);

/** The mint of one of our token assets. */
export const mintOf = (asset: string): Address => address(asset.slice(asset.lastIndexOf(":") + 1));

/** Whether buyers may pay with native coin: it is accepted, and has a price. */
export const acceptsNative = ({ native }: Pick<SolanaEntry, "native">): boolean =>
  native.accepted && native.price !== null;

const known = new Map<string, Promise<Address>>();

/** The associated token account of an owner; remembered, because finding it costs a search. */
export function tokenAccountOf(owner: string, mint: string, program: string): Promise<Address> {
  const key = `${owner} ${mint} ${program}`;
  const found = known.get(key);
  if (found !== undefined) return found;
  if (known.size > 10_000) known.clear();
  const made = findAssociatedTokenPda({
    owner: address(owner),
    mint: address(mint),
    tokenProgram: address(program),
  }).then(([account]) => account);
  known.set(key, made);
  made.catch(() => known.delete(key));
  return made;
}
