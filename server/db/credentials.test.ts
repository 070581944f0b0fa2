import { pino } from "pino";
import { beforeEach, expect, test, vi } from "vitest";
import type { Query } from "./client.ts";
import { createCredentials, issueKey, keyDigest } from "./credentials.ts";

const PEPPER = "a pepper of thirty-two characters";
const row = {
  id: "key_1",
  partnerId: "par_1",
  merchantId: null,
  environment: "test",
  scopes: ["merchant"],
  pin: "2026-02-18",
};
let forget: (payload: string) => void = () => undefined;
const listener = {
  on: (_: string, heard: (payload: string) => void) => {
    forget = heard;
  },
  onConnect: () => undefined,
  close: async () => undefined,
};
let reads: unknown[][] = [];
let stored: object | null = row;
const query: Query = async <Row>(text: string, values: unknown[] = []) => {
  if (!text.startsWith("select")) return [];
  reads.push(values);
  return (stored === null ? [] : [stored]) as Row[];
};
const make = () => createCredentials(query, PEPPER, listener, pino({ level: "silent" }));

beforeEach(() => {
  reads = [];
  stored = row;
  vi.useFakeTimers({ toFake: ["performance"] });
  return () => vi.useRealTimers();
});

// Guarantee: a busy key costs one read a second, and never leaves the process in clear.
test("a key is read once and looked up by its digest", async () => {
  const { key } = make();
  expect(await key("sk_test_x")).toEqual(row);
  expect(await key("sk_test_x")).toEqual(row);
  expect(reads).toEqual([[keyDigest(PEPPER, "sk_test_x")]]);
});

// Guarantee: a revoked key stops working when the database says so, and within a second when that message is lost.
test("a revocation is noticed by message and by age", async () => {
  const { key } = make();
  await key("sk_test_x");
  stored = null;
  expect(await key("sk_test_x")).toEqual(row);
  forget("");
  expect(await key("sk_test_x")).toBeNull();

  stored = row;
  await key("sk_test_x");
  stored = null;
  vi.advanceTimersByTime(1_000);
  expect(await key("sk_test_x")).toBeNull();
});

// Guarantee: how long something is remembered is said by whoever makes the memory, and a message ends it all the same.
test("a memory of another length", async () => {
  const { key } = createCredentials(query, PEPPER, listener, pino({ level: "silent" }), 60_000);
  await key("sk_test_x");
  stored = null;
  vi.advanceTimersByTime(59_999);
  expect(await key("sk_test_x")).toEqual(row);
  forget("");
  expect(await key("sk_test_x")).toBeNull();
});

// Guarantee: an answer that was on its way when a key was revoked is not remembered.
test("a read that a revocation overtook is not kept", async () => {
  let answer: (rows: object[]) => void = () => undefined;
  const slow: Query = <Row>(text: string) =>
    text.startsWith("select")
      ? new Promise<Row[]>((resolve) => {
          answer = (rows) => resolve(rows as Row[]);
        })
      : Promise.resolve([]);
  const { key } = createCredentials(slow, PEPPER, listener, pino({ level: "silent" }));
  const first = key("sk_test_x");
  const overtaken = answer;
  forget("");
  overtaken([row]);
  expect(await first).toEqual(row);
  const second = key("sk_test_x");
  answer([]);
  expect(await second).toBeNull();
});

// Guarantee: a thousand callers of one key at its expiry ask the database once.
test("callers at the same moment share one read", async () => {
  const { key } = make();
  await Promise.all(Array.from({ length: 50 }, () => key("sk_test_x")));
  expect(reads).toHaveLength(1);
});

// Guarantee: nothing that opens an account is stored.
test("an issued key is stored as a digest only", async () => {
  const written: unknown[][] = [];
  const insert: Query = async (_, values = []) => {
    written.push(values);
    return [];
  };
  const owner = { partnerId: "par_1", merchantId: null, environment: "test" as const };
  const merchant = await issueKey(insert, PEPPER, { ...owner, scopes: ["merchant"] });
  const wallet = await issueKey(insert, PEPPER, { ...owner, scopes: ["gateway"] });
  expect(merchant.key).toMatch(/^sk_test_[\w-]{43}$/);
  expect(wallet.key).toMatch(/^gk_test_[\w-]{43}$/);
  expect(JSON.stringify(written)).not.toContain(merchant.key);
  expect(written[0]).toContainEqual(keyDigest(PEPPER, merchant.key));
});
