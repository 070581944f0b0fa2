import type { Timers } from "./timers.ts";

/** Warns as a deadline nears. */
export type ExpiryWatch = {
  /** Sets or moves the deadline (Unix seconds, server's clock); a warning already given is not repeated. */
  watch: (deadline: number) => void;
  stop: () => void;
};

/** How the watch is set up; `warnAtSeconds` are seconds left. */
export type ExpiryWatchSettings = {
  timers: Timers;
  /** Server's clock in milliseconds. */
  serverNow: () => number;
  warnAtSeconds: readonly number[];
  onWarning: (secondsLeft: number) => void;
};

/** Starts no timer before `watch`. With less time left than a threshold, the warning comes at once. */
export function createExpiryWatch(settings: ExpiryWatchSettings): ExpiryWatch {
  const { timers, serverNow, onWarning } = settings;
  let pending = [...settings.warnAtSeconds].sort((a, b) => b - a);
  let callOff = () => {};

  function schedule(deadline: number): void {
    callOff();
    const msLeft = deadline * 1000 - serverNow();
    const due = pending.filter((seconds) => msLeft <= seconds * 1000);
    if (due.length > 0) {
      pending = pending.filter((seconds) => !due.includes(seconds));
      if (msLeft > 0) onWarning(Math.ceil(msLeft / 1000));
    }
    const [next] = pending;
    if (next === undefined || msLeft <= 0) return;
    callOff = timers.after(msLeft - next * 1000, () => schedule(deadline));
  }

  return { watch: schedule, stop: () => callOff() };
}
