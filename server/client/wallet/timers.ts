/** The clock and the timer the client runs on; handed in, so that a test moves time instead of waiting. */
export type Timers = {
  /** Milliseconds since 1970 by this device's clock. */
  now: () => number;
  /** Runs `run` once after `ms` milliseconds; the answer calls it off. */
  after: (ms: number, run: () => void) => () => void;
};

/** A longer delay overflows the timer of browsers and fires at once. */
const MAX_DELAY_MS = 2_147_483_647;

/** This device's own clock and timer. */
export const SYSTEM_TIMERS: Timers = {
  now: () => Date.now(),
  after: (ms, run) => {
    const timer = setTimeout(run, Math.min(ms, MAX_DELAY_MS));
    return () => clearTimeout(timer);
  },
};

/** Throws the signal's reason once it is aborted; spelled out, because React Native's signals have no method and no reason of their own. */
export function stopIfAborted(signal: AbortSignal | undefined): void {
  if (signal?.aborted === true) throw reasonOf(signal);
}

const reasonOf = ({ reason }: AbortSignal): unknown =>
  reason ?? Object.assign(new Error("The operation was aborted."), { name: "AbortError" });

/** Waits `ms` milliseconds; rejects with the signal's reason as soon as it is aborted. */
export function pause(timers: Timers, ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted === true) {
      reject(reasonOf(signal));
      return;
    }
    const onAbort = () => {
      callOff();
      reject(signal === undefined ? undefined : reasonOf(signal));
    };
    const callOff = timers.after(ms, () => {
      signal?.removeEventListener("abort", onAbort);
      resolve();
    });
    signal?.addEventListener("abort", onAbort, { once: true });
  });
}
