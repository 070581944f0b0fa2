import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { call, until } from "./api.ts";
import { checkoutPages } from "./checkout-pages.ts";
import { endsIn } from "./unguarded.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const pages = () => checkoutPages(world, () => server.baseUrl);
const intermediary = () =>
  privateKeyToAccount(world.world.memory.intermediaryKey).address.toLowerCase();
const EXPLORER = "https://explorer.test";

beforeAll(async () => {
  world = await createTestWorld({ native: true });
  server = await world.startServer({
    registry: (registry) => ({
      ...registry,
      chains: registry.chains.map((chain) => ({ ...chain, explorerUrl: `${EXPLORER}/` })),
    }),
  });
});
afterAll(() => world?.stop());

// Guarantee: from the confirm on the page shows what pays, then its transaction with a link, then success; a refund after it with its transaction.
test("paid, then refunded", async () => {
  const id = await pages().created({ value: "1250" });
  const buyer = await pages().buyer(20_000_000n);
  const confirmed = await pages().pay(id, buyer, "USDC");
  expect(["submitted", "confirming", "succeeded"]).toContain(confirmed.stage);
  expect(confirmed.paid).toMatchObject({
    money: { value: "12500000", symbol: "USDC", network: "Florin Sandbox A" },
    payer: buyer.address.toLowerCase(),
    recipient: intermediary(),
    etaS: 1,
  });
  const done = await pages().stage(id, "succeeded");
  expect(done.isFinal).toBe(true);
  expect(done.paid?.tx?.url).toBe(`${EXPLORER}/tx/${done.paid?.tx?.id}`);
  expect(done.paid?.tx?.id).toMatch(/^0x[0-9a-f]{64}$/);
  expect(done.paid?.receivedAt).toBeGreaterThan(0);
  expect(done.version).not.toBe(confirmed.version);
  await until(
    () =>
      world.db.query(`select 1 from capture where payment_id = $1 and status = 'finalized'`, [id]),
    (found) => found.length === 1,
  );
  const headers = pages().api().merchantHeaders("intermediary");
  const made = await call(server.baseUrl, "POST", "/v1/refunds", {
    headers,
    body: { paymentId: id, mode: "record", txId: `0x${"ab".repeat(32)}` },
  });
  expect(made.status, made.text).toBe(201);
  const back = await pages().stage(id, "refunded");
  expect(back.refunds).toMatchObject([{ money: { symbol: "USDC" }, state: "succeeded" }]);
  expect(back.refunds[0]?.to.toLowerCase()).toContain(buyer.address.toLowerCase());
});

// Guarantee: money that is short, over or late is shown with what was due, and moves no final status.
test("money of the wrong amount or time", async () => {
  const { usdc } = pages().chain();
  const buyer = await pages().buyer(100_000_000n);
  const short = await pages().created({ value: "1250" });
  await pages().option(short, buyer, "USDC");
  await pages().send(buyer, usdc, intermediary(), 5_000_000n);
  const due = await pages().stage(short, "still_due");
  expect(due).toMatchObject({
    status: "requires_action",
    arrivals: [
      {
        kind: "short",
        received: { display: "5.000000", symbol: "USDC", network: "Florin Sandbox A" },
        due: { display: "12.500000" },
        from: buyer.address.toLowerCase(),
        resolved: false,
      },
    ],
  });
  const over = await pages().created({ value: "1000" });
  await pages().option(over, buyer, "USDC");
  await pages().send(buyer, usdc, intermediary(), 15_000_000n);
  expect((await pages().stage(over, "overpaid")).arrivals).toMatchObject([{ kind: "over" }]);
  const late = await pages().created({ value: "900" });
  await pages().option(late, buyer, "USDC");
  await endsIn(world.db, late);
  await pages().stage(late, "expired_unpaid");
  await pages().send(buyer, usdc, intermediary(), 9_000_000n);
  const found = await pages().stage(late, "expired_paid");
  expect(found).toMatchObject({ status: "expired", arrivals: [{ kind: "late" }] });
});

// Guarantee: native coin is one step that the buyer's own wallet sends; from the claim on the page says that it was received.
test("native coin", async () => {
  const id = await pages().created({ value: "1250" });
  const buyer = await pages().buyer(0n);
  const option = await pages().option(id, buyer, "ETH");
  expect(option).toMatchObject({ steps: [{ kind: "send" }], networkFee: "buyer" });
  expect(option.expiresAt).not.toBeNull();
  const claimed = await pages().pay(id, buyer, "ETH");
  expect(["submitted", "confirming", "succeeded"]).toContain(claimed.stage);
  expect(claimed.paid?.tx?.id).toMatch(/^0x[0-9a-f]{64}$/);
  expect((await pages().stage(id, "succeeded")).paid?.money.symbol).toBe("ETH");
});

// Guarantee: a payment whose results cannot be those of its option fails and shows nothing as paid.
test("failed", async () => {
  const id = await pages().created();
  const buyer = await pages().buyer(20_000_000n);
  const { id: optionId } = await pages().option(id, buyer, "USDC");
  const { checkout } = pages().client();
  const view = await checkout.confirm.mutate({ id, optionId, results: [] });
  expect(view).toMatchObject({ stage: "failed", code: "failed.misaligned", paid: null });
});
