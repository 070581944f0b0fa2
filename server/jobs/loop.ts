/** A loop that runs until stopped; `stop` resolves once the turn under way has ended. */
export type Loop = { stop(): Promise<void> };

/** Runs `turn` again and again, `pauseMs` apart; `turn` handles its own failures. */
export function startLoop(turn: () => Promise<void>, pauseMs: number): Loop {
  let stopped = false;
  let wake: (() => void) | undefined;
  const running = (async () => {
    while (!stopped) {
      await turn();
      if (stopped) break;
      await new Promise<void>((resolve) => {
        const timer = setTimeout(resolve, pauseMs);
        wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
  })();
  return {
    async stop() {
      stopped = true;
      wake?.();
      await running;
    },
  };
}
