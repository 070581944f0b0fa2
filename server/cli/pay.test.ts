import { spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect, onTestFinished, test } from "vitest";
import { environment } from "#server/sandbox/migrate.ts";

/** The project's own Node, which runs TypeScript; the one on the PATH may be older. */
const NODE = join(import.meta.dirname, "../../node_modules/.bin/node");
const KEY = generatePrivateKey();
const PAYER = privateKeyToAccount(KEY).address;
const ACCOUNT = `eip155:31337:${PAYER}`;
const TX = `0x${"7".repeat(64)}`;
const display = (assetSymbol: string, decimals: number) => ({
  assetName: assetSymbol,
  assetSymbol,
  decimals,
  networkName: "Sandbox One",
});
const INFO = {
  status: "requires_action",
  amount: { unit: "iso4217/USD", value: "1250", display: display("USD", 2) },
  expiresAt: Math.floor(Date.now() / 1000) + 900,
  merchant: { name: "Demo Shop" },
};
const OPTION = {
  id: "opt_1",
  account: ACCOUNT,
  amount: {
    unit: "caip19/eip155:31337/erc20:0x01",
    value: "12500000",
    display: display("USDC", 6),
  },
  etaS: 1,
  expiresAt: null,
  actions: [
    {
      type: "walletRpc",
      data: { chain_id: "eip155:31337", method: "personal_sign", params: ["0x6869", PAYER] },
    },
  ],
  collectData: null,
};
const PAID = {
  status: "succeeded",
  isFinal: true,
  pollInMs: null,
  info: { txId: TX, optionAmount: OPTION.amount },
};

type Answers = Record<string, [status: number, body: unknown]>;
const GOOD: Answers = {
  "POST /v1/gateway/payment/pay_1/options": [200, { options: [OPTION], info: INFO }],
  "POST /v1/gateway/payment/pay_1/confirm": [200, PAID],
};

/** A payment service with fixed answers and the sandbox file that leads to it. */
async function startService(answers: Answers) {
  const bodies: unknown[] = [];
  const server = createServer(async (request, response) => {
    let text = "";
    for await (const chunk of request) text += chunk;
    bodies.push(JSON.parse(text === "" ? "null" : text));
    const name = `${request.method} ${new URL(request.url ?? "", "http://x").pathname}`;
    const [status, body] = answers[name] ?? [
      404,
      { code: "payment_not_found", message: "No payment not found." },
    ];
    response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const directory = mkdtempSync(join(tmpdir(), "florin-pay-"));
  const baseUrl = `http://127.0.0.1:${port}`;
  const sandbox = {
    baseUrl,
    checkoutUrl: baseUrl,
    merchant: { id: "mer_1", apiKey: "sk_test_1", flow: "intermediary" },
    merchants: [],
    gateway: { apiKey: "gk_test_1", appId: "app_1" },
    chains: [{ caip2: "eip155:31337", rpcUrl: baseUrl, tokens: [] }],
    accounts: [{ caip10: ACCOUNT, privateKey: KEY, holds: "100 USDC" }],
  };
  writeFileSync(join(directory, "sandbox.json"), JSON.stringify(sandbox));
  const stop = () => new Promise<void>((resolve) => void server.close(() => resolve()));
  onTestFinished(async () => {
    rmSync(directory, { recursive: true, force: true });
    server.closeAllConnections();
    if (server.listening) await stop();
  });
  return { directory, bodies, stop, baseUrl };
}

/** Runs the command as a user does. */
function runPay(directory: string, ...args: string[]) {
  const child = spawn(NODE, [join(import.meta.dirname, "pay.ts"), ...args], {
    env: {
      NODE_ENV: "test",
      PATH: "/usr/bin:/bin",
      SANDBOX_DIR: directory,
      NODE_COMPILE_CACHE: environment().NODE_COMPILE_CACHE,
    },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 20_000,
  });
  let stdout = "";
  let stderr = "";
  child.stdout.on("data", (chunk) => {
    stdout += chunk;
  });
  child.stderr.on("data", (chunk) => {
    stderr += chunk;
  });
  return new Promise<{ code: number | null; stdout: string; stderr: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, stdout, stderr }));
  });
}

// Guarantee: a paid payment exits with 0 and shows every step on the way.
test("pays and says what it did", async () => {
  const { directory, bodies, baseUrl } = await startService(GOOD);
  const { code, stdout, stderr } = await runPay(directory, `${baseUrl}/?pid=pay_1`);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  for (const part of [
    "Demo Shop asks for 12.50 USD",
    "1  12.500000 USDC",
    'Sign the message "hi"',
    "Confirming",
    "succeeded",
    TX,
  ])
    expect(stdout).toContain(part);
  expect(bodies).toMatchObject([
    { accounts: [ACCOUNT] },
    { optionId: "opt_1", results: [{ type: "walletRpc" }] },
  ]);
});

// Guarantee: programs get one JSON document and nothing besides.
test("--json", async () => {
  const { directory } = await startService(GOOD);
  const { code, stdout, stderr } = await runPay(
    directory,
    "pay_1",
    "--json",
    "--option",
    "USDC@31337",
  );
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(JSON.parse(stdout)).toMatchObject({
    outcome: "succeeded",
    txId: TX,
    paymentId: "pay_1",
    status: "succeeded",
    option: { id: "opt_1" },
    actions: [{ method: "personal_sign" }],
  });
});

// Guarantee: where data is asked for nothing is signed or sent until somebody fills in the form, or asks for made-up data.
test("a form", async () => {
  const url = "http://127.0.0.1:1/collect?pid=pay_1&t=1.x";
  const schema = { type: "object", properties: { fullName: {}, tosConfirmed: {} } };
  const collectData = { url, schema, fields: [] };
  const { directory, bodies } = await startService({
    ...GOOD,
    "POST /v1/gateway/payment/pay_1/options": [
      200,
      { options: [{ ...OPTION, collectData }], info: INFO, collectData },
    ],
  });
  const asked = await runPay(directory, "pay_1");
  expect(asked.code).toBe(1);
  for (const part of [url, "--fill-form", ACCOUNT]) expect(asked.stdout).toContain(part);
  expect(bodies).toHaveLength(1);
  const filled = await runPay(directory, "pay_1", "--fill-form");
  expect(filled).toMatchObject({ code: 0, stdout: expect.stringContaining(url) });
  expect(bodies.at(-1)).toMatchObject({
    collectedData: {
      fields: [
        { id: "fullName", value: "Sandbox Buyer" },
        { id: "tosConfirmed", value: "true" },
      ],
    },
  });
});

// Guarantee: looking costs nothing.
test("--list shows options, or accounts, and confirms nothing", async () => {
  const { directory, bodies } = await startService(GOOD);
  const options = await runPay(directory, "pay_1", "--list");
  expect(options).toMatchObject({ code: 0, stdout: expect.stringContaining("12.500000 USDC") });
  expect(bodies).toHaveLength(1);
  const accounts = await runPay(directory, "--list", "--json");
  expect(JSON.parse(accounts.stdout)).toMatchObject({ accounts: [{ number: 0, caip10: ACCOUNT }] });
  expect(accounts.stdout).not.toContain(KEY);
});

// Guarantee: a payment whose end is not known can be looked at without paying it again, and who asks for a listing of what is over is told so.
test("--watch, and --list of what is over", async () => {
  const over = { ...INFO, status: "succeeded" };
  const { directory, bodies } = await startService({
    "GET /v1/gateway/payment/pay_1/status": [200, PAID],
    "POST /v1/gateway/payment/pay_1/options": [200, { options: [], info: over }],
  });
  const watched = await runPay(directory, "pay_1", "--watch");
  expect(watched).toMatchObject({ code: 0, stdout: expect.stringContaining(TX) });
  expect(bodies).toEqual([null]);
  const listed = await runPay(directory, "pay_1", "--list");
  expect(listed).toMatchObject({ code: 0, stdout: expect.stringContaining("It is succeeded") });
});

// Guarantee: a listing of a payment that expired says what to do, as paying it does; a server that answers is not said to be away.
test("a listing that is refused", async () => {
  const options = "POST /v1/gateway/payment/pay_1/options";
  const gone = { code: "payment_expired", message: "expired" };
  const late = await startService({ [options]: [410, gone] });
  const ended = await runPay(late.directory, "pay_1", "--list");
  expect(ended).toMatchObject({ code: 2, stdout: expect.stringContaining("new payment link") });
  const broken = await startService({ [options]: [500, {}] });
  const { stdout } = await runPay(broken.directory, "pay_1");
  expect(stdout).not.toContain("No server answers");
});

// Guarantee: --json is one document whatever else is asked for.
test("--help --json", async () => {
  const { stdout } = await runPay("/nonexistent", "--help", "--json");
  expect(JSON.parse(stdout)).toMatchObject({ outcome: "help" });
});

// Guarantee: the exit code and the words tell refusals from troubles.
test.for([
  ["no funds", { options: [], info: INFO }, 200, 2, "insufficient funds"],
  ["expired", { code: "payment_expired", message: "expired" }, 410, 2, "new payment link"],
  ["quote", { code: "quote_expired", message: "expired" }, 409, 2, "same link again"],
  ["refused", { code: "forbidden", message: "Not yours." }, 403, 2, "Not yours."],
  ["screened", { code: "sanctioned_user", message: "Refused." }, 451, 2, "--account"],
  ["other option", { options: [OPTION], info: INFO }, 200, 2, 'No option matches "EURC"'],
  ["broken", {}, 500, 1, "try again later"],
] as const)("%s", async ([, body, status, code, words]) => {
  const { directory } = await startService({
    "POST /v1/gateway/payment/pay_1/options": [status, body],
  });
  const ended = await runPay(directory, "pay_1", "--option", "EURC");
  expect(ended).toMatchObject({ code, stdout: expect.stringContaining(words) });
});

// Guarantee: a link of somebody else gets no request at all.
test("a foreign link is refused", async () => {
  const { directory, bodies } = await startService(GOOD);
  const ended = await runPay(directory, "https://pay.evil.example/pay_1");
  expect(ended).toMatchObject({
    code: 2,
    stdout: expect.stringContaining("only host this wallet trusts"),
  });
  expect(bodies).toEqual([]);
});

// Guarantee: whoever forgot to start the sandbox is told so, also in JSON.
test("a sandbox that is away, or never was", async () => {
  const { directory, stop } = await startService(GOOD);
  await stop();
  const away = await runPay(directory, "pay_1");
  expect(away).toMatchObject({ code: 1, stdout: expect.stringContaining("npm start") });
  const never = await runPay(join(directory, "nothing"), "pay_1", "--json");
  expect(never.code).toBe(1);
  expect(JSON.parse(never.stdout)).toMatchObject({ outcome: "no_sandbox" });
});

// Guarantee: a mistyped command pays nothing and shows how to do it.
test("a wrong command line", async () => {
  const { directory, bodies } = await startService(GOOD);
  const ended = await runPay(directory, "pay_1", "--amount", "5");
  expect(ended).toMatchObject({ code: 1, stdout: expect.stringContaining("Usage: npm run pay") });
  expect(bodies).toEqual([]);
});
