import { fork } from "node:child_process";
import { fileURLToPath } from "node:url";

/** What the floor writes that a server of ours would look up. */
export type FloorOrder = {
  databaseUrl: string;
  merchantId: string;
  /** As the merchant's payments carry them. */
  destinations: Record<string, string>;
  checkoutUrl: string;
};

/** A bare HTTP server over the same database. */
export type Floor = { port: number; pid: number; stop(): Promise<void> };

const READY_WITHIN_MS = 20_000;

/**
 * Starts the floor that a server is compared with: `node:http`, `pg`, one prepared statement per request. It checks nothing, knows
 * nobody and logs nothing, but parses and answers the same JSON and leaves the same rows: `POST /` and `GET /{paymentId}`.
 */
export async function startFloor(order: FloorOrder): Promise<Floor> {
  const child = fork(fileURLToPath(new URL("./floor-process.ts", import.meta.url)));
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  const port = await new Promise<number>((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error("the floor did not start in time"));
    }, READY_WITHIN_MS);
    child.once("message", (told) => {
      clearTimeout(timer);
      resolve(Number(told));
    });
    child.once("exit", () => reject(new Error("the floor ended")));
    child.send(order);
  });
  return {
    port,
    pid: child.pid ?? 0,
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
