import type { BlockRef, BuiltTx, InboundTransfer } from "./chain.ts";

/** An arrival as it is kept while its block may still vanish. */
export type UnsettledArrival = { id: bigint; txHash: string; blockNumber: bigint };

/** An accepted transaction of which nothing was ever submitted. */
export type UnsentAttempt = { id: string; paymentId: string; lapsesAt: bigint };

/** The part of a transaction that concerns transactions which wallets sign as a whole, and chains read by accounts. */
export type BuiltStoreTx = {
  /** The newest transaction that was made for an option; null: none was. */
  newestServed(optionId: string): Promise<BuiltTx | null>;
  insertServed(optionId: string, built: BuiltTx): Promise<void>;
  /** Moves the cursor of a chain that is read in stretches; false: another reader moved it. */
  moveCursor(chain: string, from: bigint, to: BlockRef): Promise<boolean>;
  /** Marks arrivals whose blocks are not part of the chain any more, as long as it was read up to `upTo`: who read further knows better. */
  orphanMovements(chain: string, upTo: bigint, ids: bigint[]): Promise<void>;
  /** Records one arrival of any block; what is known stays as it is. */
  recordArrivals(chain: string, block: BlockRef, transfers: InboundTransfer[]): Promise<void>;
};

/** Reads and sweeps outside a transaction. */
export type BuiltStore = {
  /** What was made for an option, newest first. */
  servedTxs(optionId: string): Promise<BuiltTx[]>;
  /** Live attempts on a chain that may lapse without anything having been submitted. */
  unsentAttempts(chain: string, limit: number): Promise<UnsentAttempt[]>;
  /** Arrivals in blocks after `from` up to `to` that count, or may be judged to. */
  unsettledArrivals(chain: string, from: bigint, to: bigint): Promise<UnsettledArrival[]>;
};
