/** Says when nobody waits for an answer any more; an `AbortSignal` is one, and so is what costs less memory. */
export type Hangup = {
  readonly aborted: boolean;
  addEventListener(type: "abort", call: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", call: () => void): void;
};

/** Wakes long polls when a payment changes, across processes. */
export type Wakeup = {
  /** Resolves when the payment's version exceeds `version`, when `waitMs` is over or when `signal` aborts; never rejects. */
  changed(paymentId: string, version: number, waitMs: number, signal: Hangup): Promise<void>;
};
