import type { ServerResponse } from "node:http";
import { afterAll, afterEach, beforeAll, expect, test } from "vitest";
import { eventQueue } from "#server/db/event-queue.ts";
import { until } from "./api.ts";
import { type Behaviour, refuse, take } from "./receivers.ts";
import { hooks } from "./webhooks.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
let shop: ReturnType<typeof hooks>;
const workers: TestServer[] = [];

beforeAll(async () => {
  world = await createTestWorld();
  const env = { FLORIN_WORKER: "off", FLORIN_SETTLEMENT_BATCH_S: "2" };
  server = await world.startServer({ env });
  shop = hooks(world, () => server.baseUrl);
});
afterAll(() => world?.stop());
afterEach(async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.kill()));
  await shop.clear();
});

async function worker(failpoint = ""): Promise<TestServer> {
  const env = { FLORIN_SETTLEMENT_BATCH_S: "2", FAILPOINT: failpoint };
  const started = await world.startServer({ entry: "worker", env });
  workers.push(started);
  return started;
}

const inParallel = <T>(count: number, work: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, work));

/** The events of each payment in the order a receiver took them, which must be their own. */
function expectInOrder(events: { type: string; number: number; data: { payment_id: string } }[]) {
  const last = new Map<string, number>();
  for (const { number, data } of events) {
    expect(number).toBeGreaterThan(last.get(data.payment_id) ?? 0);
    last.set(data.payment_id, number);
  }
}

const expectNoGaps = (feed: { number: number }[]) =>
  expect(feed.map(({ number }) => number)).toEqual(feed.map((_, index) => index + 1));

// Guarantee: a receiver that is down for three days gets every event of that time once it is back, in order for each payment, each once.
test("three days away", async () => {
  await worker();
  const program = await shop.receiver();
  const { id } = await shop.endpoint(program.url);
  await program.down();
  const paid = await shop.created();
  await shop.api.pay(paid, world.buyer("usdc").key, "USDC");
  const ended = await inParallel(5, () => shop.cancelled());
  const feed = await until(
    () => shop.feed(),
    (events) => events.filter(({ data }) => data.payment_id === paid).length === 4,
  );
  const wanted = feed.filter(({ data }) => [paid, ...ended].includes(data.payment_id));
  const heads = async () => {
    const all = await shop.deliveries(id);
    return all.filter(({ eventType }) => eventType === "payment.created");
  };
  const MINUTE = 60;
  const HOUR = 60 * MINUTE;
  let made = 1;
  const tried = (times: number) =>
    until(
      heads,
      (all) => all.length === 6 && all.every(({ attemptCount }) => attemptCount >= times),
    );
  await tried(made);
  for (const delay of [
    5,
    5 * MINUTE,
    30 * MINUTE,
    2 * HOUR,
    5 * HOUR,
    10 * HOUR,
    14 * HOUR,
    20 * HOUR,
  ]) {
    await shop.pass(delay);
    await tried(++made);
  }
  // 51.6 hours are over. After 72 the receiver is back; nothing was given up meanwhile, and nothing overtook.
  await shop.pass(20.4 * HOUR);
  const waiting = await shop.deliveries(id);
  expect(waiting.every(({ state }) => state === "pending")).toBe(true);
  expect(waiting.filter(({ attemptCount }) => attemptCount > 0)).toHaveLength(6);
  await program.up();
  await shop.pass(3.6 * HOUR);
  await shop.settled();
  const told = program.received.map(({ body }) => body);
  expectInOrder(told);
  expect(told.map((event) => event.id).toSorted()).toEqual(
    wanted.map((event) => event.id).toSorted(),
  );
  expect(told.toSorted((a, b) => a.number - b.number)).toEqual(wanted);
  const first = (await heads())[0];
  const { attempts } = await shop.delivery(first.id);
  expect(attempts).toHaveLength(10);
  expect(attempts[0].error).toContain("ECONNREFUSED");
  expect(attempts[9]).toMatchObject({ responseStatus: 204, error: null });
});

const drip = (response: ServerResponse) => {
  const timer = setInterval(() => response.write("."), 1_000);
  response.on("close", () => clearInterval(timer));
};
const TROUBLES: Record<string, Behaviour> = {
  "never answers": () => undefined,
  "answers a byte each second": (response) => drip(response.writeHead(200)),
  "sends a byte of headers each second": (response) => {
    const { socket } = response;
    const letters = [..."HTTP/1.1 200 OK\r\nx-slow: and so on"];
    const timer = setInterval(() => socket?.write(letters.shift() ?? "."), 1_000);
    socket?.on("close", () => clearInterval(timer));
  },
  "answers 500": refuse(500),
  "answers 404": refuse(404),
  "hangs up": (response) => void response.destroy(),
  "breaks off": (response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("begun", () => response.destroy());
  },
};

/** Those that would go on for ever. */
const SLOW = ["never answers", "answers a byte each second", "sends a byte of headers each second"];

// Guarantee: receivers that are slow, broken or hostile delay nobody, are given up on in time, and lose nothing.
test("one good receiver among bad ones", async () => {
  await worker();
  const good = await shop.receiver();
  const greedy = await shop.receiver((response) => {
    response.writeHead(200);
    const more = () => {
      while (!response.destroyed && response.write("x".repeat(64 * 1024)));
    };
    response.on("drain", more);
    more();
  });
  const lured = await shop.receiver();
  const bad = new Map<string, string>();
  const add = async (name: string, behaviour: Behaviour) => {
    const { url } = await shop.receiver(behaviour);
    bad.set(name, (await shop.endpoint(url)).id);
  };
  for (const [name, behaviour] of Object.entries(TROUBLES)) await add(name, behaviour);
  await add("redirects", refuse(302, { location: lured.url }));
  await add("redirects for ever", refuse(308, { location: "/hook" }));
  await shop.endpoint(good.url);
  const { id: greedyId } = await shop.endpoint(greedy.url);
  const payments = await inParallel(40, () => shop.created());
  await until(
    async () => good.received.length,
    (count) => count >= 40,
  );
  // Each attempt at a receiver that never answers takes 15 seconds: nobody waited for its forty.
  const silent = await shop.deliveries(bad.get("never answers") ?? "");
  expect(silent).toHaveLength(40);
  expect(silent.filter(({ attemptCount }) => attemptCount > 0).length).toBeLessThan(5);
  expect(new Set(good.received.map(({ body }) => body.data.payment_id))).toEqual(new Set(payments));
  expect(good.received).toHaveLength(40);
  expect(lured.received).toHaveLength(0);

  const taken = await until(
    () => shop.deliveries(greedyId),
    (all) => all.every(({ state }) => state === "succeeded"),
  );
  const [big] = (await shop.delivery(taken[0].id)).attempts;
  expect(big).toMatchObject({ responseStatus: 200, error: null });
  expect(big.responseBody).toHaveLength(16 * 1024);

  for (const [name, id] of bad) {
    const tried = await until(
      () => shop.deliveries(id),
      (all) => all.some(({ attemptCount }) => attemptCount > 0),
    );
    expect(
      tried.every(({ state }) => state === "pending"),
      name,
    ).toBe(true);
    const { attempts } = await shop.delivery(tried.find((one) => one.attemptCount > 0)?.id);
    if (SLOW.includes(name)) expect(attempts[0].error, name).toBe("no complete answer within 15 s");
    if (attempts[0].responseStatus === null || name.startsWith("breaks"))
      expect(attempts[0].error, name).not.toBeNull();
  }
});

// Guarantee: a worker that is killed while a receiver works loses nothing: the next one sends the event again under the same id.
test("kill -9 while a delivery is under way", async () => {
  const first = await worker();
  const program = await shop.receiver(() => undefined);
  await shop.endpoint(program.url);
  const paymentId = await shop.cancelled();
  await until(
    async () => program.received.length,
    (count) => count > 0,
  );
  await first.kill();
  const begun = program.about(paymentId).map(({ id }) => id);
  program.behave(take);
  await worker();
  await shop.pass(60);
  await shop.settled();
  const told = program.about(paymentId).slice(begun.length);
  expect(told.map(({ type }) => type)).toEqual(["payment.created", "payment.cancelled"]);
  expect(begun).toEqual([told[0].id]);
});

// Guarantee: a worker that is asked to stop does not wait for receivers, and what it had under way is due at once.
test("a stop while a receiver hangs", async () => {
  const first = await worker();
  const program = await shop.receiver(() => undefined);
  const { id } = await shop.endpoint(program.url);
  await shop.created();
  await until(
    async () => program.received.length,
    (count) => count > 0,
  );
  await first.stop();
  // A worker that stops too slowly ends itself with another code.
  expect(await first.exited).toBe(0);
  const [delivery] = await shop.deliveries(id);
  expect(delivery).toMatchObject({ state: "pending", attemptCount: 0 });
  expect(Date.parse(delivery.nextAttemptAt)).toBeLessThanOrEqual(Date.now());
});

// Guarantee: whatever moment a worker dies at, every event is numbered once, queued once and delivered at least once.
test.each([
  "number.before_dispatch",
  "number.before_commit",
  "webhook.before_send",
  "webhook.after_send",
])("a worker that dies at %s", async (point) => {
  const program = await shop.receiver();
  const { id } = await shop.endpoint(program.url);
  const dying = await worker(`${point}:exit@1`);
  const payments = await inParallel(6, () => shop.cancelled());
  await dying.exited;
  await worker();
  await shop.pass(60);
  await shop.settled();
  expectNoGaps(await shop.feed());
  const deliveries = await shop.deliveries(id);
  expect(deliveries).toHaveLength(12);
  expect(new Set(deliveries.map(({ eventId }) => eventId)).size).toBe(12);
  for (const paymentId of payments) {
    const ids = program.about(paymentId).map((event) => event.id);
    expect(new Set(ids).size).toBe(2);
    expect([...new Set(program.about(paymentId).map(({ type }) => type))]).toEqual([
      "payment.created",
      "payment.cancelled",
    ]);
  }
  const twice = program.received.length - 12;
  expect(twice).toBe(point === "webhook.after_send" ? 1 : 0);
});

// Guarantee: numbers have no gaps and follow each payment's order, however many workers number at once.
test("numbers with two workers and strangers", async () => {
  await Promise.all([worker(), worker()]);
  const program = await shop.receiver();
  const { id } = await shop.endpoint(program.url);
  const queue = eventQueue(world.db);
  let busy = true;
  const strangers = inParallel(3, async () => {
    while (busy) await queue.numberEvents(7);
  });
  const flows = ["intermediary", "direct"] as const;
  await Promise.all(flows.map((flow) => inParallel(40, () => shop.cancelled(flow))));
  await shop.settled();
  busy = false;
  await strangers;
  for (const flow of flows) {
    const feed = await shop.feed(flow);
    expectNoGaps(feed);
    expectInOrder(feed);
    expect(new Set(feed.map((event) => event.id)).size).toBe(feed.length);
  }
  expect((await shop.deliveries(id)).length).toBe(80);
  expect(program.received).toHaveLength(80);
  expectInOrder(program.received.map(({ body }) => body));
});
