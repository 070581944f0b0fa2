/** The right of one tab to ask a wallet about one payment; given back when the tab closes, whatever happened. */
export type TabLock = {
  /** False: another tab of this browser has it. */
  take(): Promise<boolean>;
  release(): void;
};

/** A lock of the browser; where there is none (an insecure origin, an old browser) every tab gets it. */
export function createTabLock(paymentId: string, onFree: () => void): TabLock {
  const name = `florin:pay:${paymentId}`;
  const locks = typeof navigator === "undefined" ? undefined : navigator.locks;
  let giveBack: (() => void) | null = null;
  let waiting = false;
  let asked: Promise<boolean> | null = null;

  const hold = () => new Promise<void>((resolve) => (giveBack = resolve));
  /** Told once the other tab is done: its lock is taken for a moment and left again. */
  const awaitFree = () => {
    if (waiting || locks === undefined) return;
    waiting = true;
    void locks.request(name, async () => {
      waiting = false;
      onFree();
    });
  };

  const ask = () =>
    new Promise<boolean>((resolve) => {
      if (locks === undefined || giveBack !== null) return resolve(true);
      void locks.request(name, { ifAvailable: true }, (lock) => {
        resolve(lock !== null);
        if (lock === null) return awaitFree();
        return hold();
      });
    });

  return {
    // Asked twice at once, a browser would refuse the second what the first gets.
    take: () => {
      asked ??= ask().finally(() => {
        asked = null;
      });
      return asked;
    },
    release: () => {
      giveBack?.();
      giveBack = null;
    },
  };
}
