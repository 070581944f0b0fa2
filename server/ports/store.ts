import type { Action, WalletRpcAction } from "#server/domain/option/actions.ts";
import type { Mechanism, Terms } from "#server/domain/option/authorization.ts";
import type { DepthRule, ExceptionKind, Heads } from "#server/domain/payment/evidence.ts";
import type { FailureCode, PaymentEventType, PaymentStatus } from "#server/domain/payment/state.ts";
import type { BuiltStore, BuiltStoreTx } from "./built.ts";
import type { BlockRef, Fees, InboundTransfer, Receipt, SignedTx, TxPlan } from "./chain.ts";
import type { CheckoutReads } from "./checkout.ts";
import type { CollectStore, CollectTx } from "./collect.ts";
import type { EventStore, EventTx } from "./events.ts";
import type { ExplainReads } from "./explain.ts";
import type { MerchantReads, MerchantTx } from "./merchants.ts";
import type { PaymentListReads } from "./payment-list.ts";
import type { PushStore, PushTx } from "./push.ts";
import type { RefundStore, RefundTx } from "./refunds.ts";

/** A payment as stored. Times are Unix seconds. */
export type Payment = {
  id: string;
  merchantId: string;
  environment: "test" | "live";
  status: PaymentStatus;
  version: number;
  unit: string;
  minor: bigint;
  referenceId: string;
  successUrl: string | null;
  errorUrl: string | null;
  expiresAt: number;
  createdAt: number;
  failureCode: FailureCode | null;
  flow: "intermediary" | "direct";
  settlementSchedule: "instant" | "batched";
  feeBps: number;
  feeFixedMinor: bigint;
  /** CAIP-19 to CAIP-10, both canonical. */
  destinations: Record<string, string>;
  /** The buyer must give personal data before paying. */
  collectsData: boolean;
  /** The buyer must sign that the account is theirs before paying. */
  provesOwnership: boolean;
  optionId: string | null;
  /** By the database's clock, at the moment of the read. */
  windowClosed: boolean;
};

export type NewPayment = Omit<
  Payment,
  "status" | "version" | "createdAt" | "failureCode" | "optionId" | "windowClosed"
> & {
  description: string | null;
  metadata: Record<string, string> | null;
};

/** A stored answer to a repeated call, byte for byte. */
export type StoredAnswer = { status: number; body: string };

export type IdempotencyClaim = { scope: string; key: string; fingerprint: Uint8Array };

export type PaymentOption = {
  id: string;
  paymentId: string;
  /** As the caller wrote it. */
  account: string;
  chain: string;
  asset: string;
  payer: string;
  recipient: string;
  mechanism: Mechanism;
  amount: bigint;
  fingerprint: string;
  /** The calls a wallet makes, in order; those of native coin are handed out by fetch only. */
  actions: WalletRpcAction[];
  authorization: Terms;
  digest: string;
  quote: Record<string, unknown> | null;
  usdMicros: bigint | null;
  depth: DepthRule;
  /** Null: lives as long as the payment. */
  expiresAt: number | null;
};

export type Attempt = {
  id: string;
  paymentId: string;
  optionId: string;
  resultsDigest: string;
  signature: string;
  /** The buyer's proof of ownership; null: none was asked for. */
  proof: string | null;
  reverts: number;
  /** Last block height at which what was signed may land; null where the authorization itself ends. */
  lapsesAt: bigint | null;
  state: "live" | "ended";
};

/** A movement row: an inbound transfer in one block and what became of it. */
export type Movement = InboundTransfer & {
  id: bigint;
  chain: string;
  blockNumber: bigint;
  blockHash: string;
  blockTime: bigint;
  state: "seen" | "credited" | "exception" | "topup" | "ignored" | "orphaned";
  paymentId: string | null;
};

export type Capture = {
  id: bigint;
  paymentId: string;
  optionId: string;
  movementId: bigint;
  chain: string;
  blockNumber: bigint;
  blockHash: string;
  txHash: string;
  logIndex: number;
  asset: string;
  payer: string;
  recipient: string;
  received: bigint;
  status: "confirmed" | "finalized" | "orphaned";
  ordinal: number;
};

export type Intent = {
  id: string;
  kind: "capture" | "settlement" | "refund" | "fill";
  paymentId: string | null;
  attemptId: string | null;
  chain: string;
  signer: string;
  nonce: bigint;
  plan: TxPlan;
  state: "signed" | "broadcast" | "mined" | "final" | "reverted" | "superseded";
  minedHash: string | null;
  minedBlock: bigint | null;
  minedBlockHash: string | null;
  gasCost: bigint | null;
  /** Unix seconds of the first broadcast, null before. */
  broadcastAt: number | null;
  /** Unix seconds. */
  createdAt: number;
};

export type StoredTx = {
  hash: string;
  chain: string;
  intentId: string;
  role: "main" | "fill";
  raw: Uint8Array;
  fees: Fees;
  gas: bigint;
  /** Last block height at which it may land; null: its nonce decides. */
  lapsesAt: bigint | null;
  /** Hash of the lapsed transaction whose place it takes; empty for the first. */
  replaces: string;
  /** Unix seconds. */
  createdAt: number;
};

export type Settlement = {
  id: string;
  paymentId: string;
  captureId: bigint;
  merchantId: string;
  asset: string;
  destination: string;
  amount: bigint;
  fee: bigint;
  schedule: "instant" | "batched";
  intentId: string | null;
  state: "pending" | "sent" | "final" | "blocked" | "reverted" | "superseded";
  txHash: string | null;
};

export type NewException = {
  kind: ExceptionKind;
  environment: "test" | "live";
  merchantId: string | null;
  paymentId: string | null;
  chain: string;
  txHash: string;
  logIndex: number;
  blockHash: string;
  asset: string;
  payer: string;
  amount: bigint;
  detail: string;
};

/** One of our keys on a chain: the next nonce to give out, and whether it has too little money for network fees. */
export type SignerState = { signer: string; next: bigint; gasShort: boolean };

/** One line of a posting: debit positive, credit negative, in minor units of `asset`. */
export type LedgerLine = {
  kind:
    | "intermediary"
    | "merchant_payable"
    | "fee_income"
    | "gas_expense"
    | "network"
    | "suspense"
    | "direct_received"
    | "direct_delivered"
    | "operator";
  asset: string;
  merchantId: string | null;
  amount: bigint;
};

export type Cursor = {
  chain: string;
  scannedNumber: bigint;
  scannedHash: string;
  latest: bigint;
  safe: bigint;
  finalized: bigint;
  finalizedTime: bigint;
};

/** Where a reader of a chain stood: the last block it has read. */
export type ReadUpTo = Pick<BlockRef, "number" | "hash">;

export type StatusChange = {
  type: PaymentEventType;
  /** Kept with the event and shown in the timeline; no secrets. */
  body: Record<string, unknown>;
  failureCode?: FailureCode;
  optionId?: string;
};

export type ChangeOutcome =
  | { kind: "applied"; payment: Payment; at: Date }
  | { kind: "refused"; payment: Payment };

/** What areas with port files of their own add to a transaction. */
type AreaTx = PushTx & BuiltStoreTx & CollectTx & EventTx & MerchantTx & RefundTx;

/** What can be done inside one database transaction: rows only, no chain and no HTTP by type. */
export type Tx = AreaTx & {
  /** Locks the row; null: no such payment. */
  lockPayment(id: string): Promise<Payment | null>;
  /**
   * Applies one event to the locked row with its event row and outbox row. `refused` when the table has no such edge;
   * `confirm_accepted` is refused too once the database's clock is past `expiresAt`.
   */
  change(payment: Payment, change: StatusChange): Promise<ChangeOutcome>;
  insertAttempt(attempt: Omit<Attempt, "state" | "reverts">): Promise<void>;
  /** All capture intents of an attempt, oldest first. */
  captureIntents(attemptId: string): Promise<Intent[]>;
  /** Claims the option's nonce for the payment, where something is signed with one; false: it belongs to another payment. */
  claimAuthorization(option: PaymentOption): Promise<boolean>;
  liveAttempt(paymentId: string): Promise<Attempt | null>;
  endAttempt(id: string): Promise<void>;
  countRevert(attemptId: string): Promise<number>;
  /** Enqueues a job that exists only if this transaction commits. */
  sendJob(queue: string, data: Record<string, string>): Promise<void>;
  insertCapture(capture: Omit<Capture, "id" | "ordinal">): Promise<Capture>;
  setCaptureStatus(id: bigint, status: Capture["status"]): Promise<void>;
  captureOf(paymentId: string): Promise<Capture | null>;
  setMovement(id: bigint, state: Movement["state"], paymentId: string | null): Promise<void>;
  /** Locks an arrival that has this state; false: somebody decided about it meanwhile, or its block is gone or back. */
  lockMovement(id: bigint, state: Movement["state"]): Promise<boolean>;
  /** Returns false when the same exception is already recorded. Writes its outbox row when a payment is named. */
  insertException(exception: NewException): Promise<boolean>;
  /** Closes the open exceptions of this kind that name the payment; returns how many there were. */
  resolveExceptions(paymentId: string, kind: ExceptionKind, why: string): Promise<number>;
  /** Posts once per (reason, subject); false: posted before. The lines must balance per asset. */
  post(
    reason: string,
    subject: string,
    chainRef: string | null,
    lines: LedgerLine[],
  ): Promise<boolean>;
  /** Lines of an earlier posting, empty if none. */
  posting(reason: string, subject: string): Promise<LedgerLine[]>;
  /** Reserves a nonce for the intent, or returns the intent as it stands if its id exists. */
  reserveIntent(
    intent: Pick<Intent, "id" | "kind" | "paymentId" | "attemptId" | "chain" | "signer" | "plan">,
  ): Promise<Intent>;
  /** Stores signed bytes; false: another process stored its own transaction in this place. */
  insertTx(tx: Omit<StoredTx, "createdAt">): Promise<boolean>;
  /** False: the intent has ended, and stays as it is; a revert that is not final can still be superseded. */
  setIntent(
    id: string,
    patch: Partial<
      Pick<Intent, "state" | "minedHash" | "minedBlock" | "minedBlockHash" | "gasCost">
    > & { broadcastNow?: boolean },
  ): Promise<boolean>;
  /** Keeps what a capture that reverted has cost, once its block is final; what is kept stays. */
  bookRevert(intentId: string, receipt: Receipt): Promise<void>;
  /** False: the payment already has a live settlement. */
  insertSettlement(settlement: Omit<Settlement, "intentId" | "state" | "txHash">): Promise<boolean>;
  /** Locks pending settlements of one merchant, asset and destination (all of a batch, or one). */
  lockPendingSettlements(ids: string[]): Promise<Settlement[]>;
  setSettlements(
    ids: string[],
    patch: { state: Settlement["state"]; intentId?: string; txHash?: string; detail?: string },
  ): Promise<void>;
  hold(asset: string, reason: string): Promise<void>;
  /** Whether there is a hold on an asset; until this transaction ends no other begins. */
  isHeld(asset: string): Promise<boolean>;
  /** Records one scanned block, its arrivals and the new cursor; false, and nothing done: another reader has moved the cursor. */
  recordBlock(chain: string, block: BlockRef, transfers: InboundTransfer[]): Promise<boolean>;
  /** Records arrivals of a block that counts as read already; what is known stays as it is. */
  recordArrivals(chain: string, block: BlockRef, transfers: InboundTransfer[]): Promise<void>;
  /** Stores how far the chain had come when it was read up to `scanned`; false: another reader has moved the cursor from there. */
  setHeads(
    chain: string,
    scanned: ReadUpTo,
    heads: Heads & { finalizedTime: bigint },
  ): Promise<boolean>;
  /**
   * Drops blocks above `to`, marks their movements orphaned and moves the cursor back from `scanned`; false, and nothing done: another
   * reader has moved it, and what it read counts.
   */
  rewind(chain: string, scanned: ReadUpTo, to: BlockRef): Promise<boolean>;
  /** Starts the cursor at a block (its arrivals are not read); no-op if it exists. */
  initCursor(chain: string, block: BlockRef): Promise<void>;
};

/** What became of work under a claim; `busy`: the same call is still running elsewhere. */
export type OnceOutcome =
  | { kind: "done"; answer: StoredAnswer }
  | { kind: "replay"; answer: StoredAnswer }
  | { kind: "conflict" }
  | { kind: "busy" };

/** What areas with port files of their own add to the store. */
type AreaStore = PushStore &
  BuiltStore &
  CollectStore &
  EventStore &
  MerchantReads &
  PaymentListReads &
  RefundStore &
  ExplainReads &
  CheckoutReads;

export type Store = AreaStore & {
  /** Runs `work` in one transaction and keeps its answer under the claim; a repetition gets the kept answer and does nothing. */
  once(
    claim: IdempotencyClaim | null,
    work: (tx: Tx) => Promise<StoredAnswer>,
  ): Promise<OnceOutcome>;
  /** Runs `work` in one transaction, again from the start on serialization failures and lost connections before commit. */
  transaction<T>(work: (tx: Tx) => Promise<T>): Promise<T>;
  /**
   * Creates a payment with its outbox row and, with a claim, its idempotency row, in one transaction.
   * `replay`: the claim's stored answer. `conflict`: same key, other fingerprint. `running`: still being worked on.
   * `answer` renders what is stored and returned; it gets the row's expiry as stored.
   */
  createPayment(
    payment: NewPayment,
    claim: IdempotencyClaim | null,
    answer: StoredAnswer,
  ): Promise<{ kind: "created" } | { kind: "replay"; answer: StoredAnswer } | { kind: "conflict" }>;
  /** The stored answer of a claim, for refusals and lost commits; null: none. */
  storedAnswer(
    scope: string,
    key: string,
  ): Promise<{ fingerprint: Uint8Array; answer: StoredAnswer | null } | null>;
  /** Stores a refusal's answer under the claim unless one is there. */
  storeAnswer(claim: IdempotencyClaim, answer: StoredAnswer): Promise<void>;
  /** Deletes stored answers older than `days`; returns how many. */
  forgetAnswers(days: number): Promise<number>;
  payment(id: string): Promise<Payment | null>;
  option(id: string): Promise<PaymentOption | null>;
  /** The newest capture of a payment, one that counts before orphaned ones. */
  capture(paymentId: string): Promise<Capture | null>;
  /** The live settlement of a payment. */
  settlement(paymentId: string): Promise<Settlement | null>;
  /** Options of a payment served to these payers, newest first. */
  optionsOf(paymentId: string, payers: string[]): Promise<PaymentOption[]>;
  /** Inserts options not yet there (by fingerprint) and returns all of them with their ids, in the given order. */
  saveOptions(options: Omit<PaymentOption, "id">[]): Promise<PaymentOption[]>;
  liveAttempt(paymentId: string): Promise<Attempt | null>;
  /** Mined reverts that transactions for an account have cost on a chain within a day, of payments that did not succeed all the same. */
  payerReverts(chain: string, payer: string): Promise<number>;
  merchant(id: string): Promise<Merchant | null>;
  // Sweeps, each oldest first and bounded by `limit`.
  paymentsToExpire(limit: number): Promise<string[]>;
  /** Payments in processing with a live attempt on this chain, without a non-ended capture intent. */
  attemptsToSubmit(chain: string, limit: number): Promise<string[]>;
  /** Payments in processing on this chain whose authorization deadline is before the finalized time. */
  attemptsPastDeadline(chain: string, limit: number): Promise<string[]>;
  /** Arrivals nobody has decided about, with the heads of their chain at the same moment; null: none. */
  movementsToJudge(
    chain: string,
    limit: number,
  ): Promise<{ arrivals: Movement[]; heads: Heads } | null>;
  /** The option a movement can be evidence for: by authorization nonce, or by one of our stored transactions. */
  optionForMovement(movement: Movement): Promise<PaymentOption | null>;
  /**
   * The offer of the last weeks that a stray arrival was most likely meant for: the newest of exactly its amount, else the newest to
   * its sender. Null: none, or those alike belong to several merchants, and none of them may learn of another's money.
   */
  likeliestOffer(
    arrival: Pick<Movement, "chain" | "payer" | "recipient" | "asset" | "amount">,
  ): Promise<{ option: PaymentOption; payment: Payment } | null>;
  /** Whether a transfer carrying this authorization nonce was seen in a block that still counts, and is no exception. */
  hasArrival(chain: string, payer: string, nonce: string): Promise<boolean>;
  /** Whether a transfer in a block that still counts was attributed to this payment, or may be yet: its capture reverted in a block that is not final. */
  hasTransferOf(paymentId: string): Promise<boolean>;
  /** Whether an arrival of this transaction is known and was not taken back by a reorganisation. */
  hasMovement(chain: string, txHash: string): Promise<boolean>;
  /** Captures not yet finalized whose block is at or below `finalized`. */
  capturesToFinalize(chain: string, finalized: bigint, limit: number): Promise<Capture[]>;
  /** Captures on this chain whose movement was orphaned. */
  orphanedCaptures(chain: string, limit: number): Promise<Capture[]>;
  /** Pending settlements grouped for one transfer each: instant ones singly, batched ones per merchant, asset and destination once due. */
  settlementsDue(chain: string, batchEveryS: number, limit: number): Promise<Settlement[][]>;
  settlementsOfIntent(intentId: string): Promise<Settlement[]>;
  holds(): Promise<string[]>;
  intent(id: string): Promise<Intent | null>;
  /** Intents that are not final, by nonce, with their stored transactions; also captures whose revert is not final. */
  openIntents(chain: string, limit: number): Promise<{ intent: Intent; txs: StoredTx[] }[]>;
  /** The capture intent of an attempt that has not ended; null: none. */
  openCaptureIntent(attemptId: string): Promise<Intent | null>;
  /** Stored transactions of an intent, newest first. */
  intentTxs(intentId: string): Promise<StoredTx[]>;
  intentsInFlight(chain: string, signer: string): Promise<number>;
  cursor(chain: string): Promise<Cursor | null>;
  blockHashAt(chain: string, number: bigint): Promise<BlockRef | null>;
  /** Recipients of offers whose authorization may still land on this chain, beside the intermediary. */
  watchedRecipients(chain: string): Promise<string[]>;
  /** Starts the nonce counter of a signer at the chain's own count unless it runs already. */
  ensureSigner(chain: string, signer: string, chainNonce: bigint): Promise<{ next: bigint }>;
  /** The keys whose nonces are counted on a chain. */
  signers(chain: string): Promise<SignerState[]>;
  /** Notes whether a key has too little money for network fees; false: that was known. */
  markGas(chain: string, signer: string, isShort: boolean): Promise<boolean>;
  /** Seconds since an exception was recorded; null: it never was. */
  exceptionAge(kind: ExceptionKind, chain: string, txHash: string): Promise<number | null>;
  /** Ledger balance of an account kind in an asset, over all merchants. */
  ledgerBalance(kind: LedgerLine["kind"], asset: string): Promise<bigint>;
};

export type Merchant = {
  id: string;
  partnerId: string;
  environment: "test" | "live";
  name: string;
  iconUrl: string | null;
  flow: "intermediary" | "direct";
  feeBps: number;
  feeFixedCents: number;
  settlementSchedule: "instant" | "batched";
  status: "active" | "inactive" | "suspended" | "deleted";
  /** When its buyers must give personal data; `above`: from `collectAboveCents` US cents on. */
  collectWhen: "never" | "above" | "always";
  collectAboveCents: number;
  /** Whether buyers must prove by a signature that the account is theirs. */
  proveOwnership: boolean;
  destinations: Record<string, string>;
};

export type { Action, Receipt, SignedTx };
