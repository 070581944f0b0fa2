import { spawn, spawnSync } from "node:child_process";
import { randomBytes } from "node:crypto";
import {
  chownSync,
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:net";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import { lockFile } from "./lock.ts";
import { findPrograms, type Programs } from "./postgres-programs.ts";
import { argumentsOf, endProcess, isProgram, killThoseIn, worksIn } from "./process.ts";

/** A PostgreSQL server of our own. `url` reaches its `postgres` database as the owner. */
export type Postgres = { url: string; pid: number; port: number; stop(): Promise<void> };

const READY_WITHIN_MS = 60_000;
const LOCK_WITHIN_MS = 60_000;
/** Each way of ending a server, from polite to certain, gets this long. */
const STOP_STEP_MS = 3_000;
const LAUNCH_TRIES = 20;
/** A server that was killed can keep its port for a moment: sessions just begun share it until they notice. */
const PORT_WITHIN_MS = 3_000;
const LOOK_EVERY_MS = 20;
const USER = "florin";
/** What the log says while sessions of a killed server live on. */
const ORPHANS = /shared memory block/;
/** What the log says when another try may work: orphans, or the port was taken. */
const PASSING = new RegExp(`${ORPHANS.source}|Address already in use|lock file .* already exists`);
/** A try that found orphans after as many others ends them: most go by themselves, but one that waits for a dead one never would. */
const PATIENT_TRIES = 5;

type Launched = { pid: number; port: number; alive(): boolean; said(): string };

function portIsFree(port: number): Promise<number | null> {
  return new Promise((done) => {
    const probe = createServer();
    probe.once("error", () => done(null));
    probe.listen(port, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => done(typeof address === "object" ? (address?.port ?? null) : null));
    });
  });
}

/** The port this folder used before, once nobody has it; one that the system chooses when it is new or somebody keeps it. */
async function choosePort(dir: string): Promise<number> {
  const file = join(dir, "port");
  const before = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  const until = Date.now() + PORT_WITHIN_MS;
  let port = await portIsFree(before);
  while (port === null && Date.now() < until) {
    await pause(LOOK_EVERY_MS);
    port = await portIsFree(before);
  }
  port ??= await portIsFree(0);
  if (port === null) throw new Error("no free port on 127.0.0.1");
  writeFileSync(file, `${port}`);
  return port;
}

function initialise(dir: string, data: string, programs: Programs): void {
  const fresh = `${data}.new`;
  rmSync(fresh, { recursive: true, force: true });
  mkdirSync(fresh, { mode: 0o700 });
  const password = randomBytes(24).toString("hex");
  const passwordFile = join(dirname(data), "password.new");
  writeFileSync(passwordFile, password, { mode: 0o600 });
  if (programs.uid !== null)
    for (const path of [fresh, passwordFile]) chownSync(path, programs.uid, programs.uid);
  const [command = "", ...args] = [
    ...programs.prefix,
    programs.path("initdb"),
    ...["-D", fresh, "-U", USER, `--pwfile=${passwordFile}`, "-A", "scram-sha-256"],
    ...["-E", "UTF8", "--locale=C"],
  ];
  const made = spawnSync(command, args, { encoding: "utf8", cwd: "/", ...userOf(programs) });
  if (made.status !== 0)
    throw new Error(
      `PostgreSQL could not be set up in ${dir}: ${made.stderr || made.error?.message}`,
    );
  rmSync(passwordFile);
  writeFileSync(join(dir, "password"), password, { mode: 0o600 });
  renameSync(fresh, data);
}

const userOf = ({ uid }: Programs) => (uid === null ? {} : { uid, gid: uid });

/** Refuses a data folder that these programs cannot serve; true when there is one, false when it has yet to be made. */
function isUsable(data: string, { major }: Programs): boolean {
  if (!existsSync(data)) return false;
  const file = join(data, "PG_VERSION");
  if (!existsSync(file) || !statSync(join(data, "base"), { throwIfNoEntry: false })?.isDirectory())
    throw new Error(
      `${data} is not a PostgreSQL data folder: move it away, and a new one is made at the next start`,
    );
  const version = readFileSync(file, "utf8").trim();
  if (version !== major)
    throw new Error(
      `${data} was made by PostgreSQL ${version} and this is ${major}: move it away for a new one, or set DATABASE_URL`,
    );
  return true;
}

/** By its arguments, or, for one that was started in other words, by the folder it works in. */
const isServer = (pid: number, data: string) =>
  isProgram(argumentsOf(pid), "postgres", ["-D", data]) ||
  (existsSync(data) && worksIn(pid, realpathSync(data), "postgres"));

/** The server that already runs on this data folder, verified; null: none. Throws where somebody repairs the data by hand. */
function runningServer(data: string): { pid: number; port: number } | null {
  const file = join(data, "postmaster.pid");
  if (!existsSync(file)) return null;
  const lines = readFileSync(file, "utf8").split("\n");
  const pid = Number(lines[0]);
  // The number of a server for one user is negative, and it takes no connections.
  if (pid < 0 && isServer(-pid, data))
    throw new Error(`PostgreSQL serves ${data} to one user (process ${-pid}): end that first`);
  if (isServer(pid, data)) return { pid, port: Number(lines[3]) };
  // A stale file, or a number that now belongs to a stranger: only the file goes, never the process.
  rmSync(file, { force: true });
  return null;
}

/** Null when the server answers; otherwise what kept it from that. */
async function waitUntilReady(url: string, server: Launched): Promise<Error | null> {
  const until = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: 2_000 });
    // A connection that breaks while it is being made reports twice; the second report is this event.
    client.on("error", () => undefined);
    try {
      await client.connect();
      await client.query("select 1");
      return null;
    } catch (error) {
      if (!server.alive() || Date.now() > until)
        return new Error(`PostgreSQL did not start:\n${server.said()}`, { cause: error });
      await pause(LOOK_EVERY_MS);
    } finally {
      await client.end().catch(() => undefined);
    }
  }
}

const stopServer = (pid: number, data: string) =>
  endProcess(pid, "postgres", ["-D", data], ["SIGINT", "SIGQUIT", "SIGKILL"], STOP_STEP_MS);

/** Ends the server on a folder, if one runs there. */
export async function stopPostgresAt(
  dir: string,
  { namespaces = true }: { namespaces?: boolean } = {},
): Promise<void> {
  if (!existsSync(dir)) return;
  const data = findPrograms({ namespaces }).dataOf(realpathSync(dir));
  const running = runningServer(data);
  if (running !== null) await stopServer(running.pid, data);
}

async function launch(dir: string, data: string, programs: Programs): Promise<Launched> {
  const port = await choosePort(dir);
  const logFile = join(dir, "log");
  const log = openSync(logFile, "a", 0o600);
  const before = statSync(logFile).size;
  const settings = [
    `port=${port}`,
    "listen_addresses=127.0.0.1",
    "unix_socket_directories=",
    "max_connections=200",
  ];
  const [command = "", ...args] = [
    ...programs.prefix,
    programs.path("postgres"),
    ...["-D", data, ...settings.flatMap((setting) => ["-c", setting])],
  ];
  const child = spawn(command, args, {
    stdio: ["ignore", log, log],
    cwd: "/",
    // Not in our process group: Ctrl-C must reach the starter alone, which then stops things in order.
    detached: true,
    ...userOf(programs),
  });
  closeSync(log);
  let failure = "";
  child.once("error", (error) => {
    failure = error.message;
  });
  child.unref();
  return {
    pid: child.pid ?? 0,
    port,
    alive: () => failure === "" && child.exitCode === null && child.signalCode === null,
    said: () => failure || readFileSync(logFile).subarray(before).toString().slice(-2_000),
  };
}

async function startLocked(dir: string, programs: Programs): Promise<Postgres> {
  const data = programs.dataOf(dir);
  if (!isUsable(data, programs)) initialise(dir, data, programs);
  const password = readFileSync(join(dir, "password"), "utf8");
  for (let tries = 1; ; tries++) {
    const running = runningServer(data);
    const server: Launched =
      running === null
        ? await launch(dir, data, programs)
        : { ...running, alive: () => isServer(running.pid, data), said: () => "it ended" };
    const url = `postgresql://${USER}:${password}@127.0.0.1:${server.port}/postgres`;
    const failed = await waitUntilReady(url, server);
    if (failed === null)
      return {
        url,
        pid: server.pid,
        port: server.port,
        stop: () => stopServer(server.pid, data),
      };
    const passing = running !== null || PASSING.test(server.said());
    if (!passing || tries === LAUNCH_TRIES) throw failed;
    // Nobody serves these data, and whoever would must come by the lock that we have: what still works there is of a dead server.
    if (tries >= PATIENT_TRIES && ORPHANS.test(server.said()))
      killThoseIn(realpathSync(data), "postgres");
    await pause(200);
  }
}

/**
 * Starts PostgreSQL on `dir`, or takes over the server that an earlier, killed process left running there. Everything it keeps
 * is in `dir`; fsync stays on. Throws with what PostgreSQL said when the folder is unusable. `namespaces: false` behaves as on a
 * system that refuses user namespaces.
 */
export async function startPostgres(options: {
  dir: string;
  namespaces?: boolean;
}): Promise<Postgres> {
  mkdirSync(options.dir, { recursive: true, mode: 0o700 });
  // One spelling of the path, whatever links lead here: a running server is known by it.
  const dir = realpathSync(options.dir);
  const unlock = await lockFile(join(dir, "starting"), LOCK_WITHIN_MS);
  if (unlock === null) throw new Error(`another process is starting PostgreSQL in ${dir}`);
  try {
    return await startLocked(dir, findPrograms({ namespaces: options.namespaces ?? true }));
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
