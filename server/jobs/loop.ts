/** A loop that runs until stopped. */
export type Loop = {
  /** There is work: the next turn begins as soon as the pause allows. */
  wake(): void;
  /** Resolves once the turn under way has ended. */
  stop(): Promise<void>;
};

/**
 * Runs `turn` again and again: at least `pauseMs` apart, and at most `idleMs` (by default the same) when nobody wakes it. `turn`
 * handles its own failures.
 */
export function startLoop(
  turn: () => Promise<void>,
  { pauseMs, idleMs = pauseMs }: { pauseMs: number; idleMs?: number },
): Loop {
  let stopped = false;
  let woken = false;
  let interrupt: (() => void) | undefined;
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms);
      interrupt = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  let pausing = false;
  const running = (async () => {
    while (!stopped) {
      woken = false;
      await turn();
      if (stopped) break;
      await pause(pauseMs);
      pausing = !woken && !stopped;
      if (pausing && idleMs > pauseMs) await pause(idleMs - pauseMs);
      pausing = false;
    }
  })();
  return {
    wake() {
      woken = true;
      if (pausing) interrupt?.();
    },
    async stop() {
      stopped = true;
      interrupt?.();
      await running;
    },
  };
}
