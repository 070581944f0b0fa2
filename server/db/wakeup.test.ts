import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Query } from "./client.ts";
import { createWakeup, type ProcessWakeup } from "./wakeup.ts";

const log = pino({ level: "silent" });
let notify: (payload: string) => void = () => undefined;
let versions: Record<string, number> = {};
let reads = 0;

const listener = {
  on: (_: string, heard: (payload: string) => void) => {
    notify = heard;
  },
  onConnect: () => undefined,
  close: async () => undefined,
};
const query: Query = async <Row>(_: string, values: unknown[] = []) => {
  reads += 1;
  const [ids] = values as [string[]];
  return ids.flatMap((id) => (id in versions ? [{ id, version: versions[id] }] : [])) as Row[];
};
const CAPS = { perPayment: 2, perProcess: 3 };
const wakeup = () => createWakeup(listener, query, log, CAPS);
/** A hold that ends with whether it was woken; one that is not taken ends at once. */
const hold = (waits: ProcessWakeup, paymentId: string, version: number, waitMs: number) =>
  new Promise<boolean>((resolve) => {
    const waiter = { paymentId, version, wake: () => resolve(true) };
    if (!waits.hold(waiter, waitMs)) resolve(false);
  });
/** Whether a hold has been answered by now. */
async function isAnswered(held: Promise<boolean>): Promise<boolean> {
  const pending = Symbol("pending");
  await vi.advanceTimersByTimeAsync(0);
  return (await Promise.race([held, Promise.resolve(pending)])) !== pending;
}

beforeEach(() => {
  vi.useFakeTimers();
  versions = {};
  reads = 0;
});
afterEach(() => {
  vi.useRealTimers();
});

// Guarantee: a change wakes those who have not seen it, at once, and nobody else.
test("a notification of a newer version answers", async () => {
  const waits = wakeup();
  const one = hold(waits, "pay_1", 1, 10_000);
  const second = hold(waits, "pay_1", 2, 10_000);
  const other = hold(waits, "pay_2", 1, 10_000);
  notify("pay_1 1");
  expect(await isAnswered(one)).toBe(false);
  notify("pay_1 2");
  expect(await isAnswered(one)).toBe(true);
  expect(await isAnswered(second)).toBe(false);
  expect(await isAnswered(other)).toBe(false);
  expect(waits.held()).toBe(2);
});

// Guarantee: a lost notification delays an answer by a second, never by the whole hold.
test("held payments are read again every second, in one query", async () => {
  const waits = wakeup();
  const one = hold(waits, "pay_1", 1, 10_000);
  void hold(waits, "pay_2", 1, 10_000);
  versions = { pay_1: 2, pay_2: 1 };
  expect(await isAnswered(one)).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await isAnswered(one)).toBe(true);
  expect(reads).toBe(1);
});

// Guarantee: nobody waits longer than asked, or after hanging up, and nothing is read for nobody.
test("time and hanging up end a hold, and leave nothing behind", async () => {
  const waits = wakeup();
  const timed = hold(waits, "pay_1", 1, 1_500);
  let woken = false;
  const gone = { paymentId: "pay_1", version: 1, wake: () => (woken = true) };
  expect(waits.hold(gone, 10_000)).toBe(true);
  waits.drop(gone);
  waits.drop(gone);
  expect(waits.held()).toBe(1);
  await vi.advanceTimersByTimeAsync(1_400);
  expect(await isAnswered(timed)).toBe(false);
  await vi.advanceTimersByTimeAsync(150);
  expect(await isAnswered(timed)).toBe(true);
  expect(waits.held()).toBe(0);
  await vi.advanceTimersByTimeAsync(15_000);
  expect([woken, reads]).toEqual([false, 1]);
  expect(vi.getTimerCount()).toBe(0);
});

// Guarantee: holds of every length end in their time, whoever came before them.
test("many holds of different lengths", async () => {
  const waits = createWakeup(listener, query, log, { perPayment: 10, perProcess: 100 });
  const lengths = [3_000, 40, 700, 40, 1, 2_000, 600];
  const ended: number[] = [];
  for (const [n, length] of lengths.entries())
    void hold(waits, `pay_${n % 3}`, 1, length).then(() => ended.push(length));
  for (const [passed, count] of [
    [100, 3],
    [450, 3],
    [200, 5],
    [1_200, 5],
    [100, 6],
    [1_000, 7],
  ] as const) {
    await vi.advanceTimersByTimeAsync(passed);
    expect(ended).toHaveLength(count);
  }
  expect(ended).toEqual(lengths.toSorted((a, b) => a - b));
  expect(waits.held()).toBe(0);
});

// Guarantee: a crowd on one payment, or on the process, is answered at once instead of held.
test("caps answer at once", async () => {
  const waits = wakeup();
  const holds = ["pay_1", "pay_1", "pay_2"].map((id) => hold(waits, id, 1, 10_000));
  expect(await hold(waits, "pay_1", 1, 10_000)).toBe(false);
  expect(await hold(waits, "pay_3", 1, 10_000)).toBe(false);
  expect(waits.held()).toBe(3);
  expect(await Promise.all(holds.map(isAnswered))).toEqual([false, false, false]);
});

// Guarantee: a stop keeps nobody waiting.
test("shutting answers everything, and everything after", async () => {
  const waits = wakeup();
  const one = hold(waits, "pay_1", 1, 10_000);
  const two = hold(waits, "pay_1", 1, 10_000);
  waits.shut();
  expect(await Promise.all([one, two])).toEqual([true, true]);
  expect(await hold(waits, "pay_1", 1, 10_000)).toBe(false);
  expect(waits.held()).toBe(0);
});

// Guarantee: a database that is away does not end a hold early or break it.
test("a failed read is tried again", async () => {
  let fail = true;
  const flaky: Query = async <Row>() => {
    if (fail) throw new Error("connection refused");
    return [{ id: "pay_1", version: 2 }] as Row[];
  };
  const one = hold(createWakeup(listener, flaky, log, CAPS), "pay_1", 1, 10_000);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await isAnswered(one)).toBe(false);
  fail = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await isAnswered(one)).toBe(true);
});
