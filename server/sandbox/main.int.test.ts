import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import { readSandbox, type Sandbox } from "#server/cli/sandbox-file.ts";
import { createDatabase } from "#server/db/client.ts";
import { until } from "#server/testing/api.ts";
import { environment } from "./migrate.ts";
import { stopPostgresAt } from "./postgres.ts";
import { argumentsOf } from "./process.ts";
import { loadSurfnet } from "./surfpool.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const START = join(ROOT, "server/sandbox/start.mjs");
const READY = /Florin is running at (\S+)/;
/** Longest wait for the end of what a sandbox started. */
const GONE_WITHIN_MS = 60_000;

let dirs: string[];
let children: ChildProcess[];

// A start would otherwise install, in the middle of the run, what all other tests are using.
beforeAll(() => {
  const lock = createHash("sha256").update(readFileSync(join(ROOT, "package-lock.json")));
  expect(readFileSync(join(ROOT, "node_modules/.florin-installed"), "utf8")).toBe(
    lock.digest("hex"),
  );
});

beforeEach(() => {
  dirs = [];
  children = [];
});

afterEach(async () => {
  // Asked to stop, and waited for: a folder must not be removed from under those who still work in it.
  const running = children.filter(({ exitCode, signalCode }) => (exitCode ?? signalCode) === null);
  await Promise.all(
    running.map((child) => {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      return ended;
    }),
  );
  for (const dir of dirs) {
    await allGone(dir);
    for (const pid of processesOf(dir)) process.kill(pid, "SIGKILL");
    await stopPostgresAt(join(dir, "postgres"));
    rmSync(dir, { recursive: true, force: true });
  }
});

function folder(): string {
  const dir = mkdtempSync(join(tmpdir(), "florin-main-"));
  dirs.push(dir);
  return dir;
}

/** What the first start of a sandbox came to, and what its stop left in the folder. */
type FirstRun = {
  dir: string;
  sandbox: Sandbox;
  mode: number;
  created: number;
  code: number | null;
};

/** Made once, since everything but the first start itself begins with what it leaves. */
let firstRun: Promise<FirstRun> | undefined;

async function makeFirstRun(): Promise<FirstRun> {
  const dir = mkdtempSync(join(tmpdir(), "florin-main-"));
  const first = start(dir);
  await first.ready;
  const sandbox = sandboxOf(dir);
  const { mode } = statSync(join(dir, "sandbox.json"));
  const created = await createPayment(sandbox);
  first.child.kill("SIGTERM");
  return { dir, sandbox, mode, created, code: await first.ended };
}

const ran = (): Promise<FirstRun> => {
  firstRun ??= makeFirstRun();
  return firstRun;
};

/** A folder as a stopped sandbox leaves it. */
async function usedFolder(): Promise<string> {
  const dir = folder();
  execFileSync("cp", ["-a", `${(await ran()).dir}/.`, dir]);
  return dir;
}

afterAll(async () => {
  if (firstRun !== undefined) rmSync((await firstRun).dir, { recursive: true, force: true });
});

/** Every live process that has this sandbox's folder in an argument. */
const processesOf = (dir: string): number[] =>
  readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => pid !== process.pid && argumentsOf(pid).some((word) => word.includes(dir)));

const oneOf = (dir: string, word: string): number => {
  const found = processesOf(dir).filter((pid) => argumentsOf(pid).some((a) => a.includes(word)));
  if (found[0] === undefined) throw new Error(`no process ${word} of ${dir}`);
  return found[0];
};

type Start = {
  child: ChildProcess;
  output(): string;
  ended: Promise<number | null>;
  /** Rejects when it ended before it said that it runs. */
  ready: Promise<void>;
};

function start(dir: string): Start {
  const child = spawn(process.execPath, [START], {
    env: { ...environment(), SANDBOX_DIR: dir, PORT: "0", DATABASE_URL: "" },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let output = "";
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const ready = new Promise<void>((resolve, reject) => {
    const look = (chunk: Buffer) => {
      output += chunk.toString();
      if (READY.test(output)) resolve();
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    ended.then(() => reject(new Error(`ended before it ran:\n${output}`)));
  });
  // Some tests never ask for it.
  ready.catch(() => undefined);
  return { child, output: () => output, ended, ready };
}

function sandboxOf(dir: string): Sandbox {
  const found = readSandbox(dir);
  if (found.kind !== "found") throw new Error(found.message);
  return found.sandbox;
}

async function createPayment({ baseUrl, merchant }: Sandbox): Promise<number> {
  const response = await fetch(`${baseUrl}/v1/merchant/payment`, {
    method: "POST",
    headers: {
      "api-key": merchant.apiKey,
      "merchant-id": merchant.id,
      "content-type": "application/json",
    },
    body: JSON.stringify({
      amount: { unit: "iso4217/USD", value: "1250" },
      referenceId: "order-1",
    }),
    signal: AbortSignal.timeout(10_000),
  });
  return response.status;
}

/** Waits for the end of everything a sandbox started; false when something is left in the end. */
async function allGone(dir: string): Promise<boolean> {
  const end = Date.now() + GONE_WITHIN_MS;
  while (processesOf(dir).length > 0) {
    if (Date.now() > end) return false;
    await new Promise((done) => setTimeout(done, 50));
  }
  return true;
}

// Guarantee: a start ends with a service that takes payments, and with a private file that says how to reach it.
test("a start serves, a stop ends everything, and a second start makes nothing anew", async () => {
  const first = await ran();
  const before = first.sandbox;
  expect(first.mode & 0o077).toBe(0);
  expect(before.merchants.map(({ flow }) => flow)).toEqual(["intermediary", "direct"]);
  expect(before.chains.map(({ caip2 }) => caip2)).toEqual([
    "eip155:31337",
    "eip155:31338",
    ...(loadSurfnet() === null ? [] : [expect.stringMatching(/^solana:.{32}$/)]),
  ]);
  expect(first.created).toBe(201);
  // Anything but 0 would say that the stop had to be cut short.
  expect(first.code).toBe(0);
  expect(processesOf(first.dir)).toEqual([]);

  const dir = await usedFolder();
  const second = start(dir);
  await second.ready;
  expect(second.output()).not.toMatch(/Bundling|Building|Compiling|Generating|new world begins/);
  const after = sandboxOf(dir);
  expect(after.merchants).toEqual(before.merchants);
  // The Solana chain is a new one each time; its accounts keep their keys.
  const contracts = ({ chains }: Sandbox) =>
    chains.filter(({ caip2 }) => caip2.startsWith("eip155:")).map(({ tokens }) => tokens);
  expect(contracts(after)).toEqual(contracts(before));
  const onEvm = ({ accounts }: Sandbox) =>
    accounts.filter(({ caip10 }) => caip10.startsWith("eip155:"));
  expect(onEvm(after)).toEqual(onEvm(before));
  expect(after.accounts.map(({ privateKey }) => privateKey)).toEqual(
    before.accounts.map(({ privateKey }) => privateKey),
  );
  expect(await createPayment(after)).toBe(201);
});

/** Waits until the database knows a block of the first chain that was not saved yet: that one is lost by a kill. */
async function knowsUnsavedBlock(dir: string): Promise<void> {
  const saved = readFileSync(join(dir, "chain-31337.json"), "utf8").slice(0, 100);
  const number = Number(/"number":"(0x[0-9a-f]+)"/.exec(saved)?.[1]);
  const db = createDatabase(sandboxOf(dir).databaseUrl ?? "", { max: 1 });
  try {
    await until(
      () =>
        db.query(
          `select 1 from chain_cursor where chain = 'eip155:31337' and scanned_number > $1`,
          [number],
        ),
      (rows) => rows.length === 1,
    );
  } finally {
    await db.close();
  }
}

type Part = {
  part: string;
  find(dir: string, running: Start): number | Promise<number>;
  /** Whether the rest ends without it. */
  endsAll: boolean;
  keepsWorld: boolean;
};
const mainOf = ({ child: { pid } }: Start) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim());
/** One after the other in one folder; the chain last, since it may cost the world. */
const PARTS: Part[] = [
  {
    part: "the starter",
    find: (_, { child }) => child.pid ?? 0,
    endsAll: true,
    keepsWorld: true,
  },
  {
    part: "the main process",
    find: (_, running) => mainOf(running),
    endsAll: true,
    keepsWorld: true,
  },
  {
    part: "the server",
    find: (dir) => oneOf(dir, ".cache/server/main.mjs"),
    endsAll: true,
    keepsWorld: true,
  },
  {
    part: "PostgreSQL",
    find: (dir) => oneOf(dir, "bin/postgres"),
    endsAll: false,
    keepsWorld: true,
  },
  {
    part: "a chain",
    find: (dir) => knowsUnsavedBlock(dir).then(() => oneOf(dir, "chain-31337.json")),
    endsAll: false,
    keepsWorld: false,
  },
];

// Guarantee: whatever is killed with kill -9, the next start in the same folder runs and takes payments; only a killed chain may cost the world. A killed starter leaves nothing behind that nobody can stop any more.
test("a kill -9 of any part is survived by the next start", async () => {
  const dir = await usedFolder();
  let running = start(dir);
  await running.ready;
  for (const { part, find, endsAll, keepsWorld } of PARTS) {
    const before = sandboxOf(dir);
    process.kill(await find(dir, running), "SIGKILL");
    if (!endsAll) running.child.kill("SIGTERM");
    await running.ended;
    running = start(dir);
    await running.ready;
    const after = sandboxOf(dir);
    expect([part, await createPayment(after)]).toEqual([part, 201]);
    if (keepsWorld) expect([part, after.merchants]).toEqual([part, before.merchants]);
    else expect(running.output()).toMatch(/new world begins/);
  }
  running.child.kill("SIGKILL");
  await running.ended;
  expect(await allGone(dir)).toBe(true);
});

// Guarantee: a second start in the same folder is refused in words and harms nothing; one in another folder runs beside it.
test("two copies run side by side, and never in one folder", async () => {
  const [dir, other] = [await usedFolder(), await usedFolder()];
  const first = start(dir);
  await first.ready;
  const refused = start(dir);
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toMatch(/a sandbox is running in .*SANDBOX_DIR/);
  const beside = start(other);
  await beside.ready;
  expect(sandboxOf(other).baseUrl).not.toBe(sandboxOf(dir).baseUrl);
  expect(await createPayment(sandboxOf(dir))).toBe(201);
  expect(await createPayment(sandboxOf(other))).toBe(201);
});

// Guarantee: a stop that comes while things are still being started ends those too.
test("a stop in the middle of a start leaves nothing running", async () => {
  const dir = folder();
  const first = start(dir);
  await until(
    async () => processesOf(dir),
    (found) => found.length > 0,
  );
  first.child.kill("SIGTERM");
  await first.ended;
  expect(await allGone(dir)).toBe(true);
  expect(first.output()).not.toMatch(READY);
});
