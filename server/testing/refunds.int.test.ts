import { afterAll, beforeAll, expect, test } from "vitest";
import { type Answer, call } from "./api.ts";
import { BATCH_S, type Merchant, PAID, refundActors } from "./refund-shop.ts";
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

// Guarantee: a refund done elsewhere is noted at once, never beyond what was received, and repeats answer the same.
test("recorded refunds", async () => {
  const shop = await shops.newMerchant();
  const { id, buyer } = await shops.paid(shop);
  const keyed = { "Idempotency-Key": "refund-1" };
  const body = { paymentId: id, amount: "500000", txId: `0x${"ab".repeat(32)}`, reason: "Broken" };
  const made = await shops.refund(shop, body, keyed);
  expect(made.status, made.text).toBe(201);
  expect(made.body).toMatchObject({
    paymentId: id,
    status: "succeeded",
    kind: "record",
    amount: { unit: `caip19/${world.asset("usdc")}`, value: "500000", display: { decimals: 6 } },
    destination: `${CHAIN}:${buyer.address.toLowerCase()}`,
    txId: body.txId,
    reason: "Broken",
    transfer: null,
  });
  const again = await shops.refund(shop, body, keyed);
  expect([again.status, again.text]).toEqual([201, made.text]);
  // The same transfer told once more, without a key, is no second refund.
  const { reason: _, ...told } = body;
  const twice = await shops.refund(shop, told);
  expect([twice.status, twice.body.code, twice.body.issues?.[0]?.path]).toEqual([
    400,
    "params_validation",
    "txId",
  ]);
  const over = await shops.refund(shop, { paymentId: id, amount: "12000001" });
  expect([over.status, over.body.code]).toEqual([400, "params_validation"]);
  expect(over.text).toContain("12000000");
  const rest = await shops.refund(shop, { paymentId: id });
  expect(rest.body.amount.value).toBe("12000000");
  const none = await shops.refund(shop, { paymentId: id });
  expect([none.status, none.body.code]).toEqual([409, "already_refunded"]);
  expect(await shops.topics(id)).toEqual([
    "refund.created",
    "refund.succeeded",
    "refund.created",
    "refund.succeeded",
  ]);
  expect(await shops.settlements(id)).toEqual([`pending ${PAID} 0`]);
});

// Guarantee: only a merchant's own succeeded payment is refunded, and only its own refunds are shown.
test("what is refused, and who reads what", async () => {
  const shop = await shops.newMerchant();
  const other = await shops.newMerchant();
  const { id } = await shops.paid(shop);
  const open = await call(server.baseUrl, "POST", "/v1/merchant/payment", {
    headers: shop.headers,
    body: { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-2" },
  });
  const refused = async (by: Merchant, body: object) => {
    const answer = await shops.refund(by, body);
    return `${answer.status} ${answer.body.code}`;
  };
  expect(await refused(shop, { paymentId: open.body.paymentId })).toBe("400 payment_not_succeeded");
  expect(await refused(other, { paymentId: id })).toBe("404 payment_not_found");
  expect(await refused(shop, { paymentId: "pay_missing" })).toBe("404 payment_not_found");
  for (const amount of ["0", "-1", "1.5", "1e3", "01"])
    expect(await refused(shop, { paymentId: id, amount })).toBe("400 params_validation");
  expect(await refused(shop, { paymentId: id, amount: 5 })).toBe("400 invalid_params");
  expect(await refused(shop, { paymentId: id, kind: "gift" })).toBe("400 invalid_params");
  expect(await refused(shop, { paymentId: id, kind: "execute", txId: "0xab" })).toBe(
    "400 params_validation",
  );
  const ids: string[] = [];
  for (const amount of ["1", "2", "3"])
    ids.unshift((await shops.refund(shop, { paymentId: id, amount })).body.id);
  expect([
    (await shops.read(other, ids[0] ?? "")).status,
    (await shops.read(shop, "ref_X")).status,
  ]).toEqual([404, 404]);
  const list = (by: Merchant, query: string) =>
    call(server.baseUrl, "GET", `/v1/refunds${query}`, { headers: by.headers });
  const first = await list(shop, `?paymentId=${id}&limit=2`);
  const shown = (answer: Answer) => answer.body.refunds.map((one: { id: string }) => one.id);
  expect(shown(first)).toEqual(ids.slice(0, 2));
  const second = await list(shop, `?limit=2&cursor=${first.body.nextCursor}`);
  expect([shown(second), second.body.nextCursor]).toEqual([ids.slice(2), null]);
  expect(shown(await list(other, ""))).toEqual([]);
  expect((await list(other, `?cursor=${first.body.nextCursor}`)).body.code).toBe("invalid_params");
});

// Guarantee: money that is not settled yet goes back in parts; what is left, less the fee, is settled once.
test("partial refunds out of the settlement", async () => {
  const shop = await shops.newMerchant({ feeBps: 40 });
  const { id, buyer } = await shops.paid(shop);
  expect(await shops.settlements(id)).toEqual(["pending 12450000 50000"]);
  const whole = await shops.refund(shop, { paymentId: id, kind: "execute" });
  expect([whole.status, whole.body.code]).toEqual([400, "params_validation"]);
  expect(whole.text).toContain("12450000");
  const first = await shops.refund(shop, { paymentId: id, kind: "execute", amount: "4000000" });
  expect(first.body).toMatchObject({ status: "pending", kind: "execute", txId: null });
  expect(await shops.settlements(id)).toEqual(["pending 8450000 50000"]);
  const second = await shops.refund(shop, { paymentId: id, kind: "execute", amount: "450000" });
  const { body } = await shops.becomes(shop, first, "succeeded");
  await shops.becomes(shop, second, "succeeded");
  expect(body.txId).toMatch(/^0x[0-9a-f]{64}$/);
  expect(await shops.balance(buyer.address)).toBe(4_450_000n);
  await shops.letGo(shop);
  await shops.settledAs(id, "final 8000000 50000");
  expect(await shops.balance(shop.account)).toBe(8_000_000n);
  const late = await shops.refund(shop, { paymentId: id, kind: "execute", amount: "8050001" });
  expect([late.status, late.body.code]).toEqual([400, "params_validation"]);
  expect(late.text).toContain("8050000");
});

// Guarantee: whoever asks at the same moment, no more goes back than is there.
test("two whole refunds at once", async () => {
  const shop = await shops.newMerchant();
  const { id, buyer } = await shops.paid(shop);
  const body = { paymentId: id, kind: "execute" };
  const both = await Promise.all([shops.refund(shop, body), shops.refund(shop, body)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  const made = both.find(({ status }) => status === 201);
  if (made === undefined) throw new Error("none was made");
  await shops.becomes(shop, made, "succeeded");
  expect(await shops.balance(buyer.address)).toBe(PAID);
  expect(await shops.settlements(id)).toEqual([]);
  expect(await shops.topics(id)).toEqual(["refund.created", "refund.succeeded"]);
});

// Guarantee: before the payment's transfer is final nothing is sent back, and then the refund comes before the settlement.
test("a refund of a capture that is not final waits for it", async () => {
  const shop = await shops.newMerchant({ schedule: "instant" });
  try {
    const { id, buyer } = await shops.paidInNewestBlock(shop);
    const made = await shops.refund(shop, { paymentId: id, kind: "execute", amount: "2500000" });
    expect(await shops.rows(`select 1 from settlement where payment_id = $1`, [id])).toEqual([]);
    await shops.mineEvery(1);
    await shops.becomes(shop, made, "succeeded");
    await shops.settledAs(id, "final 10000000 0");
    expect([await shops.balance(buyer.address), await shops.balance(shop.account)]).toEqual([
      2_500_000n,
      10_000_000n,
    ]);
  } finally {
    await shops.mineEvery(1);
  }
});

// Guarantee: books, chain and refunds agree after all of it.
test("every invariant holds", () => shops.expectInvariants());
