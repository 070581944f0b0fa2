import type { Log } from "#server/platform/log.ts";
import type { Wakeup } from "#server/ports/wakeup.ts";
import type { Query } from "./client.ts";
import type { Listener } from "./listener.ts";

/** Most polls held at once; one above them is answered at once. */
export type HoldCaps = { perPayment: number; perProcess: number };

/** A lost notification delays an answer by no more than this. */
const REREAD_MS = 1_000;

type Waiter = { version: number; answer: () => void };

/** The `Wakeup` of one process, which can be shut. */
export type ProcessWakeup = Wakeup & {
  /** Answers everything held, and everything asked from now on, at once. */
  shut(): void;
  held(): number;
};

/** Calls held until a payment changes: no database connection and one timer each. */
export function createWakeup(
  listener: Listener,
  query: Query,
  log: Log,
  caps: HoldCaps,
): ProcessWakeup {
  const waiting = new Map<string, Set<Waiter>>();
  let held = 0;
  let isShut = false;
  let rereading = false;
  let sweep: NodeJS.Timeout | undefined;

  const wake = (paymentId: string, version: number) => {
    for (const waiter of [...(waiting.get(paymentId) ?? [])])
      if (waiter.version < version) waiter.answer();
  };
  const reread = async () => {
    if (rereading || held === 0) return;
    rereading = true;
    try {
      const rows = await query<{ id: string; version: number }>(
        `select id, version from payment where id = any($1)`,
        [[...waiting.keys()]],
      );
      for (const { id, version } of rows) wake(id, version);
    } catch (error) {
      log.warn({ err: error }, "held polls could not be read again");
    } finally {
      rereading = false;
    }
  };
  listener.on("payment", (payload) => {
    const [id = "", version = ""] = payload.split(" ");
    wake(id, Number(version));
  });
  listener.onConnect(() => void reread());

  return {
    changed(paymentId, version, waitMs, signal) {
      const others = waiting.get(paymentId);
      const full = held >= caps.perProcess || (others?.size ?? 0) >= caps.perPayment;
      if (isShut || full || signal.aborted || waitMs <= 0) return Promise.resolve();
      return new Promise((resolve) => {
        const group = others ?? new Set<Waiter>();
        const answer = () => {
          if (!group.delete(waiter)) return;
          if (group.size === 0 && waiting.get(paymentId) === group) waiting.delete(paymentId);
          held -= 1;
          if (held === 0) {
            clearInterval(sweep);
            sweep = undefined;
          }
          clearTimeout(timer);
          signal.removeEventListener("abort", answer);
          resolve();
        };
        const timer = setTimeout(() => answer(), waitMs);
        const waiter = { version, answer };
        group.add(waiter);
        waiting.set(paymentId, group);
        held += 1;
        sweep ??= setInterval(() => void reread(), REREAD_MS);
        signal.addEventListener("abort", answer, { once: true });
      });
    },
    shut() {
      isShut = true;
      for (const group of [...waiting.values()]) for (const waiter of [...group]) waiter.answer();
    },
    held: () => held,
  };
}
