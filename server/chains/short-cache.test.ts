import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { shortCache } from "./short-cache.ts";

beforeEach(() => void vi.useFakeTimers({ toFake: ["performance"] }));
afterEach(() => void vi.useRealTimers());

// Guarantee: callers at the same moment share one question, and an answer is used again only for its short life.
test("one question for all", async () => {
  const cache = shortCache<number>(500);
  let asked = 0;
  const ask = async () => ++asked;
  expect(await Promise.all([cache("a", ask), cache("a", ask), cache("b", ask)])).toEqual([1, 1, 2]);
  vi.advanceTimersByTime(499);
  expect(await cache("a", ask)).toBe(1);
  vi.advanceTimersByTime(1);
  expect(await cache("a", ask)).toBe(3);
});

// Guarantee: a failure is told to those who asked, and the next caller asks anew.
test("failures are not kept", async () => {
  const cache = shortCache<number>(500);
  await expect(cache("a", () => Promise.reject(new Error("down")))).rejects.toThrow("down");
  expect(await cache("a", async () => 7)).toBe(7);
});
