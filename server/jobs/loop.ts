/** A loop that runs until stopped. */
export type Loop = {
  /** There is work: the next turn begins as soon as the pause allows. */
  wake(): void;
  /** Resolves once the turn under way has ended. */
  stop(): Promise<void>;
};

/** Milliseconds between turns; `idleMs`, by default as long as the pause, when nobody wakes the loop. */
export type Pace = { pauseMs: number; idleMs?: number };

/** Milliseconds after a turn that could not do its work; however seldom a loop looks, it then does so soon. */
const RETRY_MS = 1_000;

/** Runs `turn` again and again. It handles its own failures, and resolves to whether it did its work. */
export function startLoop(turn: () => Promise<boolean>, { pauseMs, idleMs = pauseMs }: Pace): Loop {
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
      const isDone = await turn();
      if (stopped) break;
      if (!isDone) {
        await pause(RETRY_MS);
        continue;
      }
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
