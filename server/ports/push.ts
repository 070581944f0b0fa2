/** What is known of a transaction for a push: see `push_tx` for the words. */
export type PushState = "claimed" | "known" | "mined" | "foreign" | "gone";

/** An option whose transfer is handed out. */
export type ServedPush = {
  id: string;
  paymentId: string;
  chain: string;
  payer: string;
  recipient: string;
  amount: bigint;
  /** The payment's tag is in it as `nonce`. */
  authorization: { nonce: string };
  /** Unix seconds; what has a price has an end. */
  expiresAt: number | null;
};

/** A transaction on a chain, and the payment it is meant for. */
export type PushRef = { chain: string; hash: string; paymentId: string; optionId: string };

/** A transaction that somebody claims, or that was found, with what it must look like to pay. */
export type Push = PushRef & { payer: string; recipient: string; amount: bigint; tag: string };

/** An account whose transfer for a payment was in a block and is not any more. */
export type LostPush = {
  paymentId: string;
  sender: string;
  /** Highest nonce a node showed for it. */
  nonce: bigint;
};

/** The part of a transaction that concerns transfers which buyers' own wallets send. */
export type PushTx = {
  /** Records that an option's transfer was handed out; to do it again changes nothing. */
  offerPush(option: ServedPush): Promise<void>;
  /** The option a known transaction pays; null: none is known, and other options are free. */
  pushLock(paymentId: string): Promise<string | null>;
  /** Whether a transfer that was handed out may still be found in time. */
  awaitsPush(paymentId: string): Promise<boolean>;
  /** Keeps a claimed hash and the proof that came with it; of those of a payment that lock nothing, the newest few. */
  claimPush(claim: PushRef, proof: string | null): Promise<void>;
  /** Every transaction of a payment is over: none of them can pay any more. */
  endPushes(paymentId: string): Promise<void>;
  /** A mined transaction turned out not to pay: it locks nothing any more. */
  releasePush(chain: string, hash: string): Promise<void>;
  /** Writes what a node says of a transaction that is still kept. */
  updatePush(push: PushRef, found: { state: PushState; nonce: bigint | null }): Promise<void>;
  /**
   * Writes what a node or a block says of a transaction, and the option it says it of; creates the row of one that nobody claimed.
   * What was seen in a block, or was judged not to pay, stays so until a block says otherwise.
   */
  setPush(push: PushRef, found: { state: PushState; nonce: bigint | null }): Promise<void>;
};

/** Reads and sweeps of pushes outside a transaction. */
export type PushStore = {
  /** Whether the option's transfer was ever handed out. */
  pushServed(optionId: string): Promise<boolean>;
  pushLock(paymentId: string): Promise<string | null>;
  /** Whether this transaction was seen in a block as payment of this option. */
  pushMined(chain: string, hash: string, paymentId: string): Promise<boolean>;
  /** The payment whose tag a transfer carries; null: none was handed out with it. */
  paymentOfTag(chain: string, tag: string): Promise<string | null>;
  /**
   * Transactions to ask a node about: claimed, known, or gone from their block; of closed payments those known, for an hour, since
   * their buyers are told. Junk is asked about ever more rarely.
   */
  pushesToFollow(chain: string, limit: number): Promise<Push[]>;
  /** Payments in processing by a push whose transfer is in no block that counts. */
  lostPushes(chain: string, limit: number): Promise<LostPush[]>;
  /** Whether a transfer for this payment is in a block that counts and is no exception. */
  hasPushArrival(paymentId: string): Promise<boolean>;
};
