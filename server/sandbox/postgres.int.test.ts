import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { afterEach, beforeEach, expect, test } from "vitest";
import { startPostgres, stopPostgresAt } from "./postgres.ts";
import { argumentsOf } from "./process.ts";

const MODULE = new URL("./postgres.ts", import.meta.url).href;
const root = process.getuid?.() === 0;

let dir: string;
let children: ChildProcess[];

beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "florin-pg-"));
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await stopPostgresAt(dir);
  rmSync(dir, { recursive: true, force: true });
});

async function ask<T>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows as T[];
  } finally {
    await client.end();
  }
}

/** Another process that starts the server, says where, and then only waits to be killed. */
async function starter(): Promise<{ child: ChildProcess; pid: number; url: string }> {
  const script = `
    import { startPostgres } from ${JSON.stringify(MODULE)};
    const { pid, url } = await startPostgres({ dir: ${JSON.stringify(dir)} });
    process.stdout.write(JSON.stringify({ pid, url }) + "\\n");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, ["--input-type=module", "-e", script], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  children.push(child);
  const [line] = (await once(child.stdout as NonNullable<typeof child.stdout>, "data")) as [Buffer];
  return { child, ...(JSON.parse(line.toString()) as { pid: number; url: string }) };
}

async function killed(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** A live process that is not PostgreSQL, however much its name and arguments speak of it. */
function stranger(): ChildProcess {
  const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)", join(dir, "data")], {
    argv0: `tail ${join(dir, "postgres", "data")}`,
    stdio: "ignore",
  });
  children.push(child);
  return child;
}

// Guarantee: a first start makes a durable server that only this machine reaches and only with a password.
test("a fresh folder becomes a durable local server", async () => {
  const server = await startPostgres({ dir });
  const settings = await ask<{ name: string; setting: string }>(
    server.url,
    `select name, setting from pg_settings
     where name in ('fsync', 'listen_addresses', 'unix_socket_directories', 'synchronous_commit') order by name`,
  );
  expect(Object.fromEntries(settings.map(({ name, setting }) => [name, setting]))).toEqual({
    fsync: "on",
    listen_addresses: "127.0.0.1",
    synchronous_commit: "on",
    unix_socket_directories: "",
  });
  const open = new URL(server.url);
  open.password = "wrong";
  await expect(ask(open.href, "select 1")).rejects.toThrow(/password authentication failed/);
});

// Guarantee: a second start finds the data of the first under the same address.
test("a second start keeps data and address", async () => {
  const first = await startPostgres({ dir });
  await ask(first.url, "create table kept as select 42 as n");
  await first.stop();
  expect(existsSync(join(dir, "data", "postmaster.pid"))).toBe(false);
  const second = await startPostgres({ dir });
  expect(second.url).toBe(first.url);
  expect(await ask(second.url, "select n from kept")).toEqual([{ n: 42 }]);
});

// Guarantee: a server whose starter was killed is taken over as it runs, and can be stopped by who took it over.
test("a server that outlived its starter is adopted", async () => {
  const first = await starter();
  await ask(first.url, "create table kept as select 7 as n");
  await killed(first.child);
  const second = await startPostgres({ dir });
  expect(second.pid).toBe(first.pid);
  expect(await ask(second.url, "select n from kept")).toEqual([{ n: 7 }]);
  await second.stop();
  await expect(ask(first.url, "select 1")).rejects.toThrow(/ECONNREFUSED/);
});

// Guarantee: acknowledged writes survive the server's own kill -9, and a start right after it succeeds.
test("a killed server starts again at once and has lost nothing", async () => {
  const first = await startPostgres({ dir });
  await ask(first.url, "create table kept (n int)");
  await ask(first.url, "insert into kept select generate_series(1, 1000)");
  process.kill(first.pid, "SIGKILL");
  const second = await startPostgres({ dir });
  expect(second.pid).not.toBe(first.pid);
  expect(await ask(second.url, "select count(*)::int as n from kept")).toEqual([{ n: 1000 }]);
});

// Guarantee: a session of a killed server that would never end by itself does not keep the data from being served again.
test.runIf(process.platform === "linux")(
  "a session that outlives its server is ended",
  async () => {
    const first = await startPostgres({ dir });
    const client = new pg.Client({ connectionString: first.url });
    client.on("error", () => undefined);
    await client.connect();
    const { rows } = await client.query("select pg_backend_pid() as pid, 7 as n into kept");
    expect(rows).toEqual([]);
    const session = (await client.query("select pid from kept")).rows[0].pid;
    process.kill(session, "SIGSTOP");
    process.kill(first.pid, "SIGKILL");
    const second = await startPostgres({ dir });
    expect(await ask(second.url, "select n from kept")).toEqual([{ n: 7 }]);
    expect(argumentsOf(session)).toEqual([]);
    await client.end().catch(() => undefined);
  },
);

// Guarantee: a server that was started in other words, or whose folder has another name since, is known by where it works: never a second one beside it, and it is not killed.
test.runIf(process.platform === "linux")("a server whose folder was renamed", async () => {
  const first = await startPostgres({ dir });
  await ask(first.url, "select 7 as n into kept");
  const moved = `${dir}-moved`;
  renameSync(dir, moved);
  const second = await startPostgres({ dir: moved });
  expect([second.pid, second.port]).toEqual([first.pid, first.port]);
  expect(await ask(second.url, "select n from kept")).toEqual([{ n: 7 }]);
  renameSync(moved, dir);
});

// Guarantee: a process that merely has the number of a dead server is never signalled, neither by a start nor by a stop.
test("a stale pid file that names a stranger leaves the stranger alone", async () => {
  await (await startPostgres({ dir })).stop();
  const other = stranger();
  const file = join(dir, "data", "postmaster.pid");
  const stale = `${other.pid}\n${join(dir, "data")}\n1\n5999\n\n127.0.0.1\n 1 2\nready\n`;
  writeFileSync(file, stale);
  await stopPostgresAt(dir);
  expect([other.exitCode, other.signalCode]).toEqual([null, null]);
  writeFileSync(file, stale);
  const server = await startPostgres({ dir });
  expect(server.pid).not.toBe(other.pid);
  expect([other.exitCode, other.signalCode]).toEqual([null, null]);
});

// Guarantee: a pid file of a process that is gone does not keep the server from starting.
test("a stale pid file that names nobody is no obstacle", async () => {
  const first = await startPostgres({ dir });
  const file = join(dir, "data", "postmaster.pid");
  const left = readFileSync(file, "utf8");
  await first.stop();
  writeFileSync(file, left);
  await expect(startPostgres({ dir })).resolves.toMatchObject({ port: first.port });
});

// Guarantee: two starters on one empty folder end up with one server and one password.
test("two starters at once share one server", async () => {
  const [first, second] = await Promise.all([starter(), starter()]);
  expect(second.url).toBe(first.url);
  expect(second.pid).toBe(first.pid);
  expect(await ask(second.url, "select 1 as n")).toEqual([{ n: 1 }]);
});

// Guarantee: the same folder by another path is the same server: it is adopted, and its pid file is not taken from under it.
test("a link to the folder leads to the running server", async () => {
  const first = await startPostgres({ dir });
  const link = `${dir}-link`;
  symlinkSync(dir, link);
  try {
    const second = await startPostgres({ dir: link });
    expect(second.pid).toBe(first.pid);
    expect(existsSync(join(dir, "data", "postmaster.pid"))).toBe(true);
  } finally {
    rmSync(link);
  }
});

/** The port of a server that ran here, now in somebody else's hands. */
async function heldPort(): Promise<{ port: number; holder: Server }> {
  const { port, stop } = await startPostgres({ dir });
  await stop();
  const holder = createServer().listen(port, "127.0.0.1");
  await once(holder, "listening");
  return { port, holder };
}

// Guarantee: a port that the last sessions of a killed server hold for a moment stays the server's: those who know it find it again.
test("a port held for a moment is waited for", async () => {
  const { port, holder } = await heldPort();
  setTimeout(() => holder.close(), 200);
  const second = await startPostgres({ dir });
  expect(second.port).toBe(port);
  await second.stop();
});

// Guarantee: a port that somebody took meanwhile is replaced instead of failing the start.
test("a taken port is replaced", async () => {
  const { port, holder } = await heldPort();
  try {
    const second = await startPostgres({ dir });
    expect(second.port).not.toBe(port);
    expect(await ask(second.url, "select 1 as n")).toEqual([{ n: 1 }]);
  } finally {
    holder.close();
  }
});

// Guarantee: data of another major version is refused with a sentence that says what to do, and is not touched.
test("another version's data is refused in words", async () => {
  await (await startPostgres({ dir })).stop();
  const file = join(dir, "data", "PG_VERSION");
  writeFileSync(file, "15\n");
  await expect(startPostgres({ dir })).rejects.toThrow(/made by PostgreSQL 15.*DATABASE_URL/);
  expect(readFileSync(file, "utf8")).toBe("15\n");
  writeFileSync(file, "18\n");
});

// Guarantee: a folder that holds something else is refused and not overwritten.
test("a folder that is no data folder is refused in words", async () => {
  mkdirSync(join(dir, "data"));
  writeFileSync(join(dir, "data", "mine.txt"), "do not delete");
  await expect(startPostgres({ dir })).rejects.toThrow(/not a PostgreSQL data folder/);
  expect(readFileSync(join(dir, "data", "mine.txt"), "utf8")).toBe("do not delete");
});

// Guarantee: root can run it where user namespaces are refused, and the server is then not root's.
test.runIf(root)("without user namespaces the server runs as nobody", async () => {
  const server = await startPostgres({ dir, namespaces: false });
  try {
    expect(readFileSync(`/proc/${server.pid}/status`, "utf8")).toMatch(/^Uid:\s+65534\s/m);
    await ask(server.url, "create table kept as select 3 as n");
    await server.stop();
    const second = await startPostgres({ dir, namespaces: false });
    expect(await ask(second.url, "select n from kept")).toEqual([{ n: 3 }]);
  } finally {
    await stopPostgresAt(dir, { namespaces: false });
  }
});
