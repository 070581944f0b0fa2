import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "./api.ts";
import { BATCH_S, PAID, refundActors } from "./refund-shop.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const CHAIN = "eip155:31337";

let world: TestWorld;
let server: TestServer;
let shops: ReturnType<typeof refundActors>;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { FLORIN_SETTLEMENT_BATCH_S: BATCH_S } });
  shops = refundActors(world, () => server.baseUrl);
});
afterAll(() => world?.stop());

// Guarantee: a refund of settled money is the merchant's transfer; one transfer of the exact amount ends one refund.
test("the merchant's wallet refunds what was settled", async () => {
  const shop = await shops.newMerchant({ schedule: "instant" });
  const { id, buyer } = await shops.paid(shop);
  await shops.settledAs(id, `final ${PAID} 0`);
  const part = { paymentId: id, kind: "execute", amount: "5000000" };
  const first = await shops.refund(shop, part);
  const second = await shops.refund(shop, part);
  expect([first.body.status, second.body.status]).toEqual([
    "awaiting_merchant",
    "awaiting_merchant",
  ]);
  const { transfer } = (await shops.read(shop, first.body.id)).body;
  expect([transfer.chain_id, transfer.method]).toEqual([CHAIN, "eth_sendTransaction"]);
  const { watched } =
    (await shops.rows(`select max(scanned_number) as watched from chain_cursor`))[0] ?? {};
  const hash = await shops.send(shop, transfer);
  const { body } = await shops.becomes(shop, first, "succeeded");
  expect(body).toMatchObject({ txId: hash, transfer: null });
  expect(await shops.balance(buyer.address)).toBe(5_000_000n);
  // A process that died before it noted how far it had read looks at the same transfer again.
  await shops.rows(`update refund set from_block = $2 where id = $1`, [second.body.id, watched]);
  await until(
    () =>
      shops.rows(`select 1 from refund where id = $1 and from_block > $2 + 3`, [
        second.body.id,
        watched,
      ]),
    (found) => found.length === 1,
  );
  expect((await shops.read(shop, second.body.id)).body.status).toBe("awaiting_merchant");
  await shops.send(shop, transfer);
  await shops.becomes(shop, second, "succeeded");
  expect(await shops.topics(id)).toEqual([
    "refund.created",
    "refund.created",
    "refund.succeeded",
    "refund.succeeded",
  ]);
});

// Guarantee: where the money never was ours the merchant's wallet refunds it, and other amounts end nothing.
test("the direct flow", async () => {
  const shop = await shops.newMerchant({ flow: "direct" });
  const { id, buyer } = await shops.paidInNewestBlock(shop);
  const small = await shops.refund(shop, { paymentId: id, kind: "execute", amount: "1000" });
  expect([small.body.status, small.body.transfer]).toEqual(["pending", null]);
  await shops.mineEvery(1);
  await shops.becomes(shop, small, "awaiting_merchant");
  const whole = await shops.refund(shop, { paymentId: id, kind: "execute" });
  expect([whole.body.status, whole.body.amount.value]).toEqual(["awaiting_merchant", "12499000"]);
  await shops.send(shop, whole.body.transfer);
  await shops.becomes(shop, whole, "succeeded");
  expect((await shops.read(shop, small.body.id)).body.status).toBe("awaiting_merchant");
  expect(await shops.balance(buyer.address)).toBe(12_499_000n);
  expect(await shops.settlements(id)).toEqual([]);
});

// Guarantee: money that cannot go back is owed to the merchant again, whether that shows before or after sending.
test("a payer on the token's deny list", async () => {
  const shop = await shops.newMerchant();
  const { id, buyer } = await shops.paid(shop);
  await shops.denied(buyer.address, true);
  const made = await shops.refund(shop, { paymentId: id, kind: "execute" });
  const { body } = await shops.becomes(shop, made, "failed");
  expect(body.detail).toContain("denied");
  await shops.settledAs(id, `pending ${PAID} 0`);
  await shops.denied(buyer.address, false);
  // Sent while it would go through, denied before it is mined.
  await shops.mineEvery(0);
  try {
    const second = await shops.refund(shop, { paymentId: id, kind: "execute", amount: "2500000" });
    await shops.sent("id", `refund:${second.body.id}`);
    await shops.denyFirst(buyer.address);
    await shops.mineEvery(1);
    const failed = await shops.becomes(shop, second, "failed");
    expect(failed.body.detail).toContain("reverted on chain");
  } finally {
    await shops.mineEvery(1);
  }
  await shops.settledAs(id, `pending ${PAID} 0`);
  await shops.letGo(shop);
  await shops.settledAs(id, `final ${PAID} 0`);
  expect([await shops.balance(buyer.address), await shops.balance(shop.account)]).toEqual([
    0n,
    PAID,
  ]);
  expect(await shops.topics(id)).toEqual([
    "refund.created",
    "refund.failed",
    "refund.created",
    "refund.failed",
  ]);
});

// Guarantee: books, chain and refunds agree after all of it.
test("every invariant holds", () => shops.expectInvariants());
