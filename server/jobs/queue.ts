import { PgBoss } from "pg-boss";
import type { SendJob } from "#server/db/store.ts";
import type { Log } from "#server/platform/log.ts";
import { SUBMIT_CAPTURE } from "#server/ports/jobs.ts";

/** Where jobs end that failed for good; operators see them, sweeps still do their work. */
export const DEAD = "dead";

/** Every queue with its retry rule; `lease` is how many seconds a claimed job may take before another worker gets it. */
export const QUEUES = [
  { name: SUBMIT_CAPTURE, retryLimit: 5, retryDelayS: 1, leaseS: 60 },
] as const;

/** A queue connection. `send` needs none of its own: it runs on the caller's transaction. */
export type Queue = {
  boss: PgBoss;
  sendJob: SendJob;
  start(): Promise<void>;
  stop(): Promise<void>;
};

/** Connects to the job queue; `worker` processes also maintain it and listen for new jobs. */
export function createQueue(url: string, log: Log, { worker }: { worker: boolean }): Queue {
  const boss = new PgBoss({
    connectionString: url,
    max: worker ? 6 : 2,
    useListenNotify: worker,
    supervise: worker,
    schedule: false,
    application_name: "florin-jobs",
  });
  boss.on("error", (error) => log.warn({ err: error }, "job queue"));
  const start = async () => {
    await boss.start();
    await boss.createQueue(DEAD);
    for (const { name, retryLimit, retryDelayS, leaseS } of QUEUES)
      await boss.createQueue(name, {
        notify: true,
        retryLimit,
        retryDelay: retryDelayS,
        retryBackoff: true,
        expireInSeconds: leaseS,
        deadLetter: DEAD,
        deleteAfterSeconds: 3600,
      });
  };
  return {
    boss,
    start,
    stop: () => boss.stop({ graceful: true, timeout: 5_000 }),
    sendJob: async (query, queue, data) => {
      const db = {
        executeSql: async (text: string, values?: unknown[]) => ({
          rows: await query(text, values),
        }),
      };
      await boss.send(queue, data, { db });
    },
  };
}
