import { afterAll, beforeAll, expect, test } from "vitest";
import { issueKey } from "#server/db/credentials.ts";
import { type Answer, actors, call, until } from "./api.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let ids: string[];

const open = (env: Record<string, string> = {}): Promise<TestServer> =>
  world.startServer({ env: { FLORIN_WORKER: "off", ...env } });
const gatewayKey = () => world.demo.gateway.apiKey;
const idOf = (n: number): string => ids[n % ids.length] ?? "";

/** A poll that is on its way; `answer` is null until it came. */
type Asked = { answer: Answer | null; done: Promise<Answer>; tookMs: number };

function ask(server: TestServer, n: number, maxPollMs = 0, key = gatewayKey()): Asked {
  const startedAt = performance.now();
  const path = `/v1/gateway/payment/${idOf(n)}/status?maxPollMs=${maxPollMs}`;
  const asked: Asked = {
    answer: null,
    tookMs: Number.NaN,
    done: call(server.baseUrl, "GET", path, { headers: { "Api-Key": key } }).then((answer) => {
      asked.answer = answer;
      asked.tookMs = performance.now() - startedAt;
      return answer;
    }),
  };
  return asked;
}
const askMany = (server: TestServer, count: number, maxPollMs = 0) =>
  Array.from({ length: count }, (_, n) => ask(server, n, maxPollMs));
const open_ = (asked: Asked[]) => asked.filter(({ answer }) => answer === null);
/** Waits until exactly `count` of these calls are not answered yet, and the others are. */
const leftOpen = (asked: Asked[], count: number) =>
  until(
    async () => open_(asked).length,
    (left) => left === count,
    10_000,
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
    10_000,
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
    held.push(ask(server, n, 20_000));
    for (let after = 0; after < 2; after++) expect((await ask(server, 8).done).status).toBe(200);
  }
  const release = await stall("payment");
  const working = askMany(server, 5);
  await waitingFor(1);
  await leftOpen(working, 5);
  const refused = await until(
    () => ask(server, 9).done,
    ({ status }) => status === 503,
    2_000,
  );
  expect([refused.body.code, refused.headers.get("retry-after")]).toEqual(["internal_error", "1"]);
  expect(refused.body.message).not.toMatch(/connection|database|flight/);
  const last = ask(server, 9);
  await last.done;
  expect(last.tookMs).toBeLessThan(1_000);
  expect((await call(server.baseUrl, "GET", "/healthz")).status).toBe(200);
  await release();
  expect(await statuses(working)).toEqual([200, 200, 200, 200, 200]);
  expect((await ask(server, 9).done).status).toBe(200);
  expect(open_(held)).toHaveLength(8);
  await server.stop();
  expect(new Set(await statuses(held))).toEqual(new Set([200]));
});

// Guarantee: when the database does not keep up, those who would wait for a connection in vain are told so, and the queue stays short.
test("more statements than connections", async () => {
  const server = await open({ FLORIN_MAX_DATABASE_QUEUE: "4" });
  const shop = actors(world, () => server.baseUrl);
  await shop.create();
  const release = await stall("outbox");
  const startedAt = performance.now();
  const creates = Array.from({ length: 40 }, () => shop.create());
  const early = creates.map((one) =>
    one.then(({ status }) => [status, performance.now() - startedAt]),
  );
  await waitingFor(20);
  // The rest of those that were let in wait for a connection, for no longer than ten seconds.
  await until(
    async () => performance.now() - startedAt,
    (passed) => passed > 11_000,
    15_000,
  );
  await release();
  const answers = await Promise.all(early);
  const took = (status: number) =>
    answers.filter(([one]) => one === status).map(([, ms]) => ms ?? 0);
  expect(took(201)).toHaveLength(20);
  expect(took(503).filter((ms) => ms < 3_000)).toHaveLength(16);
  expect(took(503).filter((ms) => ms >= 3_000 && ms < 13_000)).toHaveLength(4);
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
  /** Asks until nothing is held for it: one that came before may still be on its way. */
  const answeredAtOnce = (n: number, key = gatewayKey()) =>
    until(
      async () => {
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
      15_000,
    );
  /** Asks for one poll more and waits until it is held: a later call of the same server was answered. */
  const held: Asked[] = [];
  const hold = async (n: number, key = gatewayKey()) => {
    held.push(ask(server, n, 20_000, key));
    for (let after = 0; after < 3; after++) await ask(server, n).done;
    expect(open_(held)).toHaveLength(held.length);
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
  await server.stop();
  expect(await statuses(held)).toEqual([200, 200, 200, 200, 200, 200]);
});

// Guarantee: a poll whose caller hung up makes room for another.
test("a caller that hangs up", async () => {
  const server = await open({ FLORIN_HELD_PER_KEY: "1" });
  const hangUp = new AbortController();
  const path = `/v1/gateway/payment/${idOf(0)}/status?maxPollMs=20000`;
  const headers = { "Api-Key": gatewayKey() };
  const first = call(server.baseUrl, "GET", path, { headers, signal: hangUp.signal });
  const ended = first.catch(() => "gone");
  await until(
    async () => {
      const second = ask(server, 1, 300);
      await second.done;
      return second.tookMs;
    },
    (tookMs) => tookMs < 250,
    10_000,
  );
  hangUp.abort();
  expect(await ended).toBe("gone");
  await until(
    async () => {
      const second = ask(server, 1, 300);
      await second.done;
      return second.tookMs;
    },
    (tookMs) => tookMs >= 300,
    10_000,
  );
  await server.stop();
});

// Guarantee: a stop answers who is held at once, finishes what it has begun, takes nothing new, and ends well.
test("a stop", async () => {
  const server = await open();
  const shop = actors(world, () => server.baseUrl);
  await shop.create();
  const held = askMany(server, 6, 20_000);
  for (let n = 0; n < 3; n++) await ask(server, 7).done;
  expect(open_(held)).toHaveLength(6);
  const release = await stall("outbox");
  const created = shop.create();
  await waitingFor(1);
  const stopped = server.stop();
  const startedAt = performance.now();
  for (const { done } of held) {
    const { status, headers, body } = await done;
    expect([status, body.status, headers.get("connection")]).toEqual([
      200,
      "requires_action",
      "close",
    ]);
  }
  expect(performance.now() - startedAt).toBeLessThan(2_000);
  await expect(ask(server, 8).done).rejects.toThrow();
  await release();
  const { status, headers, body } = await created;
  expect([status, headers.get("connection")]).toEqual([201, "close"]);
  await stopped;
  expect(await server.exited).toBe(0);
  const rows = await world.db.query(`select 1 from payment where id = $1`, [body.paymentId]);
  expect(rows).toHaveLength(1);
});
