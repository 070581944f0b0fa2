import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { startLoop } from "./loop.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

const PACE = { pauseMs: 100, idleMs: 500 };

/** A loop that notes when its turns begin; each takes `turnMs`. */
function started(turnMs = 0) {
  const begun = Date.now();
  const turns: number[] = [];
  const loop = startLoop(async () => {
    turns.push(Date.now() - begun);
    if (turnMs > 0) await new Promise((done) => setTimeout(done, turnMs));
    return true;
  }, PACE);
  return { loop, turns };
}

// Guarantee: a loop that nobody wakes looks by itself, seldom.
test("left alone", async () => {
  const { loop, turns } = started();
  await vi.advanceTimersByTimeAsync(1_100);
  expect(turns).toEqual([0, 500, 1000]);
  await loop.stop();
});

// Guarantee: what happens is looked at as soon as the pause allows, however often it is told, and is not forgotten when it happens during a turn.
test("woken", async () => {
  const { loop, turns } = started();
  await vi.advanceTimersByTimeAsync(250);
  loop.wake();
  loop.wake();
  await vi.advanceTimersByTimeAsync(20);
  loop.wake();
  await vi.advanceTimersByTimeAsync(700);
  expect(turns).toEqual([0, 250, 350, 850]);
  await loop.stop();

  const busy = started(50);
  await vi.advanceTimersByTimeAsync(30);
  busy.loop.wake();
  await vi.advanceTimersByTimeAsync(200);
  expect(busy.turns).toEqual([0, 150]);
  await busy.loop.stop();
});

// Guarantee: a stop waits for the turn under way and for nothing else.
test("stopped", async () => {
  const { loop, turns } = started();
  await vi.advanceTimersByTimeAsync(300);
  await loop.stop();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(turns).toEqual([0]);
});

// Guarantee: work that could not be done is tried again soon, however seldom the loop looks.
test("not done", async () => {
  const begun = Date.now();
  const turns: number[] = [];
  const turn = async () => turns.push(Date.now() - begun) > 2;
  const loop = startLoop(turn, { pauseMs: 3_600_000 });
  await vi.advanceTimersByTimeAsync(10_000);
  expect(turns).toEqual([0, 1000, 2000]);
  await loop.stop();
});
