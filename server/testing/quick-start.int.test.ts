import { type ChildProcess, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { QUICK_START } from "#components/docs/quick-start.ts";
import { readSandbox, type Sandbox } from "#server/cli/sandbox-file.ts";
import { createMerchantClient } from "#server/client/merchant/client.ts";
import { environment } from "#server/sandbox/migrate.ts";
import { stopPostgresAt } from "#server/sandbox/postgres.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { until } from "./api.ts";

/** A program that runs until the end of the test. */
type Running = { child: ChildProcess; output(): string };

let dir: string;
/** Programs that import ours must lie inside this package. */
let files: string;
let env: NodeJS.ProcessEnv;
let shell: Running;
let placeholder: Server;
const running: Running[] = [];
const ran: string[] = [];

function run(command: string, args: string[], more: Record<string, string> = {}): Running {
  const child = spawn(command, args, {
    cwd: ROOT,
    env: { ...env, ...more },
    // A group of its own, so that what npm starts ends with it.
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr])
    stream?.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
  const started = { child, output: () => output };
  running.push(started);
  return started;
}

async function stop({ child }: Running): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return;
  const ended = once(child, "exit");
  process.kill(-child.pid, "SIGTERM");
  await ended;
}

/** Waits until the output says something; fails with the output when the program ended before. */
async function says(
  program: Running,
  pattern: RegExp,
  withinMs = 60_000,
): Promise<RegExpExecArray> {
  const found = await until(
    async () => pattern.exec(program.output()) ?? program.child.exitCode,
    (seen) => seen !== null,
    withinMs,
  ).catch(() => null);
  if (found === null || typeof found === "number")
    throw new Error(`${pattern} was not said:\n${program.output()}`);
  return found;
}

function sample(id: string): string {
  const found = QUICK_START.find((one) => one.id === id);
  if (found === undefined) throw new Error(`no sample ${id}`);
  ran.push(id);
  return found.code;
}

/** Runs a sample in the one shell all of them share; returns what it printed. */
async function inShell(id: string): Promise<string> {
  const before = shell.output().length;
  shell.child.stdin?.write(`${sample(id)}\necho "ended:${id}:$?"\n`);
  const [whole, code] = await says(shell, new RegExp(`ended:${id}:(\\d+)`), 90_000);
  const printed = shell.output().slice(before).replace(whole, "");
  expect(`${id} ended with ${code}\n${printed}`).toContain(`${id} ended with 0`);
  return printed;
}

function asProgram(id: string, name: string, more: Record<string, string> = {}): Running {
  const file = join(files, name);
  writeFileSync(file, sample(id));
  return run("npx", ["node", file], more);
}

/** Takes a port until `placeholder` is closed, so that nobody else gets it before the program that is to have it. */
async function takePort(): Promise<string> {
  placeholder = createServer().listen(0, "127.0.0.1");
  await once(placeholder, "listening");
  const address = placeholder.address();
  return String(typeof address === "object" ? address?.port : "");
}

function sandbox(): Sandbox {
  const found = readSandbox(dir);
  if (found.kind !== "found") throw new Error(found.message);
  return found.sandbox;
}

const client = () => {
  const { baseUrl, merchant } = sandbox();
  return createMerchantClient({ baseUrl, apiKey: merchant.apiKey, merchantId: merchant.id });
};

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "florin-quick-start-"));
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  files = mkdtempSync(join(ROOT, ".cache", "quick-start-"));
  // A start would otherwise install, in the middle of the run, what all other tests are using.
  const lock = createHash("sha256").update(readFileSync(join(ROOT, "package-lock.json")));
  expect(readFileSync(join(ROOT, "node_modules/.florin-installed"), "utf8")).toBe(
    lock.digest("hex"),
  );
  env = {
    ...environment(),
    SANDBOX_DIR: dir,
    PORT: "0",
    DATABASE_URL: "",
    RECEIVER_PORT: await takePort(),
  };
  await says(run("bash", ["-c", sample("start")]), /Florin is running at \S+/, 110_000);
  shell = run("bash", ["-c", "exec 2>&1; exec bash"]);
});

afterAll(async () => {
  placeholder.close();
  // The first one is the sandbox: what talks to it ends before it.
  for (const program of running.toReversed()) await stop(program);
  await stopPostgresAt(join(dir, "postgres"));
  rmSync(dir, { recursive: true, force: true });
  rmSync(files, { recursive: true, force: true });
});

// Guarantee: who follows the quick start to the letter ends with a paid, reported and partly refunded payment.
test("every sample of the quick start works as it stands", async () => {
  await inShell("keys");
  const listening = run("bash", ["-c", sample("listen")]);
  const [, secret = ""] = await says(listening, /Signing secret: (whsec_\S+)/);
  placeholder.close();
  await once(placeholder, "close");
  const receiver = asProgram("receive", "receiver.ts", { WEBHOOK_SECRET: secret });

  const created = JSON.parse(await inShell("create"));
  expect(created).toMatchObject({ status: "requires_action", isFinal: false });
  const { paymentId } = created;
  expect(created.gatewayUrl).toContain(paymentId);

  expect(await inShell("pay")).toContain(paymentId);
  expect(JSON.parse(await inShell("status"))).toMatchObject({ status: "succeeded", isFinal: true });
  await says(receiver, new RegExp(`received payment.created ${paymentId}`));
  await says(receiver, new RegExp(`received payment.succeeded ${paymentId}`));

  const refund = JSON.parse(await inShell("refund"));
  expect(refund).toMatchObject({ paymentId, kind: "execute", amount: { value: "5000000" } });
  expect(["pending", "awaiting_merchant"]).toContain(refund.status);
  expect((await client().getRefund({ refundId: refund.id })).id).toBe(refund.id);

  const { baseUrl, merchant } = sandbox();
  const shop = asProgram("program", "shop.ts", {
    FLORIN: baseUrl,
    API_KEY: merchant.apiKey,
    MERCHANT_ID: merchant.id,
  });
  const [, second = ""] = await says(
    shop,
    /Send the buyer to \S+\/(pay_\w+)\nIt is requires_action/,
  );
  await says(receiver, new RegExp(`received payment.created ${second}`));

  expect(ran).toEqual(QUICK_START.map(({ id }) => id));
});
