import { afterAll, beforeAll, expect, test } from "vitest";
import { rpc } from "#server/sandbox/node-rpc.ts";
import { type Answer, actors, until } from "./api.ts";
import {
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
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const SETTINGS = { FLORIN_WORKER: "off", FLORIN_SETTLEMENT_BATCH_S: "3" };
/** How long a poll is held unless something wakes it. */
const HELD_MS = 25_000;

let world: TestWorld;
let doors: TestServer[];
let first: TestServer;
let second: TestServer;
let shops: Shop[];
let shoppers: Shopper[];
let before: Holdings;
/** Everything bought in this file. */
const bought: Purchase[] = [];

/** Calls through one of the two doors. */
const through = (door: number) => actors(world, () => doors[door]?.baseUrl ?? "");

/** The connections that hold the leases of the chains, by their ports. */
async function heldBy(): Promise<number[]> {
  const rows = await world.db.query<{ port: number }>(
    `select a.client_port as port from pg_locks l join pg_stat_activity a on a.pid = l.pid
     where l.locktype = 'advisory' and l.granted and (l.classid::bigint << 32) | l.objid::bigint in
       (select hashtextextended('florin:chain:' || chain, 0) from unnest($1::text[]) as chain)`,
    [world.world.chains.map(({ caip2 }) => caip2)],
  );
  return rows.map(({ port }) => port);
}

const allHeld = (): Promise<number[]> => until(heldBy, (held) => held.length === 2);

beforeAll(async () => {
  world = await createTestWorld({ chains: 2 });
  shops = await openShops(world);
  shoppers = await inviteShoppers(world, 5, { allowed: true });
  before = await holdingsOf(world, shoppers);
  const door = () => world.startServer({ env: SETTINGS });
  const worker = () => world.startServer({ env: SETTINGS, entry: "worker" });
  doors = await Promise.all([door(), door()]);
  // The first worker has both chains before the second comes.
  first = await worker();
  await allHeld();
  second = await worker();
});
afterAll(() => world?.stop());

function plan(name: string, count: number): Purchase[] {
  const planned = planPurchases(world, shops, shoppers, { count, name });
  bought.push(...planned);
  return planned;
}

/** A payment whose every step goes through the other door than the one before, and whose results are handed in at both at once. */
async function buyThroughBoth(purchase: Purchase): Promise<void> {
  await createPurchase(through(0), purchase);
  await choosePurchase(world, through(1), purchase);
  await signPurchase(through(0), purchase);
  await Promise.all([0, 1].map((door) => confirmPurchase(through(door), purchase)));
}

// Guarantee: two doors and two workers on one database are one service: nothing is taken, submitted or settled twice.
test("forty-eight payments through two doors and two workers", async () => {
  const purchases = plan("both", 48);
  await inLanes(purchases, 12, buyThroughBoth);
  await allSettled(world, purchases, 60_000);
  await expectPaidOnce(world, { purchases: bought, shops, before });
});

/** Starts a poll that a door holds, and makes sure that the door has it. */
async function hold(door: number, id: string) {
  const heldFrom = performance.now();
  let heldForMs: number | null = null;
  const answer: Promise<Answer> = through(door)
    .status(id, HELD_MS)
    .then((got) => {
      heldForMs = performance.now() - heldFrom;
      return got;
    });
  // Later calls of the same door are answered while it is held.
  for (let n = 0; n < 3; n++) await through(door).status(id);
  expect(heldForMs).toBeNull();
  return { answer, heldForMs: () => heldForMs };
}

const sentFor = (id: string) =>
  world.db.query<{ hash: string }>(
    `select t.hash from chain_intent i join chain_tx t on t.intent_id = i.id
     where i.payment_id = $1 and i.state = 'broadcast'`,
    [id],
  );

// Guarantee: whoever waits at one door hears at once of what came in at the other, and of what the worker saw on chain.
test("a poll held at one door wakes for a confirm at the other, and for the block", async () => {
  const [purchase] = plan("poll", 1);
  const chain = world.world.chains[purchase?.chain ?? 0]?.anvil.rpcUrl;
  if (purchase === undefined || chain === undefined) throw new Error("no purchase");
  await createPurchase(through(0), purchase);
  await choosePurchase(world, through(1), purchase);
  await signPurchase(through(1), purchase);
  await rpc(chain, "evm_setIntervalMining", [0]);
  const confirmed = await hold(0, purchase.id);
  await confirmPurchase(through(1), purchase);
  expect((await confirmed.answer).body).toMatchObject({ status: "processing", isFinal: false });
  expect(confirmed.heldForMs()).toBeLessThan(HELD_MS);
  await until(
    () => sentFor(purchase.id),
    // A replacement may add one.
    (rows) => rows.length >= 1,
  );
  const paid = await hold(0, purchase.id);
  await rpc(chain, "evm_mine");
  expect((await paid.answer).body).toMatchObject({ status: "succeeded", isFinal: true });
  expect(paid.heldForMs()).toBeLessThan(HELD_MS);
  await rpc(chain, "evm_setIntervalMining", [1]);
});

// Guarantee: a worker that stands still loses its leases to the other by itself, and does no harm when it goes on as if nothing had happened.
test("a worker that was paused while the other took over", async () => {
  const purchases = plan("paused", 24);
  const earlier = await heldBy();
  let confirmed = 0;
  await inLanes(purchases, 8, async (purchase) => {
    await buyThroughBoth(purchase);
    confirmed += 1;
    if (confirmed === purchases.length / 3) process.kill(first.pid, "SIGSTOP");
    if (confirmed !== (purchases.length * 2) / 3) return;
    await until(
      heldBy,
      (held) => held.length === 2 && !held.some((port) => earlier.includes(port)),
    );
    process.kill(first.pid, "SIGCONT");
  });
  expect((await heldBy()).filter((port) => earlier.includes(port))).toEqual([]);
  await allSettled(world, purchases, 60_000);
  await expectPaidOnce(world, { purchases: bought, shops, before });
  // Back to where the first has both chains, for whoever comes next.
  await second.kill();
  await allHeld();
  second = await world.startServer({ env: SETTINGS, entry: "worker" });
});

// Guarantee: when a worker is killed in the middle of its work, the other takes up everything it had begun, once.
test("the second worker goes on where the first was killed", async () => {
  const purchases = plan("takeover", 24);
  const earlier = await heldBy();
  let confirmed = 0;
  await inLanes(purchases, 8, async (purchase) => {
    await buyThroughBoth(purchase);
    confirmed += 1;
    if (confirmed === purchases.length / 2) await first.kill();
  });
  const later = await allHeld();
  expect(later.filter((port) => earlier.includes(port))).toEqual([]);
  await allSettled(world, purchases, 60_000);
  await expectPaidOnce(world, { purchases: bought, shops, before });
  await second.stop();
  expect(await second.exited).toBe(0);
});
