import { afterAll, beforeAll, expect, test } from "vitest";
import { actors, bugsIn, until } from "./api.ts";
import {
  choosePurchase,
  confirmPurchase,
  createPurchase,
  headersOf,
  inLanes,
  inviteShoppers,
  openShops,
  type Purchase,
  planPurchases,
  type Shop,
  type Shopper,
  signPurchase,
} from "./crowd.ts";
import { allSettled, expectPaidOnce, type Holdings, holdingsOf } from "./crowd-checks.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const PURCHASES = 196;
const NEWCOMERS = 4;
/** Clients at work at the same time. */
const AT_ONCE = 40;

let world: TestWorld;
let server: TestServer;
let shops: Shop[];
let shoppers: Shopper[];
let before: Holdings;
/** Everything bought in this file. */
const bought: Purchase[] = [];
const api = () => actors(world, () => server.baseUrl);

beforeAll(async () => {
  world = await createTestWorld({ chains: 2 });
  shops = await openShops(world);
  shoppers = await inviteShoppers(world, 7, { allowed: true });
  server = await world.startServer({ env: { FLORIN_SETTLEMENT_BATCH_S: "3" } });
});
afterAll(() => world?.stop());

/** Plans purchases that will be paid in this file. */
function plan(name: string, count: number, buyers: Shopper[], symbol?: "USDT"): Purchase[] {
  const options = symbol === undefined ? { count, name } : { count, name, symbol };
  const planned = planPurchases(world, shops, buyers, options);
  bought.push(...planned);
  return planned;
}

// Guarantee: however many buyers come at once, each pays exactly once and each merchant gets exactly its due, unit by unit.
test("200 payments at once", async () => {
  const newcomers = await inviteShoppers(world, NEWCOMERS, { allowed: false });
  before = await holdingsOf(world, [...shoppers, ...newcomers]);
  const all = [
    ...plan("crowd", PURCHASES, shoppers),
    ...plan("newcomer", NEWCOMERS, newcomers, "USDT"),
  ];
  const began = performance.now();
  await inLanes(all, AT_ONCE, async (purchase) => {
    await createPurchase(api(), purchase);
    await choosePurchase(world, api(), purchase);
    await confirmPurchase(api(), purchase);
  });
  const confirmed = performance.now();
  await inLanes(all, AT_ONCE, async ({ id }) => {
    const { body } = await until(
      () => api().status(id, 10_000),
      ({ status, body }) => status !== 200 || body.isFinal,
    );
    expect(body).toMatchObject({ status: "succeeded", isFinal: true, pollInMs: null });
    expect(body.info.txId).toMatch(/^0x[0-9a-f]{64}$/);
  });
  const succeeded = performance.now();
  await allSettled(world, all, 60_000);
  const settled = performance.now();
  const seconds = (from: number, to: number) => ((to - from) / 1000).toFixed(1);
  process.stdout.write(
    `200 payments: confirmed after ${seconds(began, confirmed)} s, succeeded after ${seconds(began, succeeded)} s, settled after ${seconds(began, settled)} s\n`,
  );
  await expectPaidOnce(world, { purchases: bought, shops, before });
});

// Guarantee: a confirm that arrives many times at once is one confirm, and nobody is told anything else.
test("the same confirm six times at once", async () => {
  const purchases = plan("again", 4, shoppers);
  await inLanes(purchases, 2, async (purchase) => {
    await createPurchase(api(), purchase);
    await choosePurchase(world, api(), purchase);
    const outputs = await signPurchase(api(), purchase);
    const answers = await Promise.all(
      Array.from({ length: 6 }, () =>
        api().confirm(purchase.id, purchase.option?.id ?? "", outputs),
      ),
    );
    for (const { status, body } of answers)
      expect([status, body.status]).toEqual([200, expect.stringMatching(/processing|succeeded/)]);
  });
});

// Guarantee: of two options that are confirmed at once exactly one is taken, and only it ever costs the buyer money.
test("two options of one payment at once", async () => {
  const purchases = plan("either", 8, shoppers);
  await inLanes(purchases, 4, async (purchase) => {
    await createPurchase(api(), purchase);
    const sides: Purchase[] = (["USDC", "USDT"] as const).map((symbol, side) => ({
      ...purchase,
      symbol,
      chain: (purchase.chain + side) % 2,
    }));
    for (const side of sides) {
      await choosePurchase(world, api(), side);
      await signPurchase(api(), side);
    }
    const answers = await Promise.all(
      sides.map((side) => api().confirm(side.id, side.option?.id ?? "", side.outputs ?? [])),
    );
    const taken = answers.findIndex(({ status }) => status === 200);
    const [winner, loser] = [answers[taken], answers[1 - taken]];
    expect([winner?.status, loser?.status, loser?.body.code]).toEqual([200, 400, "invalid_state"]);
    Object.assign(purchase, sides[taken]);
  });
});

// Guarantee: a create sent many times at once under one key makes one payment, and every answer that is not a refusal names it.
test("twenty creates with one key at once", async () => {
  const [purchase, other] = plan("key", 2, shoppers);
  if (purchase === undefined || other === undefined) throw new Error("no purchase");
  const headers = { ...headersOf(purchase.shop), "Idempotency-Key": purchase.key };
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => api().create({ value: `${purchase.cents}`, headers })),
  );
  const made = answers.filter(({ status }) => status === 201);
  const fresh = made.filter(({ headers: sent }) => sent.get("idempotent-replayed") === null);
  expect(fresh).toHaveLength(1);
  for (const { status, body } of answers)
    expect([status, status === 201 ? body.paymentId : body.code]).toEqual(
      status === 201 ? [201, fresh[0]?.body.paymentId] : [409, "idempotency_conflict"],
    );
  for (const one of [purchase, other]) {
    await createPurchase(api(), one);
    await choosePurchase(world, api(), one);
    await confirmPurchase(api(), one);
  }
  expect(purchase.id).toBe(fresh[0]?.body.paymentId);
});

// Guarantee: after all of that, the chains hold exactly what was bought.
test("nothing moved but what was bought", async () => {
  await allSettled(world, bought, 60_000);
  await expectPaidOnce(world, { purchases: bought, shops, before });
  expect(bugsIn(server.output())).toEqual([]);
});
