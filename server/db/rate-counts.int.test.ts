import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pino } from "pino";
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from "vitest";
import type { LimitName } from "#server/domain/limits.ts";
import { isOver, type Limits } from "#server/ports/limits.ts";
import { migrate } from "#server/sandbox/migrate.ts";
import { type Postgres, startPostgres } from "#server/sandbox/postgres.ts";
import { createDatabase, type Database, type Query } from "./client.ts";
import { createRateCounts } from "./rate-counts.ts";

const log = pino({ level: "silent" });
const SETTINGS = { FLORIN_MODE: "live", FLORIN_LIMIT_KEY: 80, FLORIN_LIMIT_WALLET: 16 } as const;

let dir: string;
let postgres: Postgres;
let db: Database;
const opened: Limits[] = [];

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "florin-rates-"));
  postgres = await startPostgres({ dir });
  await migrate(postgres.url);
  db = createDatabase(postgres.url, { max: 4 });
});
afterAll(async () => {
  vi.useRealTimers();
  await db?.close();
  await postgres?.stop();
  rmSync(dir, { recursive: true, force: true });
});
beforeEach(async () => {
  // The clock stands at the beginning of a window that the database's own clock comes to in a minute or more; counts are told when the
  // test says so, and none is forgotten in memory.
  const minute = Math.ceil(vi.getRealSystemTime() / 60_000) + 1;
  vi.useFakeTimers({ toFake: ["Date", "setTimeout", "clearTimeout"], now: minute * 60_000 + 1 });
  await db.query(`delete from rate_count`);
});
afterEach(() => {
  for (const counts of opened.splice(0)) counts.stop();
});

/** The counters of one process. */
function open(query: Query = db.query): Limits {
  const counts = createRateCounts(query, SETTINGS as never, log);
  opened.push(counts);
  return counts;
}
async function take(counts: Limits, times: number, subject = "k", name: LimitName = "key") {
  let used = 0;
  for (let n = 0; n < times; n++) used = (await counts.take(name, subject)).used;
  return used;
}
const stored = () =>
  db.query<{ bucket: string; used: number }>(`select bucket, used from rate_count order by 1`);

// Guarantee: several processes count as one: each knows the sum of all, however often and in whichever order they tell.
test("the sum over three processes", async () => {
  const [a, b, c] = [open(), open(), open()];
  await take(a, 20);
  await take(b, 30);
  for (const one of [a, b, c, a, b, c]) await one.share();
  for (const one of [a, b, c]) expect((await one.look("key", "k")).used).toBe(50);
  await take(c, 25);
  await take(a, 5);
  for (const one of [c, a, c, b, b]) await one.share();
  for (const one of [a, b, c]) expect((await one.look("key", "k")).used).toBe(80);
  expect(await stored()).toEqual([{ bucket: "key k", used: 80 }]);
  expect(isOver(await b.take("key", "k"))).toBe(true);
});

// Guarantee: processes that tell at the same moment neither lose counts nor wait for each other in a circle.
test("many tell at once", async () => {
  const all = Array.from({ length: 8 }, () => open());
  const subjects = Array.from({ length: 12 }, (_, n) => `k${n}`);
  for (let round = 0; round < 3; round++) {
    for (const [n, one] of all.entries())
      for (const subject of n % 2 === 0 ? subjects : subjects.toReversed())
        await take(one, 10, subject);
    await Promise.all(all.map((one) => one.share()));
  }
  for (const one of all) await one.share();
  expect(await stored()).toEqual(
    subjects
      .map((name) => ({ bucket: `key ${name}`, used: 240 }))
      .toSorted((x, y) => (x.bucket < y.bucket ? -1 : 1)),
  );
  for (const one of all) expect((await one.look("key", "k3")).used).toBe(240);
});

// Guarantee: ordinary callers are never written down, and a new process knows of the others.
test("what is told", async () => {
  const [a, b] = [open(), open()];
  await take(a, 9);
  await a.share();
  expect(await stored()).toEqual([]);
  await take(a, 1);
  await a.share();
  expect(await stored()).toEqual([{ bucket: "key k", used: 10 }]);
  await b.share();
  expect((await b.look("key", "k")).used).toBe(10);
});

// Guarantee: limits and subjects are counted apart, and each window begins anew for everybody.
test("windows, names and subjects", async () => {
  const [a, b] = [open(), open()];
  await take(a, 12, "one", "wallet");
  await take(a, 11, "two 1", "wallet");
  await a.share();
  await b.share();
  const used = async (name: LimitName, subject: string) => (await b.look(name, subject)).used;
  expect([await used("wallet", "one"), await used("wallet", "two 1")]).toEqual([12, 11]);
  expect([await used("key", "one"), await used("wallet", "two")]).toEqual([0, 0]);
  vi.setSystemTime(Date.now() + 2_000);
  expect(await used("wallet", "one")).toBe(0);
  expect(await take(a, 1, "one", "wallet")).toBe(1);
  await a.share();
  await b.share();
  expect(await used("wallet", "one")).toBe(0);
});

// Guarantee: what is over is removed, and counts of a window that still runs are not.
test("old counts are forgotten", async () => {
  await db.query(
    `insert into rate_count values ('key old', 1, 5, now() - interval '1 minute'), ('key new', 1, 5, now() + interval '1 minute')`,
  );
  await open().share();
  expect(await stored()).toEqual([{ bucket: "key new", used: 5 }]);
});

// Guarantee: a database that is away stops no counting, and what was counted meanwhile is told later.
test("without a database", async () => {
  let isAway = true;
  const flaky: Query = (text, values) =>
    isAway ? Promise.reject(new Error("away")) : db.query(text, values);
  const counts = open(flaky);
  expect(await take(counts, 50)).toBe(50);
  await counts.share();
  expect(await take(counts, 10)).toBe(60);
  isAway = false;
  await counts.share();
  expect(await stored()).toEqual([{ bucket: "key k", used: 60 }]);
  expect((await counts.look("key", "k")).used).toBe(60);
});
