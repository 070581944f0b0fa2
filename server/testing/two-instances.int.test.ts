import { afterAll, beforeAll, expect, test } from "vitest";
import { LIMITS } from "#server/domain/limits.ts";
import { type Answer, actors, call, until } from "./api.ts";
import {
  type Ask,
  choosePurchase,
  confirmPurchase,
  createPurchase,
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
import type { Receiver } from "./receivers.ts";
import { hooks } from "./webhooks.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

/** Merchant-side calls of one key in a window. */
const KEY_LIMIT = 400;
const SETTINGS = { FLORIN_SETTLEMENT_BATCH_S: "3", FLORIN_LIMIT_KEY: String(KEY_LIMIT) };
/** How long a poll is held unless something wakes it. */
const HELD_MS = 25_000;
/** What deployed wallets do: six requests in all, and the pauses between them. */
const PAUSES_MS = [1_000, 2_000, 2_000, 2_000, 2_000];

let world: TestWorld;
/** Two whole services, each with a door and a worker, on one database. */
let instances: TestServer[];
let shops: Shop[];
let shoppers: Shopper[];
let before: Holdings;
let shop: ReturnType<typeof hooks>;
let program: Receiver;
const bought: Purchase[] = [];

const start = (): Promise<TestServer> => world.startServer({ env: SETTINGS });
const urlOf = (n: number): string => instances[n % 2]?.baseUrl ?? "";
const through = (n: number) => actors(world, () => urlOf(n));

function plan(name: string, count: number): Purchase[] {
  const planned = planPurchases(world, shops, shoppers, { count, name });
  bought.push(...planned);
  return planned;
}

beforeAll(async () => {
  world = await createTestWorld({ chains: 2 });
  shops = await openShops(world);
  shoppers = await inviteShoppers(world, 5, { allowed: true });
  before = await holdingsOf(world, shoppers);
  instances = await Promise.all([start(), start()]);
  shop = hooks(world, () => urlOf(0));
  program = await shop.receiver();
  await shop.endpoint(program.url);
});
afterAll(async () => {
  await shop?.clear();
  await world?.stop();
});

/** That the merchant's program was told each purchase's story; an event that came again counts as one. */
async function expectTold(purchases: Purchase[]): Promise<void> {
  await shop.settled();
  const own = purchases.filter((purchase) => purchase.shop.id === shops[0]?.id);
  expect(own.length).toBeGreaterThan(0);
  for (const { id } of own) {
    const events = new Map(program.about(id).map((event) => [event.id, event.type]));
    expect([...events.values()]).toEqual([
      "payment.created",
      "payment.processing",
      "payment.succeeded",
      "payment.settled",
    ]);
  }
}

// Guarantee: two services on one database are one: whoever is asked, everything is submitted, settled and told once.
test("purchases through both instances", async () => {
  const purchases = plan("both", 24);
  await inLanes(purchases, 8, async (purchase) => {
    await createPurchase(through(0), purchase);
    await choosePurchase(world, through(1), purchase);
    await signPurchase(through(0), purchase);
    await Promise.all([0, 1].map((n) => confirmPurchase(through(n), purchase)));
  });
  await allSettled(world, purchases, 90_000);
  await expectPaidOnce(world, { purchases: bought, shops, before });
  await expectTold(purchases);
  const told = program.received.map(({ headers }) => String(headers["webhook-id"]));
  expect(new Set(told).size).toBe(told.length);
});

// Guarantee: whoever waits at one instance hears at once of what was done at the other.
test.for([0, 1])("a poll held at instance %d wakes for a confirm at the other", async (n) => {
  const [purchase] = plan(`poll-${n}`, 1);
  if (purchase === undefined) throw new Error("no purchase");
  await createPurchase(through(n), purchase);
  await choosePurchase(world, through(n + 1), purchase);
  await signPurchase(through(n), purchase);
  const heldFrom = performance.now();
  let heldForMs: number | null = null;
  const held: Promise<Answer> = through(n)
    .status(purchase.id, HELD_MS)
    .then((answer) => {
      heldForMs = performance.now() - heldFrom;
      return answer;
    });
  // Later calls of the same instance are answered while it is held.
  for (let later = 0; later < 3; later++) await through(n).status(purchase.id);
  expect(heldForMs).toBeNull();
  await confirmPurchase(through(n + 1), purchase);
  expect((await held).body.status).toMatch(/^(processing|succeeded)$/);
  expect(heldForMs).toBeLessThan(HELD_MS);
  await allSettled(world, [purchase], 60_000);
});

// Guarantee: a caller that goes from one instance to the other is not served twice as often.
test("what one instance counted counts at the other", async () => {
  const [purchase] = bought;
  const ask = (n: number): Promise<Answer> =>
    call(urlOf(n), "GET", `/v1/merchant/payment/${purchase?.id}/status`, {
      headers: through(n).merchantHeaders("intermediary"),
    });
  const windowNow = () => Math.floor(Date.now() / (LIMITS.key.windowS * 1000));
  // What did not fit into one window is done again in the next.
  const attempt = async () => {
    const window = windowNow();
    const first = await Promise.all(Array.from({ length: KEY_LIMIT + 20 }, () => ask(0)));
    const second = await until(
      () => ask(1),
      ({ status }) => status === 429 || windowNow() !== window,
    );
    return { first, second, isWhole: windowNow() === window };
  };
  const { first, second } = await until(attempt, ({ isWhole }) => isWhole);
  expect(first.filter(({ status }) => status === 200).length).toBeLessThanOrEqual(KEY_LIMIT);
  expect(second.status).toBe(429);
  expect(second.body).toMatchObject({ code: "rate_limited", status: "error" });
  // And the next window begins for both.
  for (const n of [0, 1])
    await until(
      () => ask(n),
      ({ status }) => status === 200,
    );
});

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Every call of every client goes to whichever instance is next, and is repeated as wallets repeat it, each time at the other one. */
function patientClient() {
  let turn = 0;
  let at = 0;
  const troubles = { refused: 0, cutOff: 0, answered: 0 };
  const api = actors(world, () => urlOf(at));
  const tryOnce = async (one: () => Promise<Answer>): Promise<Answer | null> => {
    try {
      const answer = await one();
      if (answer.status < 500 && answer.status !== 429) return answer;
      troubles.answered += 1;
    } catch (error) {
      if (!(error instanceof TypeError)) throw error;
      const { code } = (error.cause ?? {}) as { code?: string };
      if (code === "ECONNREFUSED") troubles.refused += 1;
      else troubles.cutOff += 1;
    }
    return null;
  };
  const ask: Ask = async (one) => {
    const first = turn++;
    for (const [index, wait] of [...PAUSES_MS, 0].entries()) {
      at = first + index;
      const answer = await tryOnce(one);
      if (answer !== null) return answer;
      await pause(wait);
    }
    throw new Error("a wallet gave up");
  };
  return { api, ask, troubles };
}

// Guarantee: instances can be replaced one after the other under traffic: no call is lost, and nothing happens twice.
test("a rolling restart", async () => {
  const { api, ask, troubles } = patientClient();
  const buy = async (purchase: Purchase) => {
    await createPurchase(api, purchase, ask);
    await choosePurchase(world, api, purchase, ask);
    await confirmPurchase(api, purchase, ask);
    await until(
      () => ask(() => api.status(purchase.id, 3_000)),
      ({ body }) => body.isFinal,
      60_000,
    );
  };
  let isOver = false;
  const restarts = async () => {
    for (const n of [0, 1, 0, 1]) {
      const old = instances[n];
      // The new one comes when the old one is told to go, as a supervisor does it: for a moment only the other is there.
      const stopped = old?.stop();
      instances[n] = await start();
      await stopped;
      expect(await old?.exited).toBe(0);
    }
    isOver = true;
  };
  const restarting = restarts();
  const purchases: Purchase[] = [];
  for (let round = 0; !isOver || round < 2; round++) {
    const planned = plan(`rolling-${round}`, 18);
    purchases.push(...planned);
    await inLanes(planned, 9, buy);
  }
  await restarting;
  expect(troubles.refused).toBeGreaterThan(0);
  await allSettled(world, purchases, 90_000);
  await expectPaidOnce(world, { purchases: bought, shops, before });
  // What was under way when an instance stopped may be sent again by the other.
  await expectTold(purchases);
  expect(
    await world.db.query(
      `select payment_id from chain_intent where kind = 'capture' group by 1 having count(*) > 1`,
    ),
  ).toEqual([]);
}, 240_000);
