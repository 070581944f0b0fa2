import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import type { Registry } from "#server/platform/registry.ts";
import { environment } from "#server/sandbox/migrate.ts";
import { rpc } from "#server/sandbox/node-rpc.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { actors } from "../api.ts";
import { type RpcProxy, startRpcProxy } from "../rpc-proxy.ts";
import {
  createTestWorld,
  fromNowOn,
  type ServerOptions,
  type TestServer,
  type TestWorld,
} from "../world.ts";
import { type DatabaseProxy, startDatabaseProxy } from "./database-proxy.ts";

/** Longest wait for anything a row waits for. */
const WITHIN_MS = 90_000;
const LOOK_EVERY_MS = 40;
/** Between two blocks while somebody waits for what they bring. */
const HURRY_MS = 150;
/** Between two looks at the chain that most rows leave alone. */
const OTHER_CHAIN_MS = 500;
/** Calls of one look at the head: the newest block, its tags and the first. */
const CALLS_OF_A_LOOK = 4;

/** One world in which rows of the matrix play, one after the other; its chain and database can be made to fail. */
export type Stage = {
  test: TestWorld;
  caip2: string;
  url: string;
  deployment: TestWorld["world"]["chains"][number]["deployment"];
  node: RpcProxy;
  /** A second, undisturbed chain. */
  otherNode: RpcProxy;
  database: DatabaseProxy;
  /**
   * Starts a server or worker behind the proxies; `armed` are fail points. One that the row before left, as it would be started now,
   * is armed and taken instead.
   */
  start(options?: StartOptions): Promise<TestServer>;
  /** Ends every server that `start` started. */
  killServers(): Promise<void>;
  api(baseUrl: string): ReturnType<typeof actors>;
  /** Asks until `done`, in bounded time. */
  wait<T>(ask: () => Promise<T>, done: (value: T) => boolean, what: string): Promise<T>;
  /** As `wait`, with blocks in quick succession meanwhile. */
  mineUntil<T>(ask: () => Promise<T>, done: (value: T) => boolean, what: string): Promise<T>;
  /** Makes a block now; between such calls the first chain stands still. */
  mine(blocks?: number): Promise<void>;
  /** Runs something that waits for blocks by itself, with a block every second. */
  whileMining<T>(work: () => Promise<T>): Promise<T>;
  /** Waits until every server has looked at the chain again at least `times` times. */
  looked(times?: number): Promise<void>;
  rpc<T = unknown>(method: string, params?: unknown[]): Promise<T>;
  rows<Row = Record<string, string>>(text: string, values?: unknown[]): Promise<Row[]>;
  /** Ends something with the world that a row put in the place of one of its parts. */
  beforeStop(end: () => Promise<void>): void;
  /** Undoes every fault and ends every server but one that is as good as new; `spoilt`: that one too. */
  reset(spoilt: boolean): Promise<void>;
  stop(): Promise<void>;
};

type StartOptions = ServerOptions & { armed?: string };

/** A server that a row started, and the file that arms its fail points; `isPlain`: nothing is special about it. */
type Started = {
  server: TestServer;
  points: string;
  isPlain: boolean;
  hasEnded: boolean;
};

/** The registry of chains whose blocks come as fast as here; the second one is looked at less often, since little happens there. */
const inAHurry = (registry: Registry): Registry => ({
  ...registry,
  chains: registry.chains.map((chain, place) => ({
    ...chain,
    blockTimeMs: HURRY_MS,
    pollMs: place === 0 ? HURRY_MS : OTHER_CHAIN_MS,
  })),
});

/** A chain on which a transaction counts as stuck after this many seconds. */
export const stuckAfter =
  (stuckAfterS: number) =>
  (registry: Registry): Registry => ({
    ...registry,
    chains: registry.chains.map((chain) => ({ ...chain, stuckAfterS })),
  });

/** Chains on which nothing is replaced, however long the machine stands still: for rows that count transactions. */
export const neverStuck = stuckAfter(3_600);

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A fail point's line that a process printed, or null. */
export const reached = (server: TestServer, point: string): string | null =>
  server
    .output()
    .split("\n")
    .find((line) => line.startsWith(`failpoint ${point}:`)) ?? null;

/** Lets a process go on that hangs at a fail point. */
export const release = (server: TestServer): void => void process.kill(server.pid, "SIGUSR2");

/** Resolves when the process has ended; throws with the end of its log when it does not. */
export async function ended(server: TestServer, withinMs = WITHIN_MS): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the process lives on:\n${server.output().slice(-3000)}`)),
      withinMs,
    );
  });
  await Promise.race([server.exited, late]).finally(() => clearTimeout(timer));
}

async function waitFor<T>(
  ask: () => Promise<T>,
  done: (value: T) => boolean,
  what: string,
  each: () => Promise<unknown>,
): Promise<T> {
  const until = Date.now() + WITHIN_MS;
  for (;;) {
    const value = await ask();
    if (done(value)) return value;
    if (Date.now() > until)
      throw new Error(
        `not in time: ${what}; last seen: ${JSON.stringify(value, (_, v) => (typeof v === "bigint" ? `${v}` : v))?.slice(0, 1500)}`,
      );
    await each();
  }
}

/** Opens the stage: a world with two chains, and proxies before the first chain and the database. */
export async function openStage(): Promise<Stage> {
  const test = await createTestWorld({ chains: 2, native: true });
  const [first, second] = test.world.chains;
  if (first === undefined || second === undefined) throw new Error("the world lacks a chain");
  const url = first.anvil.rpcUrl;
  const node = await startRpcProxy(url);
  const otherNode = await startRpcProxy(second.anvil.rpcUrl);
  const database = await startDatabaseProxy(test.world.databaseUrl);
  let started: Started[] = [];
  /** Left by the row before. */
  let kept: Started | null = null;
  let starts = 0;
  const ends: (() => Promise<void>)[] = [];
  const call = <T = unknown>(method: string, params: unknown[] = []) => rpc<T>(url, method, params);
  const mine = async (blocks = 1) => {
    for (let made = 0; made < blocks; made++) await call("evm_mine");
  };
  const alive = () => started.filter(({ hasEnded }) => !hasEnded);
  const killServers = async () => {
    await Promise.all(started.map(({ server }) => server.kill()));
    started = [];
    kept = null;
  };
  const start = async (armed: string, options: ServerOptions): Promise<TestServer> => {
    const { env, registry = (own: Registry) => own, ...others } = options;
    const points = join(test.world.dir, `points-${++starts}`);
    writeFileSync(points, armed);
    const server = await test.startServer({
      ...others,
      registry: (own) => registry(inAHurry(own)),
      env: {
        DATABASE_URL: database.url,
        FLORIN_RPC_31337: node.url,
        FLORIN_RPC_31338: otherNode.url,
        FAILPOINT: `@${points}`,
        ...env,
      },
    });
    const isPlain = armed === "" && Object.keys(options).length === 0;
    const one: Started = { server, points, isPlain, hasEnded: false };
    void server.exited.then(() => {
      one.hasEnded = true;
    });
    started.push(one);
    return server;
  };
  await call("evm_setIntervalMining", [0]);
  await rpc(second.anvil.rpcUrl, "evm_setIntervalMining", [0]);
  const wait: Stage["wait"] = (ask, done, what) =>
    waitFor(ask, done, what, () => pause(LOOK_EVERY_MS));
  return {
    test,
    caip2: first.caip2,
    url,
    deployment: first.deployment,
    node,
    otherNode,
    database,
    async start({ armed = "", ...options } = {}) {
      const ready = kept;
      kept = null;
      if (ready === null) return start(armed, options);
      if (Object.keys(options).length > 0 || ready.hasEnded) {
        await killServers();
        return start(armed, options);
      }
      writeFileSync(ready.points, armed);
      ready.isPlain = armed === "";
      return fromNowOn(ready.server);
    },
    killServers,
    api: (baseUrl) => actors(test, () => baseUrl),
    wait,
    mineUntil: (ask, done, what) =>
      waitFor(ask, done, what, async () => {
        await mine();
        await pause(HURRY_MS);
      }),
    mine,
    async whileMining(work) {
      await call("evm_setIntervalMining", [1]);
      try {
        return await work();
      } finally {
        await call("evm_setIntervalMining", [0]);
      }
    },
    async looked(times = 3) {
      const enough = node.calls() + times * CALLS_OF_A_LOOK * alive().length;
      await wait(
        async () => node.calls(),
        (calls) => calls >= enough,
        "the servers look at the chain",
      );
    },
    rpc: call,
    rows: <Row>(text: string, values: unknown[] = []) => test.db.query<Row>(text, values),
    async reset(spoilt) {
      const [one, ...others] = alive();
      if (spoilt || others.length > 0 || one?.isPlain !== true) await killServers();
      else [started, kept] = [[one], one];
      node.fail(null);
      otherNode.fail(null);
      database.keepOut(null);
    },
    beforeStop: (end) => void ends.push(end),
    async stop() {
      await killServers();
      for (const end of ends) await end();
      await Promise.all([node.stop(), otherNode.stop(), database.stop()]);
      await test.stop();
    },
  };
}

/** An address as the database spells it. */
export const lower = (address: string): string => address.toLowerCase();

/** Runs an operator's command on the stage's database, and expects that it ends well; returns what it printed. */
export async function runCli(stage: Stage, command: string, args: string[] = []): Promise<string> {
  const { stdout } = await promisify(execFile)(
    join(ROOT, "node_modules", ".bin", "node"),
    [join(ROOT, "server", "cli", command), ...args],
    {
      cwd: ROOT,
      env: { ...environment(), ...stage.test.world.serverEnv },
      timeout: WITHIN_MS,
    },
  );
  return stdout;
}
