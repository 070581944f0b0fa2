import { afterAll, beforeAll, expect, test } from "vitest";
import { issueKey } from "#server/db/credentials.ts";
import { type Answer, actors, call, until } from "./api.ts";
import { send } from "./doors.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let ids: string[];

const open = (env: Record<string, string> = {}): Promise<TestServer> =>
  world.startServer({ env: { FLORIN_WORKER: "off", ...env } });
const gatewayKey = () => world.demo.gateway.apiKey;
const idOf = (n: number): string => ids[n % ids.length] ?? "";

/** A call that is on its way; `answer` is null until it came. */
type Asked = { answer: Answer | null; done: Promise<Answer>; tookMs: number };

function asking(call: () => Promise<Answer>): Asked {
  const startedAt = performance.now();
  const asked: Asked = {
    answer: null,
    tookMs: Number.NaN,
    done: call().then((answer) => {
      asked.answer = answer;
      asked.tookMs = performance.now() - startedAt;
      return answer;
    }),
  };
  return asked;
}

const pathOf = (n: number, maxPollMs: number) =>
  `/v1/gateway/payment/${idOf(n)}/status?maxPollMs=${maxPollMs}`;
/** A poll of a payment's status, on a connection of its own: it never waits behind one that is held. */
const ask = (server: TestServer, n: number, maxPollMs = 0, key = gatewayKey()): Asked =>
  asking(() => send(server.baseUrl, { path: pathOf(n, maxPollMs), headers: { "Api-Key": key } }));
const askMany = (server: TestServer, count: number) =>
  Array.from({ length: count }, (_, n) => ask(server, n));
const open_ = (asked: Asked[]) => asked.filter(({ answer }) => answer === null);
/** Waits until exactly `count` of these calls are not answered yet, and the others are. */
const leftOpen = (asked: Asked[], count: number) =>
  until(
    async () => open_(asked).length,
    (left) => left === count,
  );
const statuses = async (asked: Asked[]) =>
  (await Promise.all(asked.map(({ done }) => done))).map(({ status }) => status);

/** Keeps every statement on a table waiting, until the result is called. */
async function stall(table: string): Promise<() => Promise<void>> {
  const client = await world.db.pool.connect();
  await client.query("begin");
  await client.query(`lock table ${table} in access exclusive mode`);
  return async () => {
    await client.query("rollback");
    client.release();
  };
}

/** How many statements of servers wait for a lock. */
const waitingFor = (count: number) =>
  until(
    () =>
      world.db.query(
        `select 1 from pg_stat_activity where application_name = 'florin' and wait_event_type = 'Lock'`,
      ),
    (rows) => rows.length >= count,
  );

beforeAll(async () => {
  world = await createTestWorld();
  const server = await open();
  const shop = actors(world, () => server.baseUrl);
  ids = [];
  for (let n = 0; n < 12; n++) ids.push((await shop.create()).body.paymentId);
  await server.stop();
});
afterAll(() => world?.stop());

// Guarantee: a server that has as much to do as it may refuses more at once, in words a client retries on; held polls are not work.
test("more requests than are worked on", async () => {
  const server = await open({ FLORIN_MAX_IN_FLIGHT: "5" });
  const held: Asked[] = [];
  // Each is held before the next is asked: at no time do five work.
  for (let n = 0; n < 8; n++) {
    held.push(ask(server, n, 25_000));
    for (let after = 0; after < 2; after++) expect((await ask(server, 8).done).status).toBe(200);
  }
  const release = await stall("payment");
  // Five of these are worked on, whichever come first.
  const asked = askMany(server, 10);
  await leftOpen(asked, 5);
  const refused = await ask(server, 9).done;
  expect(refused.status).toBe(503);
  expect([refused.body.code, refused.headers.get("retry-after")]).toEqual(["internal_error", "1"]);
  expect(refused.body.message).not.toMatch(/connection|database|flight/);
  expect((await call(server.baseUrl, "GET", "/healthz")).status).toBe(200);
  // None of the refusals had to wait for any of those that are worked on.
  const working = open_(asked);
  expect(working).toHaveLength(5);
  await release();
  expect(await statuses(working)).toEqual([200, 200, 200, 200, 200]);
  expect((await statuses(asked)).filter((status) => status === 503)).toHaveLength(5);
  expect((await ask(server, 9).done).status).toBe(200);
  expect(open_(held)).toHaveLength(8);
  await server.stop();
  expect(new Set(await statuses(held))).toEqual(new Set([200]));
});

// Guarantee: when the database does not keep up, those who would wait for a connection in vain are told so, and the queue stays short.
test("more statements than connections", async () => {
  const server = await open({ FLORIN_MAX_DATABASE_QUEUE: "4" });
  const shop = actors(world, () => server.baseUrl);
  const release = await stall("outbox");
  // Right before, so that nobody below has to read the credentials first.
  await shop.details(idOf(0));
  const creates = Array.from({ length: 40 }, () => asking(() => shop.create()));
  const answered = () => creates.flatMap(({ answer }) => answer?.status ?? []);
  await waitingFor(20);
  await leftOpen(creates, 24);
  expect(answered()).toEqual(Array(16).fill(503));
  // Four of those that were let in wait for a connection, for no longer than ten seconds.
  await leftOpen(creates, 20);
  expect(answered()).toEqual(Array(20).fill(503));
  await release();
  const all = await statuses(creates);
  expect(all.filter((status) => status === 201)).toHaveLength(20);
  expect((await shop.create()).status).toBe(201);
  await server.stop();
});

// Guarantee: a call that the database takes too long for is an outage, not a fault: the same call can be made again, and nothing happens twice.
test("a statement that takes too long", async () => {
  const server = await open();
  const shop = actors(world, () => server.baseUrl);
  const count = () => world.db.query<{ n: string }>(`select count(*) as n from payment`);
  const before = await count();
  const headers = { "Idempotency-Key": "a-slow-day" };
  const release = await stall("outbox");
  const slow = await shop.create({ headers }).finally(release);
  expect([slow.status, slow.body.code]).toEqual([503, "internal_error"]);
  expect(slow.headers.get("retry-after")).toBe("1");
  expect(await count()).toEqual(before);
  const again = await shop.create({ headers });
  expect([again.status, (await shop.create({ headers })).body]).toEqual([201, again.body]);
  expect(Number((await count())[0]?.n)).toBe(Number(before[0]?.n) + 1);
  await server.stop();
});

// Guarantee: one payment, one key and one process hold no more polls than they may; a poll above that is answered at once and told when to ask again.
test("caps of held polls", async () => {
  const server = await open({
    FLORIN_HELD_PER_PAYMENT: "2",
    FLORIN_HELD_PER_KEY: "4",
    FLORIN_HELD_PER_PROCESS: "6",
  });
  const { key: other } = await issueKey(world.db.query, world.world.memory.pepper, {
    partnerId: world.demo.partnerId,
    merchantId: null,
    environment: "test",
    scopes: ["gateway"],
  });
  const held: { n: number; key: string; asked: Asked }[] = [];
  const answeredAtOnce = (n: number, key = gatewayKey()) =>
    until(
      async () => {
        // A poll that came too late, when this one had taken its place, was answered and is asked for again.
        for (const one of held)
          if (one.asked.answer !== null) one.asked = ask(server, one.n, 20_000, one.key);
        const asked = ask(server, n, 2_000, key);
        const { status, body } = await asked.done;
        expect([status, body.status, body.isFinal, body.pollInMs]).toEqual([
          200,
          "requires_action",
          false,
          1000,
        ]);
        return asked.tookMs;
      },
      (tookMs) => tookMs < 1_000,
    );
  /** Asks for one poll more and gives it time: later calls of the same server were answered. */
  const hold = async (n: number, key = gatewayKey()) => {
    held.push({ n, key, asked: ask(server, n, 20_000, key) });
    for (let after = 0; after < 3; after++) await ask(server, n, 0, key).done;
  };
  await hold(0);
  await hold(0);
  await answeredAtOnce(0);
  await hold(1);
  await hold(2);
  await answeredAtOnce(3);
  await hold(3, other);
  await hold(4, other);
  await answeredAtOnce(5, other);
  const six = held.map(({ asked }) => asked);
  expect(open_(six)).toHaveLength(6);
  await server.stop();
  expect(await statuses(six)).toEqual([200, 200, 200, 200, 200, 200]);
});

// Guarantee: a poll whose caller hung up makes room for another.
test("a caller that hangs up", async () => {
  const server = await open({ FLORIN_HELD_PER_KEY: "1" });
  const hangUp = new AbortController();
  const path = pathOf(0, 20_000);
  const headers = { "Api-Key": gatewayKey() };
  const poll = () =>
    asking(() => call(server.baseUrl, "GET", path, { headers, signal: hangUp.signal }));
  let first = poll();
  const second = async () => {
    const asked = ask(server, 1, 300);
    await asked.done;
    return asked.tookMs;
  };
  await until(
    () => {
      // It came when the second had its place: then it was answered.
      if (first.answer !== null) first = poll();
      return second();
    },
    (tookMs) => tookMs < 250,
  );
  const ended = first.done.catch(() => "gone");
  hangUp.abort();
  expect(await ended).toBe("gone");
  await until(second, (tookMs) => tookMs >= 300);
  await server.stop();
});

// Guarantee: a stop answers who is held at once, finishes what it has begun, takes nothing new, and ends well.
test("a stop", async () => {
  const server = await open();
  const shop = actors(world, () => server.baseUrl);
  await shop.create();
  const headers = { "Api-Key": gatewayKey() };
  const held = Array.from({ length: 6 }, (_, n) =>
    asking(() => call(server.baseUrl, "GET", pathOf(n, 20_000), { headers })),
  );
  for (let n = 0; n < 3; n++) await ask(server, 7).done;
  expect(open_(held)).toHaveLength(6);
  const release = await stall("outbox");
  const created = asking(() => shop.create());
  await waitingFor(1);
  const stopped = server.stop();
  for (const { done } of held) {
    const { status, headers, body } = await done;
    expect([status, body.status, headers.get("connection")]).toEqual([
      200,
      "requires_action",
      "close",
    ]);
  }
  expect(created.answer).toBeNull();
  await expect(ask(server, 8).done).rejects.toThrow();
  await release();
  const { status, headers: last, body } = await created.done;
  expect([status, last.get("connection")]).toEqual([201, "close"]);
  await stopped;
  expect(await server.exited).toBe(0);
  const rows = await world.db.query(`select 1 from payment where id = $1`, [body.paymentId]);
  expect(rows).toHaveLength(1);
});
