import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Hex } from "viem";
import { createDatabase, type Database } from "#server/db/client.ts";
import { NODE_FLAGS } from "#server/door/node-flags.ts";
import { environment, migrate } from "#server/sandbox/migrate.ts";
import { ROOT, serverEntry } from "#server/sandbox/prepare.ts";
import { type Running, startProcess } from "#server/sandbox/process.ts";
import { type Demo, seedDemo } from "#server/sandbox/seed.ts";
import { startWorld, type World } from "#server/sandbox/world.ts";

/** A server of ours in production mode, as its own process. */
export type BenchServer = Running & { baseUrl: string; port: number };

/** PostgreSQL, one chain with one-second blocks, the demo's merchants and keys: made for one run and removed after it. */
export type BenchWorld = {
  world: World;
  db: Database;
  demo: Demo;
  shop: Demo["merchants"][number];
  rpcUrl: string;
  caip2: string;
  usdc: string;
  /** Key of the buyer that holds both tokens. */
  buyerKey: Hex;
  startServer(env?: Record<string, string>): Promise<BenchServer>;
  stop(): Promise<void>;
};

async function startServer(world: World, env: Record<string, string>): Promise<BenchServer> {
  const running = await startProcess(
    "server",
    process.execPath,
    [...NODE_FLAGS, serverEntry("main")],
    {
      ready: /listening on (http:\/\/\S+:(\d+))/,
      env: {
        ...environment(),
        ...world.serverEnv,
        NODE_ENV: "production",
        PORT: "0",
        ...env,
      },
      cwd: ROOT,
      graceMs: 10_000,
    },
  );
  return { ...running, baseUrl: running.ready[1] ?? "", port: Number(running.ready[2]) };
}

function required<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("the world is not complete");
  return value;
}

/** Starts a world in a folder of its own under the system's temporary one. */
export async function startBenchWorld(): Promise<BenchWorld> {
  const dir = mkdtempSync(join(tmpdir(), "florin-bench-"));
  const world = await startWorld({ dir, chainIds: [31337] });
  await migrate(world.databaseUrl);
  const db = createDatabase(world.databaseUrl, { max: 4 });
  const { anvil, deployment, caip2 } = required(world.chains[0]);
  const usdc = `${caip2}/erc20:${deployment.usdc.toLowerCase()}`;
  const usdt = `${caip2}/erc20:${deployment.usdt.toLowerCase()}`;
  const demo = await seedDemo(db, { pepper: world.memory.pepper, assets: [usdc, usdt] });
  const servers: BenchServer[] = [];
  return {
    world,
    db,
    demo,
    shop: required(demo.merchants.find(({ flow }) => flow === "intermediary")),
    rpcUrl: anvil.rpcUrl,
    caip2,
    usdc,
    buyerKey: required(world.memory.buyers.find(({ name }) => name === "everything")).key,
    async startServer(env = {}) {
      const server = await startServer(world, env);
      servers.push(server);
      return server;
    },
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
      await db.close();
      await world.stop();
      rmSync(dir, { recursive: true, force: true });
    },
  };
}
