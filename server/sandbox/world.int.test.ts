import {
  copyFileSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { readEnv } from "#server/platform/env.ts";
import { migrate } from "./migrate.ts";
import { rpc } from "./node-rpc.ts";
import { startPostgres, stopPostgresAt } from "./postgres.ts";
import { argumentsOf } from "./process.ts";
import { startWorld, type World } from "./world.ts";

let dir: string;
let worlds: World[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "florin-world-"));
  worlds = [];
});

afterEach(async () => {
  for (const world of worlds) await world.stop();
  await stopPostgresAt(join(dir, "postgres"));
  await stopPostgresAt(join(dir, "theirs"));
  rmSync(dir, { recursive: true, force: true });
});

async function start(options: { databaseUrl?: string } = {}) {
  const said: string[] = [];
  const world = await startWorld({ dir, say: (line) => said.push(line), ...options });
  worlds.push(world);
  return { world, said };
}

async function query<T>(url: string, text: string, values: unknown[] = []): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text, values)).rows as T[];
  } finally {
    await client.end();
  }
}

/** Leaves in the database what a scan of the chain's present head would. */
async function rememberHead(world: World): Promise<void> {
  const chain = world.chains[0];
  if (chain === undefined) throw new Error("no chain");
  const head = await rpc<{ number: string; hash: string }>(
    chain.anvil.rpcUrl,
    "eth_getBlockByNumber",
    ["latest", false],
  );
  await query(
    world.databaseUrl,
    `insert into chain_cursor (chain, scanned_number, scanned_hash, latest_number, safe_number, finalized_number, finalized_time)
     values ($1, $2::bigint, $3, $2::bigint, 0, 0, 0)`,
    [chain.caip2, BigInt(head.number).toString(), head.hash],
  );
}

const stateFile = (chainId: number) => join(dir, `chain-${chainId}.json`);

// Guarantee: a fresh world gives a server everything it insists on, and nobody else may read its keys.
test("a fresh world is a usable configuration", async () => {
  const { world } = await start();
  expect(world.fresh).toBe(true);
  const env = readEnv({ ...world.serverEnv, PORT: "0" });
  expect(env.FLORIN_MODE).toBe("sandbox");
  expect(env.chains.map(({ entry }) => entry.caip2)).toEqual(["eip155:31337", "eip155:31338"]);
  expect(env.chains.map(({ entry }) => entry.tokens.map(({ symbol }) => symbol))).toEqual([
    ["USDC", "USDT"],
    ["USDC", "USDT"],
  ]);
  expect(statSync(join(dir, "world.json")).mode & 0o077).toBe(0);
  expect(statSync(world.registryFile).mode & 0o077).toBe(0);
});

// Guarantee: two worlds share no token address and no key, so nothing of one works in another or on a public network.
test("addresses and keys are this world's alone", async () => {
  const { world } = await start();
  const other = mkdtempSync(join(tmpdir(), "florin-world-"));
  const second = await startWorld({ dir: other });
  try {
    const tokens = (of: World) => of.chains.flatMap(({ deployment: d }) => [d.usdc, d.usdt]);
    const keys = (of: World) =>
      [of.memory.intermediaryKey, ...of.memory.buyers.map(({ key }) => key)].concat(
        of.memory.chains.flatMap((c) => [...c.relayerKeys, c.spenderKey, c.ownerKey]),
      );
    const all = [...tokens(world), ...tokens(second), ...keys(world), ...keys(second)];
    expect(new Set(all).size).toBe(all.length);
    const [first] = world.chains;
    expect(await rpc(first?.anvil.rpcUrl ?? "", "eth_accounts")).toEqual([]);
  } finally {
    await second.stop();
    rmSync(other, { recursive: true, force: true });
  }
});

// Guarantee: a normal stop and start goes on with the same chains, contracts, keys and data.
test("a second start keeps the world", async () => {
  const { world: first } = await start();
  await migrate(first.databaseUrl);
  await rememberHead(first);
  await query(first.databaseUrl, "create table kept as select 5 as n");
  await first.stop();
  const { world: second, said } = await start();
  expect({ fresh: second.fresh, said }).toEqual({ fresh: false, said: [] });
  expect(second.memory).toEqual(first.memory);
  expect(await query(second.databaseUrl, "select n from kept")).toEqual([{ n: 5 }]);
});

// Guarantee: a chain that is behind what the database scanned ends that world, aloud; chains and database begin anew together.
test("lost blocks begin a new world", async () => {
  const { world: first } = await start();
  await migrate(first.databaseUrl);
  await first.stop();
  copyFileSync(stateFile(31337), join(dir, "older.json"));
  const { world: second } = await start();
  const [chain] = second.chains;
  await rpc(chain?.anvil.rpcUrl ?? "", "anvil_mine", ["0x40"]);
  await rememberHead(second);
  await second.stop();
  copyFileSync(join(dir, "older.json"), stateFile(31337));
  const { world: third, said } = await start();
  expect(third.fresh).toBe(true);
  expect(said.join()).toMatch(/new world.*eip155:31337.*lost blocks/);
  expect(third.databaseUrl).not.toBe(first.databaseUrl);
  expect(await query(third.databaseUrl, "select to_regclass('chain_cursor') as t")).toEqual([
    { t: null },
  ]);
});

// Guarantee: killed chains leave a folder that the next start can use.
test("killed chains are survived by the next start", async () => {
  const { world: first } = await start();
  for (const { anvil } of first.chains) process.kill(anvil.pid, "SIGKILL");
  await first.stop();
  const { world: second } = await start();
  const [chain] = second.chains;
  expect(await rpc(chain?.anvil.rpcUrl ?? "", "eth_chainId")).toBe("0x7a69");
});

// Guarantee: a database that does not hold what the world's keys belong to ends that world, instead of serving keys nobody knows.
test("a lost database begins a new world", async () => {
  const { world: first } = await start();
  first.remember({ partnerId: "par_known" });
  await first.stop();
  rmSync(join(dir, "postgres"), { recursive: true });
  const { world: second, said } = await start();
  expect(second.fresh).toBe(true);
  expect(second.memory.seed).toBeNull();
  expect(said.join()).toMatch(/database is not the one/);
});

// Guarantee: a state file that a kill cut in half begins a new world instead of failing every start from then on.
test("a truncated chain state begins a new world", async () => {
  const { world: first } = await start();
  await first.stop();
  truncateSync(stateFile(31338), 5_000);
  const { world: second, said } = await start();
  expect(second.fresh).toBe(true);
  expect(said.join()).toMatch(/new world/i);
});

// Guarantee: a start in a folder whose world is running is refused and does no harm to it.
test("a running world is not disturbed by a second start", async () => {
  const { world: first } = await start();
  const before = readFileSync(join(dir, "world.json"), "utf8");
  await expect(startWorld({ dir })).rejects.toThrow(/SANDBOX_DIR/);
  for (const { anvil } of first.chains) expect(argumentsOf(anvil.pid)).toContain("--chain-id");
  expect(await query(first.databaseUrl, "select 1 as n")).toEqual([{ n: 1 }]);
  expect(readFileSync(join(dir, "world.json"), "utf8")).toBe(before);
});

// Guarantee: a start that fails leaves no process behind.
test("a failed start leaves nothing running", async () => {
  const theirs = await startPostgres({ dir: join(dir, "theirs") });
  await migrate(theirs.url);
  await query(theirs.url, "insert into partner (id, name, api_version) values ('par_x', 'x', 'v')");
  await expect(startWorld({ dir, databaseUrl: theirs.url })).rejects.toThrow(/DATABASE_URL/);
  const left = readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => argumentsOf(Number(pid)).includes(stateFile(31337)));
  expect(left).toEqual([]);
  const { world } = await start();
  expect(world.fresh).toBe(true);
});

// Guarantee: DATABASE_URL is used as it is, no PostgreSQL of ours is started, and a second start finds the same world.
test("a given database is used and kept", async () => {
  const theirs = await startPostgres({ dir: join(dir, "theirs") });
  const { world: first } = await start({ databaseUrl: theirs.url });
  expect(first.databaseUrl).toBe(theirs.url);
  expect(existsSync(join(dir, "postgres"))).toBe(false);
  await migrate(first.databaseUrl);
  await rememberHead(first);
  await first.stop();
  expect(await query(theirs.url, "select 1 as n")).toEqual([{ n: 1 }]);
  const { world: second } = await start({ databaseUrl: theirs.url });
  expect(second.fresh).toBe(false);
});

// Guarantee: a given database is never emptied or dropped: when its world is over, the start stops and says what to do.
test("a given database that is ahead of its chains stops the start", async () => {
  const theirs = await startPostgres({ dir: join(dir, "theirs") });
  const { world } = await start({ databaseUrl: theirs.url });
  await migrate(theirs.url);
  await rememberHead(world);
  await query(theirs.url, "insert into partner (id, name, api_version) values ('par_x', 'x', 'v')");
  await query(theirs.url, "update chain_cursor set scanned_number = scanned_number + 100000");
  await world.stop();
  await expect(startWorld({ dir, databaseUrl: theirs.url })).rejects.toThrow(
    /lost blocks.*DATABASE_URL/s,
  );
  expect(await query(theirs.url, "select id from partner")).toEqual([{ id: "par_x" }]);
});

// Guarantee: what an operator has to mend is named: a database that is away by its setting, a broken file with the way out.
test("a start that cannot be names what to mend", async () => {
  const databaseUrl = "postgresql://florin@127.0.0.1:1/florin";
  await expect(startWorld({ dir, databaseUrl })).rejects.toThrow(/^DATABASE_URL: .*ECONNREFUSED/);
  writeFileSync(join(dir, "world.json"), '{"database": "flo');
  await expect(startWorld({ dir })).rejects.toThrow(/world\.json is broken.*delete the folder/);
});
