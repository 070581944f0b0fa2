import type { Log } from "#server/platform/log.ts";
import type { Waiter, Wakeup } from "#server/ports/wakeup.ts";
import type { Query } from "./client.ts";
import type { Listener } from "./listener.ts";

/** Most polls held at once; one above them is answered at once. */
export type HoldCaps = { perPayment: number; perProcess: number };

/** A lost notification delays an answer by no more than this. */
const REREAD_MS = 1_000;
/** Ends of holds are looked for this often: one timer for all of them. */
const TICK_MS = 20;

/** One waiter; others for the same payment follow it. */
type Entry = { waiter: Waiter; tick: number; next: Entry | null };

/** The `Wakeup` of one process, which can be shut. */
export type ProcessWakeup = Wakeup & {
  /** Answers everything held, and lets nobody wait from now on. */
  shut(): void;
  held(): number;
};

const lengthOf = (first: Entry | undefined): number => {
  let count = 0;
  for (let entry = first ?? null; entry !== null; entry = entry.next) count += 1;
  return count;
};

/** Calls held until a payment changes: no database connection and no timer of their own, and as little memory as can be. */
export function createWakeup(
  listener: Listener,
  query: Query,
  log: Log,
  caps: HoldCaps,
): ProcessWakeup {
  const waiting = new Map<string, Entry>();
  /** By the tick in which their time is over. */
  const ends = new Map<number, Set<Entry>>();
  let held = 0;
  let isShut = false;
  let rereading = false;
  let sweep: NodeJS.Timeout | undefined;
  let ticker: NodeJS.Timeout | undefined;
  let ticked = 0;

  const nowTick = () => Math.floor(performance.now() / TICK_MS);
  const tick = () => {
    const now = nowTick();
    while (ticked < now) {
      ticked += 1;
      for (const entry of ends.get(ticked) ?? []) wake(entry);
    }
  };
  const begin = () => {
    held += 1;
    if (held > 1) return;
    ticked = nowTick();
    sweep = setInterval(() => void reread(), REREAD_MS);
    ticker = setInterval(tick, TICK_MS);
  };
  const end = () => {
    held -= 1;
    if (held > 0) return;
    clearInterval(sweep);
    clearInterval(ticker);
  };
  const remove = (entry: Entry) => {
    const { paymentId } = entry.waiter;
    let before = waiting.get(paymentId) ?? null;
    if (before === entry) {
      if (entry.next === null) waiting.delete(paymentId);
      else waiting.set(paymentId, entry.next);
    } else {
      while (before !== null && before.next !== entry) before = before.next;
      if (before === null) return;
      before.next = entry.next;
    }
    const others = ends.get(entry.tick);
    others?.delete(entry);
    if (others?.size === 0) ends.delete(entry.tick);
    end();
  };
  const wake = (entry: Entry) => {
    remove(entry);
    entry.waiter.wake();
  };
  const changed = (paymentId: string, version: number) => {
    let entry = waiting.get(paymentId) ?? null;
    while (entry !== null) {
      const { next }: Entry = entry;
      if (entry.waiter.version < version) wake(entry);
      entry = next;
    }
  };
  const reread = async () => {
    if (rereading || held === 0) return;
    rereading = true;
    try {
      const rows = await query<{ id: string; version: number }>(
        `select id, version from payment where id = any($1)`,
        [[...waiting.keys()]],
      );
      for (const { id, version } of rows) changed(id, version);
    } catch (error) {
      log.warn({ err: error }, "held polls could not be read again");
    } finally {
      rereading = false;
    }
  };
  listener.on("payment", (payload) => {
    const [id = "", version = ""] = payload.split(" ");
    changed(id, Number(version));
  });
  listener.onConnect(() => void reread());

  return {
    onChange: (heard) => listener.on("payment", heard),
    hold(waiter, waitMs) {
      const first = waiting.get(waiter.paymentId);
      const full = held >= caps.perProcess || lengthOf(first) >= caps.perPayment;
      if (isShut || full || waitMs <= 0) return false;
      begin();
      const entry = { waiter, tick: nowTick() + Math.ceil(waitMs / TICK_MS), next: first ?? null };
      waiting.set(waiter.paymentId, entry);
      const others = ends.get(entry.tick) ?? new Set();
      ends.set(entry.tick, others.add(entry));
      return true;
    },
    drop(waiter) {
      let entry = waiting.get(waiter.paymentId) ?? null;
      while (entry !== null && entry.waiter !== waiter) entry = entry.next;
      if (entry !== null) remove(entry);
    },
    shut() {
      isShut = true;
      for (const first of [...waiting.values()])
        for (let entry: Entry | null = first; entry !== null; ) {
          const { next }: Entry = entry;
          wake(entry);
          entry = next;
        }
    },
    held: () => held,
  };
}
