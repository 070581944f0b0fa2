import type { DepthRule, ExceptionKind, Heads } from "./evidence.ts";
import type { FailureCode, PaymentEventType, PaymentStatus } from "./state.ts";

/** Minor units of an asset (CAIP-19 without prefix). */
export type AssetAmount = { asset: string; minor: bigint };

/** The option a payment is locked to, as far as an explanation needs it. */
export type ChosenOption = AssetAmount & {
  chain: string;
  /** Its actions begin with an approval of the token. */
  approves: boolean;
  /** Unix seconds after which the authorization cannot land. */
  deadline: number;
  depth: DepthRule;
};

/** A key of ours that has too little money for the network fees of a transaction that waits for it; null: none. */
export type GasShort = { signer: string; chain: string } | null;

/** Our own transaction that captures the money; times are Unix seconds. */
export type CaptureIntent = {
  state: "signed" | "broadcast" | "mined" | "final";
  /** Hash that was mined, else the newest stored one; null before one is stored. */
  txId: string | null;
  minedBlock: bigint | null;
  /** When the first and the newest of its transactions were stored. */
  firstTxAt: number | null;
  newestTxAt: number | null;
  /** Earlier transactions of the same key that are not mined. */
  ahead: number;
  gasShort: GasShort;
};

/** What a chain's scan last knew; `heardAt` is Unix seconds. */
export type ChainKnown = Heads & { chain: string; heardAt: number };

/** What is owed to the merchant for a capture. */
export type SettlementFacts = AssetAmount & {
  state: "pending" | "sent" | "final" | "blocked";
  schedule: "instant" | "batched";
  /** Why it is blocked, in words. */
  detail: string | null;
  txId: string | null;
  /** A hold stops its asset, or all; the reason is for operators only, since it can name others. */
  hold: { reason: string | null } | null;
  gasShort: GasShort;
  /** Unix seconds at which the oldest settlement of its batch was made. */
  batchSince: number;
};

export type RefundState = "pending" | "awaiting_merchant" | "succeeded" | "failed";

/** Everything an explanation of one payment rests on, read at one moment. Times are Unix seconds by the database's clock. */
export type PaymentFacts = {
  now: number;
  status: PaymentStatus;
  version: number;
  flow: "intermediary" | "direct";
  unit: string;
  minor: bigint;
  createdAt: number;
  expiresAt: number;
  failureCode: FailureCode | null;
  /** The newest change of status; null while there was none. */
  cause: { type: PaymentEventType; reason: string | null } | null;
  optionsServed: number;
  /** A transfer that was handed to a wallet to send by itself; the newest claim of it that was not refuted. */
  push:
    | (AssetAmount & {
        /** Unix seconds of the last block time at which it is credited. */
        creditedUntil: number;
        tx: { txId: string; state: "claimed" | "known" | "mined" } | null;
      })
    | null;
  option: ChosenOption | null;
  attempt: { reverts: number; payerReverts: number } | null;
  intent: CaptureIntent | null;
  /** The transfer that is evidence for this payment, in a block that counts. */
  arrival: { txId: string; block: bigint } | null;
  chain: ChainKnown | null;
  /** Most transactions of one key on the chain that are not mined. */
  inFlight: number;
  capture: (AssetAmount & { status: "confirmed" | "finalized" | "orphaned"; txId: string }) | null;
  settlement: SettlementFacts | null;
  refunds: (AssetAmount & { state: RefundState })[];
  /** Exception records that name this payment, oldest first. */
  exceptions: (AssetAmount & { kind: ExceptionKind; txId: string; open: boolean })[];
};
