import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { startPostgres, stopPostgresAt } from "#server/sandbox/postgres.ts";
import { signal } from "#server/sandbox/process.ts";
import { until } from "./api.ts";
import type { TestServer, TestWorld } from "./world.ts";

/** What can be killed, in the order in which it is. */
export const VICTIMS = ["server", "worker", "PostgreSQL"] as const;
export type Victim = (typeof VICTIMS)[number];

/** Processes that are started again whenever they end, as a supervisor of an installation does it. */
export type Parts = {
  /** Where the server was last seen; nobody listens there while it is down. */
  baseUrl(): string;
  /** SIGKILL at once, without waiting for what follows. Throws when the part does not come up to be killed. */
  kill(victim: Victim): Promise<void>;
  /** Ends that nobody brought about: there should be none. */
  surprises(): string[];
  stop(): Promise<void>;
};

const RESTART_AFTER_MS = 100;
const UP_WITHIN_MS = 30_000;
const MOST_FAILED_STARTS = 50;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A start that was refused while the database was away: what it should do. */
class Refused extends Error {}

type Kept = { current: TestServer | null; stop(): Promise<void> };

/** Keeps one process running; `surprise` hears of every end that was not a kill of ours. */
function keep(
  start: () => Promise<TestServer>,
  heard: { surprise(what: string): void; ended(server: TestServer): void },
): Kept & { running: Promise<void> } {
  let stopping = false;
  const kept: Kept = {
    current: null,
    async stop() {
      stopping = true;
      await kept.current?.kill();
    },
  };
  const run = async () => {
    for (let failed = 0; !stopping && failed < MOST_FAILED_STARTS; ) {
      try {
        const server = await start();
        kept.current = server;
        failed = 0;
        if (stopping) return await server.kill();
        await server.exited;
        heard.ended(server);
        kept.current = null;
      } catch (error) {
        if (!(error instanceof Refused)) heard.surprise(`a start failed: ${error}`);
        failed++;
        await pause(RESTART_AFTER_MS);
      }
    }
    if (!stopping) heard.surprise("a process was given up");
  };
  return Object.assign(kept, { running: run() });
}

/** The children of a process. */
function childrenOf(pid: number): number[] {
  const listed = spawnSync("ps", ["-A", "-o", "pid=,ppid="], { encoding: "utf8" }).stdout;
  return listed
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, parent]) => parent === pid)
    .map(([child]) => child ?? 0);
}

/** Starts the server without a worker, and a worker, and keeps them and the world's PostgreSQL running. */
export async function startParts(world: TestWorld, env: Record<string, string>): Promise<Parts> {
  const dir = join(world.world.dir, "postgres");
  let postgres = await startPostgres({ dir });
  let restarting: Promise<void> = Promise.resolve();
  const surprises: string[] = [];
  const killed = new Set<TestServer>();
  let isDown = false;
  let outages = 0;
  const start = async (entry: "main" | "worker") => {
    const before = isDown ? -1 : outages;
    try {
      return await world.startServer({ entry, env: { FLORIN_WORKER: "off", ...env } });
    } catch (error) {
      throw outages === before ? error : new Refused("no database", { cause: error });
    }
  };
  const keepEntry = (entry: "main" | "worker") =>
    keep(() => start(entry), {
      surprise: (what) => surprises.push(`${entry}: ${what}`),
      ended(server) {
        if (!killed.has(server))
          surprises.push(`${entry} ended by itself: ${server.output().slice(-2_000)}`);
      },
    });
  const kept = { server: keepEntry("main"), worker: keepEntry("worker") };
  const stop = async () => {
    await restarting;
    for (const { current } of [kept.server, kept.worker]) if (current !== null) killed.add(current);
    await Promise.all([kept.server.stop(), kept.worker.stop()]);
    await Promise.all([kept.server.running, kept.worker.running]);
    await stopPostgresAt(dir);
  };
  const up = (part: Kept) =>
    until(
      async () => part.current,
      (server) => server !== null,
      UP_WITHIN_MS,
    );
  try {
    await Promise.all([up(kept.server), up(kept.worker)]);
  } catch (error) {
    await stop();
    throw new Error(`the parts do not start: ${surprises.join("\n")}`, { cause: error });
  }
  const killPostgres = async () => {
    await restarting;
    const { pid, port } = postgres;
    const children = childrenOf(pid);
    isDown = true;
    outages += 1;
    for (const one of [pid, ...children]) signal(one, "SIGKILL");
    restarting = startPostgres({ dir }).then(
      (again) => {
        postgres = again;
        isDown = false;
        if (again.port !== port) surprises.push("PostgreSQL came back on another port");
      },
      (error) => void surprises.push(`PostgreSQL did not come back: ${error}`),
    );
  };
  let seenAt = "";
  return {
    baseUrl() {
      seenAt = kept.server.current?.baseUrl ?? seenAt;
      return seenAt;
    },
    async kill(victim) {
      if (victim === "PostgreSQL") return killPostgres();
      const server = await up(kept[victim]);
      if (server === null) return;
      killed.add(server);
      signal(server.pid, "SIGKILL");
    },
    surprises: () => surprises,
    stop,
  };
}
