import type { Log } from "#server/platform/log.ts";
import { SUBMIT_CAPTURE } from "#server/ports/jobs.ts";
import type { Services } from "#server/ports/services.ts";
import { createDeliverer } from "#server/usecases/deliver-webhooks.ts";
import { expirePayments } from "#server/usecases/expire-payments.ts";
import { numberEvents } from "#server/usecases/number-events.ts";
import { submitCapture } from "#server/usecases/submit-capture.ts";
import { createLeases, type Lease } from "./lease.ts";
import { type Loop, type Pace, startLoop } from "./loop.ts";
import type { Queue } from "./queue.ts";
import { createChainRunner } from "./run-chain.ts";

const EXPIRE_EVERY_MS = 500;
/** Looks for new events, and for deliveries that are due: soon after something happened, else seldom. */
const EVENTS_PACE = { pauseMs: 100, idleMs: 500 };
/** How long the answer to an idempotent call can be asked for again, and how often older ones are dropped. */
const ANSWERS_KEPT_DAYS = 7;
const FORGET_EVERY_MS = 3_600_000;
const SUBMIT_CONCURRENCY = 8;

export type Worker = { stop(): Promise<void> };

/** A turn that does its work only while this process holds the lease; what fails is logged. Resolves to whether it was done. */
function leased(
  lease: Lease,
  log: Log,
  name: string,
  turn: () => Promise<void>,
): () => Promise<boolean> {
  let hasFailed = false;
  return async () => {
    if (!(await lease.held(hasFailed))) return false;
    try {
      await turn();
      hasFailed = false;
    } catch (error) {
      log.warn({ loop: name, err: error }, "a turn failed and is tried again");
      hasFailed = true;
    }
    return !hasFailed;
  };
}

/**
 * Starts everything that happens without a request: submitting, watching, settling, expiring. Any number of workers may run;
 * each chain is worked on by the one that holds its lease.
 */
export async function startWorker(
  services: Services,
  queue: Queue,
  databaseUrl: string,
): Promise<Worker> {
  const { log } = services;
  const leases = createLeases(databaseUrl, log);
  const loops: Loop[] = [];
  const add = (name: string, turn: () => Promise<void>, pace: Pace): Loop => {
    const loop = startLoop(leased(leases.lease(name), log, name, turn), pace);
    loops.push(loop);
    return loop;
  };
  for (const [name, chain] of services.chains)
    add(`chain:${name}`, createChainRunner(services, chain), { pauseMs: chain.facts.pollMs });
  add("expire", async () => void (await expirePayments(services)), {
    pauseMs: EXPIRE_EVERY_MS,
  });
  const deliverer = createDeliverer(services, () => webhooks.wake());
  const webhooks = add("webhooks", () => deliverer.turn(), EVENTS_PACE);
  const numbering = async () => {
    if ((await numberEvents(services)) > 0) webhooks.wake();
  };
  const events = add("events", numbering, EVENTS_PACE);
  services.wakeup.onChange(() => events.wake());
  add("forget", async () => void (await services.store.forgetAnswers(ANSWERS_KEPT_DAYS)), {
    pauseMs: FORGET_EVERY_MS,
  });
  add("forget-collected", async () => void (await services.store.forgetCollected()), {
    pauseMs: FORGET_EVERY_MS,
  });
  await queue.boss.work<{ paymentId: string }>(
    SUBMIT_CAPTURE,
    { localConcurrency: SUBMIT_CONCURRENCY, batchSize: 1, pollingIntervalSeconds: 1 },
    async (jobs) => {
      for (const job of jobs) await submitCapture(services, job.data.paymentId);
    },
  );
  return {
    async stop() {
      await Promise.all(loops.map((loop) => loop.stop()));
      await deliverer.stop();
      await queue.stop();
      await leases.release();
    },
  };
}
