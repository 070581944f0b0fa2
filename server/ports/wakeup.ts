/** Says when nobody waits for an answer any more; an `AbortSignal` is one, and so is what costs less memory. */
export type Hangup = {
  readonly aborted: boolean;
  addEventListener(type: "abort", call: () => void, options?: { once?: boolean }): void;
  removeEventListener(type: "abort", call: () => void): void;
};

/** Somebody who waits for a payment to change beyond `version`. */
export type Waiter = { readonly paymentId: string; readonly version: number; wake(): void };

/** Wakes long polls when a payment changes, across processes. */
export type Wakeup = {
  /**
   * Wakes the waiter once: when the payment changed, when `waitMs` is over, or when the process stops. False: too many wait
   * already, and nothing will be called.
   */
  hold(waiter: Waiter, waitMs: number): boolean;
  /** Forgets a waiter that hung up. */
  drop(waiter: Waiter): void;
  /** Calls `heard` after any payment changed in any process; a call may get lost. */
  onChange(heard: () => void): void;
};
