import { chainOf } from "#server/domain/asset/caip.ts";
import type { AssetAmount, PaymentFacts } from "./facts.ts";
import type { Money } from "./situation.ts";

/** What this server knows of the world beside its database. */
export type Surroundings = {
  /** What an asset is called; null: not in the registry any more. */
  token(asset: string): { symbol: string; decimals: number; network: string } | null;
  /** Null: a chain that is not in the registry any more. */
  chain(caip2: string): { name: string; pollMs: number; stuckAfterS: number } | null;
  /** Most transactions of one key that are on their way at a time. */
  maxInFlight: number;
  /** Mined refusals after which a transfer is not sent again. */
  maxReverts: number;
  /** Mined refusals of an account's transfers within a day after which no more are sent for it. */
  maxPayerReverts: number;
  /** Seconds a batched settlement waits for its batch. */
  batchEveryS: number;
};

/** Seconds without a word from a chain after which that is what there is to say. */
const SILENT_AFTER_S = 15;

/** What people call a chain. */
export const networkName = (chain: string, around: Surroundings): string =>
  around.chain(chain)?.name ?? chain;

/** An amount of a token with its names; of one that is not registered, in minor units. */
export function tokenMoney({ asset, minor }: AssetAmount, around: Surroundings): Money {
  const token = around.token(asset);
  if (token !== null) return { minor, ...token };
  const network = networkName(chainOf(asset), around);
  return { minor, decimals: 0, symbol: `units of ${asset}`, network };
}

/** Since when nothing was heard of a payment's chain, null for never; false while it is heard. */
export function silentSince(
  facts: PaymentFacts,
  chain: string,
  around: Surroundings,
): number | null | false {
  if (facts.chain === null) return null;
  const { heardAt } = facts.chain;
  const pollS = (around.chain(chain)?.pollMs ?? 0) / 1000;
  return facts.now - heardAt > Math.max(SILENT_AFTER_S, 5 * pollS) ? heardAt : false;
}
