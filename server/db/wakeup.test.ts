import { pino } from "pino";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { Query } from "./client.ts";
import { createWakeup } from "./wakeup.ts";

const log = pino({ level: "silent" });
const never = new AbortController().signal;
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
const wakeup = () => createWakeup(listener, query, log, { perPayment: 2, perProcess: 3 });
/** Whether a hold has been answered by now. */
async function isAnswered(hold: Promise<void>): Promise<boolean> {
  const pending = Symbol("pending");
  await vi.advanceTimersByTimeAsync(0);
  return (await Promise.race([hold, Promise.resolve(pending)])) !== pending;
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
  const { changed, held } = wakeup();
  const hold = changed("pay_1", 1, 10_000, never);
  const other = changed("pay_2", 1, 10_000, never);
  notify("pay_1 1");
  expect(await isAnswered(hold)).toBe(false);
  notify("pay_1 2");
  expect(await isAnswered(hold)).toBe(true);
  expect(await isAnswered(other)).toBe(false);
  expect(held()).toBe(1);
});

// Guarantee: a lost notification delays an answer by a second, never by the whole hold.
test("held payments are read again every second, in one query", async () => {
  const { changed } = wakeup();
  const hold = changed("pay_1", 1, 10_000, never);
  void changed("pay_2", 1, 10_000, never);
  versions = { pay_1: 2, pay_2: 1 };
  expect(await isAnswered(hold)).toBe(false);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await isAnswered(hold)).toBe(true);
  expect(reads).toBe(1);
});

// Guarantee: nobody waits longer than asked, or after hanging up, and nothing is read for nobody.
test("time and abort answer, and leave nothing behind", async () => {
  const { changed, held } = wakeup();
  const hangUp = new AbortController();
  const timed = changed("pay_1", 1, 1_500, never);
  const aborted = changed("pay_1", 1, 10_000, hangUp.signal);
  hangUp.abort();
  expect(await isAnswered(aborted)).toBe(true);
  await vi.advanceTimersByTimeAsync(1_500);
  expect(await isAnswered(timed)).toBe(true);
  expect(held()).toBe(0);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(reads).toBe(1);
  expect(vi.getTimerCount()).toBe(0);
});

// Guarantee: a crowd on one payment, or on the process, is answered at once instead of held.
test("caps answer at once", async () => {
  const { changed, held } = wakeup();
  const holds = ["pay_1", "pay_1", "pay_2"].map((id) => changed(id, 1, 10_000, never));
  expect(await isAnswered(changed("pay_1", 1, 10_000, never))).toBe(true);
  expect(await isAnswered(changed("pay_3", 1, 10_000, never))).toBe(true);
  expect(held()).toBe(3);
  expect(await Promise.all(holds.map(isAnswered))).toEqual([false, false, false]);
});

// Guarantee: a stop keeps nobody waiting.
test("shutting answers everything, and everything after", async () => {
  const { changed, shut, held } = wakeup();
  const hold = changed("pay_1", 1, 10_000, never);
  shut();
  expect(await isAnswered(hold)).toBe(true);
  expect(await isAnswered(changed("pay_1", 1, 10_000, never))).toBe(true);
  expect(held()).toBe(0);
});

// Guarantee: a database that is away does not end a hold early or break it.
test("a failed read is tried again", async () => {
  let fail = true;
  const flaky: Query = async <Row>() => {
    if (fail) throw new Error("connection refused");
    return [{ id: "pay_1", version: 2 }] as Row[];
  };
  const { changed } = createWakeup(listener, flaky, log, { perPayment: 2, perProcess: 3 });
  const hold = changed("pay_1", 1, 10_000, never);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await isAnswered(hold)).toBe(false);
  fail = false;
  await vi.advanceTimersByTimeAsync(1_000);
  expect(await isAnswered(hold)).toBe(true);
});
