/** Wakes long polls when a payment changes, across processes. */
export type Wakeup = {
  /** Resolves when the payment's version exceeds `version`, when `waitMs` is over or when `signal` aborts; never rejects. */
  changed(paymentId: string, version: number, waitMs: number, signal: AbortSignal): Promise<void>;
};
