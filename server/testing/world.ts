import { randomUUID } from "node:crypto";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { createDatabase, type Database } from "#server/db/client.ts";
import type { Registry } from "#server/platform/registry.ts";
import { environment, migrate } from "#server/sandbox/migrate.ts";
import { ROOT, serverEntry } from "#server/sandbox/prepare.ts";
import { type Running, startProcess } from "#server/sandbox/process.ts";
import { type Demo, seedDemo } from "#server/sandbox/seed.ts";
import { startWorld, type World } from "#server/sandbox/world.ts";
import { nativeAsset } from "#server/sandbox/world-registry.ts";
import { copyDatabaseTemplate } from "./database-template.ts";

/** A world of its own for a test: PostgreSQL, chains, a seeded database; ports and keys are nobody else's. */
export type TestWorld = {
  world: World;
  db: Database;
  demo: Demo;
  /** Funded buyers by name: `everything`, `usdc`, `usdt`, `empty`. */
  buyer(name: "everything" | "usdc" | "usdt" | "empty"): { key: Hex; address: Hex };
  /** Asset in the registry's spelling. */
  asset(symbol: "usdc" | "usdt", chain?: number): string;
  startServer(options?: ServerOptions): Promise<TestServer>;
  stop(): Promise<void>;
};

export type ServerOptions = {
  /** Added to the world's settings. */
  env?: Record<string, string>;
  /** `worker` starts the worker process instead of the front door. */
  entry?: "main" | "worker";
  /** With the pages: needs a production build. */
  pages?: boolean;
  /** Changes the registry this server reads. */
  registry?: (registry: Registry) => Registry;
};

/** A process of ours under test. `baseUrl` is empty for a worker. */
export type TestServer = Running & { baseUrl: string; output(): string; kill(): Promise<void> };

/** The server without what it printed so far. */
export function fromNowOn(server: TestServer): TestServer {
  const before = server.output();
  const output = () => {
    const all = server.output();
    return all.startsWith(before) ? all.slice(before.length) : all;
  };
  return { ...server, output };
}

/** The world's settings for a server in another mode: what only a sandbox may have is left out. */
function settingsFor(world: World, env: Record<string, string>): Record<string, string> {
  const all = world.serverEnv;
  if ((env.FLORIN_MODE ?? "sandbox") === "sandbox") return all;
  return Object.fromEntries(
    Object.entries(all).filter(([name]) => !name.startsWith("FLORIN_FAUCET_KEY_")),
  );
}

const bin = join(ROOT, "node_modules", ".bin", "node");

async function startServer(world: World, options: ServerOptions = {}): Promise<TestServer> {
  const { env = {}, entry = "main", pages = false } = options;
  if (options.registry !== undefined) {
    const registry: Registry = JSON.parse(readFileSync(world.registryFile, "utf8"));
    const file = join(world.dir, `registry-${randomUUID()}.json`);
    writeFileSync(file, JSON.stringify(options.registry(registry)));
    env.FLORIN_REGISTRY_FILE = file;
  }
  const args = [serverEntry(entry)];
  if (entry === "main" && !pages) args.push("--api-only");
  const running = await startProcess(entry, bin, args, {
    ready: entry === "main" ? /listening on (http:\/\/\S+)/ : /worker/i,
    env: {
      ...environment(),
      LOG_LEVEL: "info",
      ...settingsFor(world, env),
      NODE_ENV: "production",
      PORT: "0",
      ...env,
    },
    cwd: ROOT,
    graceMs: 10_000,
  });
  let ended = false;
  void running.exited.then(() => {
    ended = true;
  });
  const kill = async () => {
    // The number of a process that is gone may be somebody else's by now.
    if (!ended) process.kill(running.pid, "SIGKILL");
    await running.exited;
  };
  return { ...running, baseUrl: running.ready[1] ?? "", kill };
}

/**
 * Starts a world. `chains` is how many networks it has, `firstChainId` names them, `environment` is the demo's; `native` gives the
 * merchants destinations for native coin, so that it is offered.
 */
export async function createTestWorld(
  options: {
    chains?: 1 | 2;
    firstChainId?: number;
    environment?: "test" | "live";
    native?: boolean;
    /** With a Solana chain of this pace, which only tests that ask for it start. */
    solana?: { slotMs: number };
  } = {},
): Promise<TestWorld> {
  const { firstChainId = 31337, environment = "test" } = options;
  const dir = mkdtempSync(join(tmpdir(), "florin-test-"));
  copyDatabaseTemplate(join(dir, "postgres"));
  const world = await startWorld({
    dir,
    chainIds: options.chains === 2 ? [firstChainId, firstChainId + 1] : [firstChainId],
    ...(options.solana === undefined ? {} : { solana: options.solana }),
  });
  const db = createDatabase(world.databaseUrl, { max: 8 });
  const close = async () => {
    await db.close();
    await world.stop();
    rmSync(dir, { recursive: true, force: true });
  };
  const asset: TestWorld["asset"] = (symbol, chain = 0) => {
    const found = world.chains[chain];
    if (found === undefined) throw new Error("no such chain");
    return `${found.caip2}/erc20:${found.deployment[symbol].toLowerCase()}`;
  };
  const assets = [
    ...world.chains.flatMap(({ caip2 }, index) => [
      asset("usdc", index),
      asset("usdt", index),
      ...(options.native === true ? [nativeAsset(caip2)] : []),
    ]),
    ...(world.solana === null ? [] : Object.values(world.solana.assets)),
  ];
  const demo = await migrate(world.databaseUrl)
    .then(() => seedDemo(db, { pepper: world.memory.pepper, assets, environment }))
    .catch(async (error: unknown) => {
      await close();
      throw error;
    });
  const servers: TestServer[] = [];
  return {
    world,
    db,
    demo,
    asset,
    buyer(name) {
      const found = world.memory.buyers.find((buyer) => buyer.name === name);
      if (found === undefined) throw new Error(`no buyer ${name}`);
      return { key: found.key, address: privateKeyToAccount(found.key).address };
    },
    async startServer(serverOptions) {
      const server = await startServer(world, serverOptions);
      servers.push(server);
      return server;
    },
    async stop() {
      await Promise.all(servers.map((server) => server.kill()));
      await close();
    },
  };
}
