/** One datum of a buyer as it is stored. */
export type SealedField = { name: string; sealed: Uint8Array };

/** Who looks at personal data, and why; both are kept for ever. */
export type CollectedLook = { reader: string; reason: string };

/** Data of one account as given for one payment; `names` says which, never what. */
export type HeldData = { account: string; paymentId: string; proven: boolean; names: string[] };

/** The part of a transaction that concerns personal data. Accounts are canonical CAIP-10. */
export type CollectTx = {
  /** Puts these fields in place of what the account gave for the payment before; the payment's row must be locked. */
  storeCollected(
    paymentId: string,
    account: string,
    fields: SealedField[],
    keepDays: number,
  ): Promise<void>;
  /** From now on what the account gave for this payment counts for later payments too: it has shown that it is its own. */
  proveCollected(paymentId: string, account: string): Promise<void>;
  /** The sealed data of a payment. The look is recorded before anything is read, and what is not recorded is not read. */
  lookAtCollected(
    paymentId: string,
    look: CollectedLook,
  ): Promise<(SealedField & { account: string })[]>;
};

/** Reads and sweeps of personal data outside a transaction. */
export type CollectStore = {
  /** What counts for a payment: given for itself, or proven on another one of its environment; nothing past its time. */
  heldData(
    payment: { id: string; environment: "test" | "live" },
    accounts: string[],
  ): Promise<HeldData[]>;
  /** Deletes what is past its time; returns how many fields. */
  forgetCollected(): Promise<number>;
};
