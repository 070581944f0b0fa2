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
  gate({ url: String(n), method } as IncomingMessage, {} as ServerResponse);
const open = (most: number) => createGate({ most, work, refuse }, (count) => void told.push(count));
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
