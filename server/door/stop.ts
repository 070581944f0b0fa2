/** A process started by us ends within this after being asked to. */
const STOP_WITHIN_MS = 9_500;

/**
 * Ends the process on SIGTERM and SIGINT: runs `stop`, then exits with 0. A second signal, or a stop that takes too
 * long, ends it with 1 at once; what it was doing is taken up by the next start.
 */
export function stopOnSignal(stop: () => Promise<void>, onError: (error: unknown) => void): void {
  let stopping = false;
  const asked = () => {
    if (stopping) process.exit(1);
    stopping = true;
    setTimeout(() => process.exit(1), STOP_WITHIN_MS).unref();
    stop().then(
      () => process.exit(0),
      (error) => {
        onError(error);
        process.exit(1);
      },
    );
  };
  process.on("SIGTERM", asked);
  process.on("SIGINT", asked);
}
