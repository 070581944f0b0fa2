import { createWebhookSender } from "#server/adapters/webhook-sender.ts";
import { createFaucet } from "#server/chains/faucet.ts";
import { createChains } from "#server/chains/index.ts";
import { checkDatabase } from "#server/db/check-database.ts";
import { createDatabase, type Database } from "#server/db/client.ts";
import { type Credentials, createCredentials } from "#server/db/credentials.ts";
import { createListener } from "#server/db/listener.ts";
import { createRateCounts } from "#server/db/rate-counts.ts";
import { createStore } from "#server/db/store.ts";
import { isCrowded, isTooSlow, isTransient } from "#server/db/transaction.ts";
import { createWakeup, type ProcessWakeup } from "#server/db/wakeup.ts";
import { createQueue, type Queue } from "#server/jobs/queue.ts";
import { systemClock } from "#server/platform/clock.ts";
import { type Env, env } from "#server/platform/env.ts";
import { createLog, type Log } from "#server/platform/log.ts";
import { ChainUnavailable } from "#server/ports/chain.ts";
import type { Faucet } from "#server/ports/faucet.ts";
import type { Limits } from "#server/ports/limits.ts";
import type { Services } from "#server/ports/services.ts";

/** Everything one process is built from. */
export type Container = {
  env: Env;
  log: Log;
  /** For flat lines made of ids and numbers: looking for secrets in depth costs more than a small request. */
  flatLog: Log;
  services: Services;
  credentials: Credentials;
  db: Database;
  queue: Queue;
  wakeup: ProcessWakeup;
  limits: Limits;
  /** Null everywhere but in a sandbox. */
  faucet: Faucet | null;
  /** Held polls by key, counted by the edge. */
  heldByKey: Map<string, number>;
  /** `starting` until the process entry has started what it is to run; `stopping` from the stop signal on. */
  state: { phase: "starting" | "serving" | "stopping" };
  /** Compares every chain with its registry entry and takes out what differs; returns what it found. */
  verifyChains(): Promise<string[]>;
  /** Every reason this database may not serve payments; throws when it does not answer. */
  checkDatabase(): Promise<string[]>;
  /** Whether an error says that something outside is away for now, so that the same call may work later. */
  isOutage(error: unknown): boolean;
  close(): Promise<void>;
};

/** Builds a process's parts; connections open on first use. `worker`: this process also works off the job queue. */
export function openContainer(settings: Env, { worker }: { worker: boolean }): Container {
  const log = createLog(settings.LOG_LEVEL);
  const db = createDatabase(settings.DATABASE_URL, {
    waiting: settings.FLORIN_MAX_DATABASE_QUEUE,
  });
  const listener = createListener(settings.DATABASE_URL, ["payment", "credentials"], log);
  const queue = createQueue(settings.DATABASE_URL, log, { worker });
  const credentials = createCredentials(db.query, settings.FLORIN_KEY_PEPPER, listener, log);
  const wakeup = createWakeup(listener, db.query, log, {
    perPayment: settings.FLORIN_HELD_PER_PAYMENT,
    perProcess: settings.FLORIN_HELD_PER_PROCESS,
  });
  const limits = createRateCounts(db.query, settings, log);
  const { chains, prices, screening, verify } = createChains(settings, log);
  const store = createStore(db, queue.sendJob, async (id) => credentials.merchant(id));
  const services: Services = {
    env: settings,
    log,
    clock: systemClock,
    store,
    chains,
    prices,
    screening,
    wakeup,
    webhooks: createWebhookSender({ loopback: settings.FLORIN_MODE === "sandbox" }),
  };
  return {
    env: settings,
    log,
    flatLog: log.child({}, { redact: [] }),
    services,
    credentials,
    db,
    queue,
    wakeup,
    limits,
    faucet: createFaucet(settings),
    heldByKey: new Map(),
    state: { phase: "starting" },
    verifyChains: verify,
    checkDatabase: () => checkDatabase(db),
    isOutage: (error) =>
      error instanceof ChainUnavailable ||
      isTransient(error) ||
      isCrowded(error) ||
      isTooSlow(error),
    async close() {
      wakeup.shut();
      limits.stop();
      await listener.close();
      await db.close();
    },
  };
}

const SLOT: unique symbol = Symbol.for("florin.services");
const slot = globalThis as typeof globalThis & { [SLOT]?: Container };

/** Makes `opened` the one of this process; for process entries and tests. */
export function installContainer(opened: Container): Container {
  slot[SLOT] = opened;
  return opened;
}

/** A process without an entry of ours (`next dev`, `next start`): parts are built on first use, and serve once the chains were compared. */
function openOnDemand(): Container {
  const opened = openContainer(env(), { worker: false });
  const queue = opened.queue
    .start()
    .catch((error) => opened.log.error({ err: error }, "the job queue did not start"));
  const chains = opened
    .verifyChains()
    .then((found) => {
      for (const one of found) opened.log.warn(one);
    })
    .catch((error) => opened.log.error({ err: error }, "chains were not verified"));
  void Promise.all([queue, chains]).then(() => {
    opened.state.phase = "serving";
  });
  return opened;
}

/** The process's parts. Several bundles share them, so they live on `globalThis`. */
export const container = (): Container => slot[SLOT] ?? installContainer(openOnDemand());

/** What use cases are handed. */
export const services = (): Services => container().services;
