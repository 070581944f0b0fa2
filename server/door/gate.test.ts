import { EventEmitter } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createGate } from "./gate.ts";

let begun: number[];
let refused: number[];
let told: number[];
let finish: Map<number, (error?: Error) => void>;

const numberOf = ({ url }: IncomingMessage) => Number(url);
const work = (incoming: IncomingMessage) =>
  new Promise<void>((resolve, reject) => {
    const n = numberOf(incoming);
    begun.push(n);
    finish.set(n, (error) => (error === undefined ? resolve() : reject(error)));
  });
const refuse = async (incoming: IncomingMessage) => void refused.push(numberOf(incoming));
const send = (gate: ReturnType<typeof createGate>, n: number, method = "GET") =>
  gate({ url: String(n), method, complete: true } as IncomingMessage, {} as ServerResponse);
const addressOf = ({ headers }: IncomingMessage) => String(headers.from);
const open = (most: number) =>
  createGate({ most, work, refuse, addressOf }, (count) => void told.push(count));
/** Sends a call whose body is on its way from an address; "end" is told once it was read. */
function sendSlowly(gate: ReturnType<typeof createGate>, n: number, from: string): EventEmitter {
  const head = { url: String(n), method: "POST", complete: false, headers: { from } };
  const incoming = Object.assign(new EventEmitter(), head);
  gate(incoming as unknown as IncomingMessage, {} as ServerResponse);
  return incoming;
}
const settle = () => new Promise((resolve) => setImmediate(resolve));

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  begun = [];
  refused = [];
  told = [];
  finish = new Map();
});
afterEach(() => {
  vi.useRealTimers();
});

// Guarantee: reads that come all together wait in line and are worked on in the order they came, however the ones before them end.
test("a crowd of reads", async () => {
  const gate = open(10_000);
  for (let n = 0; n < 3_000; n++) send(gate, n);
  expect(begun).toHaveLength(256);
  for (let n = 0; n < 3_000; n++) {
    finish.get(n)?.(n % 7 === 0 ? new Error("broken") : undefined);
    if (n % 100 === 0) await settle();
  }
  await settle();
  expect(begun).toEqual(Array.from({ length: 3_000 }, (_, n) => n));
  send(gate, 3_000);
  expect(begun.at(-1)).toBe(3_000);
});

// Guarantee: calls whose bodies come slowly keep nobody waiting, neither each other nor reads.
test("calls with a body", async () => {
  const gate = open(1_000);
  for (let n = 0; n < 300; n++) send(gate, n, "POST");
  for (let n = 300; n < 556; n++) send(gate, n);
  expect(begun).toHaveLength(556);
  send(gate, 556);
  send(gate, 557, "POST");
  expect(begun.slice(556)).toEqual([557]);
  finish.get(0)?.();
  await settle();
  expect(begun).not.toContain(556);
  finish.get(300)?.();
  await settle();
  expect(begun).toContain(556);
});

// Guarantee: no more requests are let in than may be, line included; those refused are counted and told of once a second.
test("more than may be", async () => {
  const gate = open(300);
  for (let n = 0; n < 400; n++) send(gate, n);
  expect([begun.length, refused.length, refused[0]]).toEqual([256, 100, 300]);
  finish.get(0)?.();
  await settle();
  send(gate, 400);
  send(gate, 401, "POST");
  expect(refused.slice(100)).toEqual([401]);
  expect(told).toEqual([]);
  vi.advanceTimersByTime(1_000);
  expect(told).toEqual([101]);
  send(gate, 402, "POST");
  vi.advanceTimersByTime(1_000);
  expect(told).toEqual([101, 1]);
});

const numbers = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => from + n);

// Guarantee: bodies that do not come take no place of any call that has come, and those of one address leave room for those of others.
test("bodies that are withheld", async () => {
  const gate = open(100);
  for (const n of numbers(0, 200)) sendSlowly(gate, n, "a");
  await settle();
  expect(begun).toEqual(numbers(0, 25));
  expect(refused).toEqual(numbers(25, 200));
  for (const n of numbers(200, 299)) send(gate, n, n % 2 === 0 ? "GET" : "POST");
  for (const n of numbers(300, 325)) sendSlowly(gate, n, "b");
  await settle();
  expect(begun.slice(25)).toEqual([...numbers(200, 299), ...numbers(300, 325)]);
  for (const from of ["c", "d", "e"]) for (const n of numbers(400, 425)) sendSlowly(gate, n, from);
  await settle();
  expect(begun).toHaveLength(25 + 99 + 25 + 50);
});

// Guarantee: a body that came counts as work until it is answered; one that is refused or given up before it came leaves its place.
test("bodies that come late", async () => {
  const gate = open(8);
  const bodies = [sendSlowly(gate, 0, "a"), sendSlowly(gate, 1, "a")];
  await settle();
  expect(begun).toEqual([0, 1]);
  bodies[0]?.emit("end");
  for (const n of numbers(10, 18)) send(gate, n);
  expect(refused).toEqual([17]);
  finish.get(1)?.(new Error("hung up"));
  finish.get(0)?.();
  await settle();
  bodies[1]?.emit("end");
  send(gate, 20, "POST");
  expect(begun).toContain(20);
  send(gate, 21);
  expect(refused).toEqual([17, 21]);
  for (const n of numbers(10, 17)) finish.get(n)?.();
  finish.get(20)?.();
  await settle();
  for (const n of numbers(30, 33)) sendSlowly(gate, n, "a");
  await settle();
  expect([begun.slice(-2), refused.at(-1)]).toEqual([[30, 31], 32]);
});

// Guarantee: a body that comes with its head is never taken for one on its way.
test("bodies that come at once", async () => {
  const gate = open(8);
  for (const n of numbers(0, 6)) Object.assign(sendSlowly(gate, n, "a"), { complete: true });
  await settle();
  expect(begun).toEqual(numbers(0, 6));
  expect(refused).toEqual([]);
});
