import type { Timers } from "./timers.ts";
import type { Fetch } from "./transport.ts";

/** Start of every virtual clock: 2026-01-01T00:00:00Z in milliseconds. */
export const START_MS = 1_767_225_600_000;

/** Virtual time: it stands still while anything can still happen, then jumps to the next timer. */
export type VirtualTime = Timers & {
  sleep: (ms: number) => Promise<void>;
  /** Milliseconds since the start. */
  elapsed: () => number;
  /** Drives the clock until `work` is settled; throws when nothing could ever settle it. */
  run: <T>(work: Promise<T>) => Promise<T>;
};

/** Makes virtual time; nobody waits for real. */
export function virtualTime(): VirtualTime {
  let now = START_MS;
  let timers: { at: number; run: () => void }[] = [];
  const after = (ms: number, run: () => void) => {
    const timer = { at: now + ms, run };
    timers.push(timer);
    return () => {
      timers = timers.filter((other) => other !== timer);
    };
  };
  const tick = () => {
    const next = timers.reduce((first, timer) => (timer.at < first.at ? timer : first), {
      at: Number.POSITIVE_INFINITY,
      run: () => {
        throw new Error("stuck: no timer is left and the work is not done");
      },
    });
    timers = timers.filter((other) => other !== next);
    now = Math.max(now, Math.min(next.at, Number.MAX_SAFE_INTEGER));
    next.run();
  };
  const run = async <T>(work: Promise<T>): Promise<T> => {
    let settled = false;
    const note = () => {
      settled = true;
    };
    work.then(note, note);
    for (;;) {
      await new Promise((resolve) => setImmediate(resolve));
      if (settled) return work;
      tick();
    }
  };
  return {
    now: () => now,
    after,
    run,
    elapsed: () => now - START_MS,
    sleep: (ms) => new Promise((resolve) => void after(ms, () => resolve())),
  };
}

/** One call as it arrived. */
export type SentCall = {
  method: string;
  path: string;
  query: string;
  headers: Headers;
  body: unknown;
  atMs: number;
};

/** An answer, a lost connection, or no answer ever. */
export type Scripted =
  | { status: number; body: unknown; headers?: Record<string, string> }
  | "connection lost"
  | "silence";

/** The call a script line answers: method and last path segment, as in `POST confirm`. */
const nameOf = (method: string, path: string) => `${method} ${path.split("/").at(-1)}`;

/**
 * A gateway that answers from a script: each list is used up in order, its last line stays.
 * A call without a line fails the test.
 */
export function scriptedGateway(time: VirtualTime, script: Record<string, Scripted[]>) {
  const calls: SentCall[] = [];
  const left = new Map(Object.entries(script).map(([name, lines]) => [name, [...lines]]));
  const fetch: Fetch = async (url, init) => {
    const { pathname, search } = new URL(url);
    const method = init.method ?? "GET";
    const body: unknown = typeof init.body === "string" ? JSON.parse(init.body) : undefined;
    calls.push({
      method,
      path: pathname,
      query: search,
      headers: new Headers(init.headers),
      body,
      atMs: time.elapsed(),
    });
    const lines = left.get(nameOf(method, pathname));
    const line = lines !== undefined && lines.length > 1 ? lines.shift() : lines?.[0];
    if (line === undefined) throw new Error(`no line for ${nameOf(method, pathname)}`);
    if (line === "connection lost") throw new TypeError("fetch failed");
    if (line === "silence") return await untilAborted(init.signal ?? null);
    return new Response(typeof line.body === "string" ? line.body : JSON.stringify(line.body), {
      status: line.status,
      ...(line.headers === undefined ? {} : { headers: line.headers }),
    });
  };
  return { fetch, calls, named: () => calls.map(({ method, path }) => nameOf(method, path)) };
}

function untilAborted(signal: AbortSignal | null): Promise<never> {
  return new Promise((_, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
