import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environment } from "#server/sandbox/migrate.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { actors } from "./api.ts";
import { askForData, asWallet, buyerOf, FORM } from "./collect.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
let paymentId: string;
let account: string;
const baseUrl = () => server.baseUrl;

/** Runs one of our commands as an operator does. */
function run(script: string, args: string[], env: Record<string, string>) {
  const child = spawn(
    join(ROOT, "node_modules/.bin/node"),
    [join(ROOT, "server/cli", script), ...args],
    {
      cwd: ROOT,
      env: { ...environment(), ...env },
      stdio: ["ignore", "pipe", "pipe"],
      timeout: 60_000,
    },
  );
  const out = { stdout: "", stderr: "" };
  child.stdout.on("data", (chunk) => {
    out.stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    out.stderr += chunk;
  });
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, ...out }));
  });
}

const collected = (args: string[], env: Record<string, string> = {}) =>
  run("collected.ts", args, {
    DATABASE_URL: world.world.databaseUrl,
    FLORIN_DATA_SECRET: world.world.memory.dataSecret,
    ...env,
  });
const LOOK = ["--reader", "dana", "--reason", "police request 7"];
const looks = () =>
  world.db.query(
    `select reader, payment_id, account, names, reason from collected_read order by id`,
  );

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer();
  const api = actors(world, baseUrl);
  const asking = world.demo.merchants.find(({ flow }) => flow === "intermediary");
  await askForData(world, () => api.create(), { merchantId: asking?.id ?? "", when: "always" });
  const buyer = buyerOf(world, baseUrl, world.buyer("usdc").key);
  paymentId = (await api.create()).body.paymentId;
  account = buyer.canonical;
  const option = await buyer.option(paymentId);
  await buyer.confirm(paymentId, option.id, await buyer.sign(option), asWallet());
  await buyer.final(paymentId);
});
afterAll(() => world?.stop());

// Guarantee: nobody looks at personal data without a name and a reason, and such a try shows nothing.
test("a look without reader or reason", async () => {
  for (const args of [
    [],
    [paymentId],
    [paymentId, "--reader", "dana"],
    [paymentId, "--reason", "police request 7"],
    [paymentId, "--reader", " ", "--reason", "police request 7"],
    [paymentId, "--reader", "dana", "--reason", "    "],
    [paymentId, paymentId, ...LOOK],
    [paymentId, ...LOOK, "--quiet"],
  ]) {
    const { code, stdout } = await collected(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
  }
  expect(await looks()).toEqual([]);
});

// Guarantee: every look is recorded with who, what and why, and the record cannot be changed.
test("a look", async () => {
  const { code, stdout } = await collected([paymentId, ...LOOK]);
  expect(code).toBe(0);
  for (const value of Object.values(FORM)) expect(stdout).toContain(String(value));
  const look = {
    reader: "dana",
    payment_id: paymentId,
    account,
    names: Object.keys(FORM).sort(),
    reason: "police request 7",
  };
  expect(await looks()).toEqual([look]);
  await expect(world.db.query(`delete from collected_read`)).rejects.toThrow();
  await expect(world.db.query(`update collected_read set reader = 'x'`)).rejects.toThrow();
  expect(await collected(["pay_none", ...LOOK])).toMatchObject({ code: 1 });
  expect(await looks()).toEqual([look]);
});

// Guarantee: without the secret the database is worth nothing, and a row that was put elsewhere does not open.
test("data that does not open", async () => {
  const other = await collected([paymentId, ...LOOK], { FLORIN_DATA_SECRET: "x".repeat(32) });
  expect(other).toMatchObject({
    code: 1,
    stdout: "",
    stderr: expect.stringContaining("does not open"),
  });
  expect(await looks()).toHaveLength(2);
  await world.db.query(
    `update collected_field set sealed = (select sealed from collected_field where payment_id = $1 and name = 'dob')
     where payment_id = $1 and name = 'fullName'`,
    [paymentId],
  );
  const moved = await collected([paymentId, ...LOOK]);
  expect(moved).toMatchObject({ code: 1, stdout: "", stderr: expect.stringContaining("fullName") });
});

// Guarantee: `npm run pay` shows the form of a payment that asks for data, and with made-up data pays it.
test("the payment command", async () => {
  const api = actors(world, baseUrl);
  const [chain] = world.world.chains;
  const { key, address } = world.buyer("everything");
  const directory = mkdtempSync(join(tmpdir(), "florin-pay-"));
  const merchants = world.demo.merchants;
  const sandbox = {
    baseUrl: baseUrl(),
    checkoutUrl: baseUrl(),
    merchant: merchants[0],
    merchants,
    gateway: world.demo.gateway,
    chains: [{ caip2: chain?.caip2, rpcUrl: chain?.anvil.rpcUrl, tokens: [] }],
    accounts: [{ caip10: `${chain?.caip2}:${address}`, privateKey: key, holds: "everything" }],
  };
  writeFileSync(join(directory, "sandbox.json"), JSON.stringify(sandbox));
  const id = (await api.create()).body.paymentId;
  const env = { SANDBOX_DIR: directory };
  try {
    const asked = await run("pay.ts", [id, "--option", "USDC"], env);
    expect(asked).toMatchObject({ code: 1, stdout: expect.stringContaining(`/collect?pid=${id}`) });
    const paid = await run("pay.ts", [id, "--option", "USDC", "--fill-form"], env);
    expect(paid).toMatchObject({ code: 0, stdout: expect.stringContaining("succeeded") });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
});
