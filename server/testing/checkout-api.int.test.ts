import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, until } from "./api.ts";
import { CHAIN, checkoutPages, refusal } from "./checkout-pages.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const pages = () => checkoutPages(world, () => server.baseUrl);
const UNKNOWN = "pay_00000000000000000000000000";

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer();
});
afterAll(() => world?.stop());

const post = (path: string, body: unknown, headers: Record<string, string> = {}) =>
  call(server.baseUrl, "POST", `/api/trpc/${path}`, { headers, body });

// Guarantee: an open payment shows its merchant, price and window, in a version that stays while nothing changes.
test("an open payment", async () => {
  const id = await pages().created({ value: "1250" });
  const before = Date.now();
  const view = await pages().view(id);
  const after = Date.now();
  expect(view).toMatchObject({
    id,
    stage: "ready",
    status: "requires_action",
    code: "requires_action.not_opened",
    isFinal: false,
    merchant: { name: "Demo Shop", iconUrl: null, accent: null },
    amount: { value: "1250", decimals: 2, display: "12.50", currency: "USD" },
    reference: "order-1",
    redirect: null,
    sandbox: true,
    paid: null,
    arrivals: [],
    refunds: [],
    cancelledBy: null,
  });
  expect(view.serverNow).toBeGreaterThanOrEqual(before);
  expect(view.serverNow).toBeLessThanOrEqual(after);
  expect((await pages().view(id)).version).toBe(view.version);
});

// Guarantee: the id is the only key, and one that is unknown, malformed or of the other environment is refused alike.
test.for([UNKNOWN, "pay_", "nonsense", "", `${"x".repeat(190)}`, "pay_%2e%2e", "../v1"])(
  "no payment under %j",
  async (id) => {
    const { checkout } = pages().client();
    for (const ask of [
      () => checkout.view.query({ id }),
      () => checkout.options.query({ id, accounts: [`${CHAIN}:0x${"1".repeat(40)}`] }),
      () => checkout.cancel.mutate({ id }),
    ])
      expect(await refusal(ask())).toMatchObject({
        code: "payment_not_found",
        status: 404,
        message: "Payment not found",
        retryable: false,
        issues: [],
      });
  },
);

// Guarantee: live payments do not exist on a server without real money.
test("a live payment", async () => {
  const id = await pages().created();
  await world.db.query(`alter table payment disable trigger all`);
  await world.db.query(`update payment set environment = 'live' where id = $1`, [id]);
  await world.db.query(`alter table payment enable trigger all`);
  expect((await refusal(pages().view(id))).code).toBe("payment_not_found");
});

// Guarantee: options name amount, network and steps; what cannot pay is told with its reason and what is missing.
test("options and reasons", async () => {
  const id = await pages().created({ value: "1250" });
  const buyer = await pages().buyer(8_300_000n);
  const accounts = [buyer.account, `eip155:1:${buyer.address}`];
  const short = await until(
    () => pages().client().checkout.options.query({ id, accounts }),
    ({ unavailable }) => unavailable.every(({ reason }) => reason !== "network_away"),
  );
  expect(short.options).toEqual([]);
  expect(short.unavailable.slice(0, 2)).toMatchObject([
    {
      account: buyer.account,
      network: "Florin Sandbox A",
      symbol: "USDC",
      reason: "short",
      money: { display: "12.500000", symbol: "USDC", network: "Florin Sandbox A" },
      holds: { display: "8.300000" },
      short: { value: "4200000", display: "4.200000", symbol: "USDC" },
    },
    { symbol: "USDT", reason: "short", holds: { value: "0" }, short: { value: "12500000" } },
  ]);
  expect(short.unavailable.slice(2)).toMatchObject([
    { symbol: "ETH", reason: "not_accepted", money: null, short: null },
    { account: accounts[1], symbol: null, reason: "unsupported_network", network: "eip155:1" },
  ]);
});

// Guarantee: a token with permits is one signature; one without is an approval of exactly the amount and then a signature.
test("steps", async () => {
  const id = await pages().created({ value: "1250" });
  const { address } = world.buyer("everything");
  const options = await pages().options(id, [`${CHAIN}:${address}`], 2);
  expect(options).toMatchObject([
    { money: { symbol: "USDC" }, steps: [{ kind: "sign" }], networkFee: "shop", needsData: false },
    {
      money: { symbol: "USDT" },
      steps: [
        { kind: "approve", amount: { display: "12.500000", symbol: "USDT" } },
        { kind: "sign" },
      ],
      networkFee: "shop",
    },
  ]);
  const chains = await pages().client().checkout.chains.query({ id });
  expect(chains).toMatchObject([
    { caip2: CHAIN, name: "Florin Sandbox A", tokens: ["USDC", "USDT"], native: { symbol: "ETH" } },
  ]);
});

// Guarantee: a malformed account is refused with the place it stands at; a malformed body names what is wrong.
test("bad input", async () => {
  const id = await pages().created();
  const { checkout } = pages().client();
  const bad = checkout.options.query({ id, accounts: [`${CHAIN}:0x1`] });
  expect(await refusal(bad)).toMatchObject({
    code: "params_validation",
    status: 422,
    issues: [{ path: "accounts.0" }],
  });
  const nothing = await post("checkout.options", { id });
  expect(nothing.status).toBe(400);
  expect(nothing.body.error.data).toMatchObject({
    code: "invalid_params",
    issues: [{ path: "accounts", message: "is missing" }],
  });
});

// Guarantee: only POST, only JSON, only one call at a time, at most 256 kB, and only procedures there are.
test("what is no call", async () => {
  const id = await pages().created();
  expect((await call(server.baseUrl, "GET", `/api/trpc/checkout.view?input=%7B%7D`)).status).toBe(
    405,
  );
  expect((await post("checkout.nothing", {})).body.error.data.code).toBe("not_found");
  expect((await post("checkout.view,checkout.view?batch=1", { 0: { id } })).status).toBe(404);
  expect((await post("__proto__", { id })).status).toBe(404);
  const text = { "content-type": "text/plain" };
  expect((await post("checkout.view", JSON.stringify({ id }), text)).status).toBe(415);
  expect((await post("checkout.view", "{", {})).status).toBe(400);
  expect((await post("checkout.view", { id, more: "x".repeat(300_000) })).status).toBe(413);
  expect((await call(server.baseUrl, "POST", "/api/other", { body: {} })).status).toBe(404);
});

// Guarantee: a page of another origin is refused before anything is read, and no origin may read an answer but our own.
test("foreign origins", async () => {
  const id = await pages().created();
  const foreign: Record<string, string>[] = [
    { origin: "https://evil.example" },
    { origin: "null" },
    { "sec-fetch-site": "cross-site" },
    { "sec-fetch-site": "same-site", origin: server.baseUrl },
  ];
  for (const headers of foreign) {
    const refused = await post("checkout.cancel", { id }, headers);
    expect(refused.status, JSON.stringify(headers)).toBe(403);
    expect(refused.body.error.data.code).toBe("forbidden");
    expect(refused.headers.get("access-control-allow-origin")).toBeNull();
  }
  expect((await pages().view(id)).status).toBe("requires_action");
  const own = await post("checkout.view", { id }, { origin: server.baseUrl });
  expect(own.status).toBe(200);
  expect(own.headers.get("cache-control")).toBe("no-store");
  expect(own.headers.get("access-control-allow-origin")).toBeNull();
  const preflight = await call(server.baseUrl, "OPTIONS", "/api/trpc/checkout.view");
  expect(preflight.status).toBe(405);
});

// Guarantee: a buyer can cancel an open payment once; after that the refusal names its state.
test("cancel", async () => {
  const id = await pages().created();
  const { checkout } = pages().client();
  const view = await checkout.cancel.mutate({ id });
  expect(view).toMatchObject({ stage: "cancelled", isFinal: true, cancelledBy: "buyer" });
  expect(await refusal(checkout.cancel.mutate({ id }))).toMatchObject({
    code: "invalid_state",
    status: 400,
  });
});

/** A view that is held for 20 seconds unless the payment changes. */
function held(id: string, version: string) {
  let isOver = false;
  const answer = pages()
    .client()
    .checkout.wait.query({ id, version, maxMs: 20_000 })
    .finally(() => {
      isOver = true;
    });
  return { answer, isOver: () => isOver };
}

// Guarantee: a held view comes as soon as the payment is another, and at the end of its time as it is.
test("wait", async () => {
  const id = await pages().created();
  const { checkout } = pages().client();
  const { version } = await pages().view(id);
  const other = await checkout.wait.query({ id, version: "another", maxMs: 20_000 });
  expect(other.version).toBe(version);
  const begun = performance.now();
  const same = await checkout.wait.query({ id, version, maxMs: 400 });
  expect(same.version).toBe(version);
  expect(performance.now() - begun).toBeGreaterThan(350);
  // A view of a payment that stays as it is, asked for first: its time is over before that of the other.
  const still = await pages().created();
  const full = held(still, (await pages().view(still)).version);
  const waiting = held(id, version);
  // Answers that were asked for later come first: it is held.
  for (let round = 0; round < 3; round++) await pages().view(id);
  expect(waiting.isOver()).toBe(false);
  await checkout.cancel.mutate({ id });
  expect((await waiting.answer).stage).toBe("cancelled");
  expect(full.isOver()).toBe(false);
  await checkout.cancel.mutate({ id: still });
  await full.answer;
});

// Guarantee: what changes no status of the payment, such as money that is not the payment, ends a held view too.
test("wait for money", async () => {
  const id = await pages().created();
  const buyer = await pages().buyer(20_000_000n);
  await pages().option(id, buyer, "USDC");
  const { version } = await pages().view(id);
  const waiting = pages().client().checkout.wait.query({ id, version, maxMs: 25_000 });
  const { usdc } = pages().chain();
  const intermediary = privateKeyToAccount(world.world.memory.intermediaryKey).address;
  await pages().send(buyer, usdc, intermediary, 2_500_000n);
  expect((await waiting).stage).toBe("still_due");
});

// Guarantee: calls about one payment are limited as on the API, and the refusal says when to come back.
test("limits", async () => {
  const limited = await world.startServer({ env: { FLORIN_LIMIT_PAYMENT: "3" } });
  const id = await pages().created();
  const { checkout } = checkoutPages(world, () => limited.baseUrl).client();
  const calls = Array.from({ length: 30 }, () => checkout.view.query({ id }));
  const settled = await Promise.allSettled(calls);
  const failed = settled.filter(({ status }) => status === "rejected");
  expect(failed.length).toBeGreaterThan(10);
  const refused = await refusal(Promise.reject((failed[0] as PromiseRejectedResult).reason));
  expect(refused).toMatchObject({ code: "rate_limited", status: 429, retryable: true });
  expect(refused.retryAfterS).toBeLessThanOrEqual(2);
  await limited.kill();
});
