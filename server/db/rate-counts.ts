import { RateLimiterMemory, RateLimiterRes } from "rate-limiter-flexible";
import { LIMIT_NAMES, LIMITS, type LimitName } from "#server/domain/limits.ts";
import type { Env } from "#server/platform/env.ts";
import type { Log } from "#server/platform/log.ts";
import type { Limits, Usage } from "#server/ports/limits.ts";
import type { Query } from "./client.ts";

/** How often processes tell each other at most. */
const SHARE_EVERY_MS = 1_000;
/** A count is told to the others from this part of its limit on: ordinary callers are never written down. */
const SHARED_FROM = 1 / 8;
const FORGET_EVERY_MS = 60_000;
/** Most counts of other processes that are taken over at once; the fullest come first. */
const MAX_HEARD = 10_000;

type Counter = {
  limit: number;
  windowMs: number;
  sharedFrom: number;
  policy: string;
  /** The last window anything was counted in. */
  window: number;
  memory: RateLimiterMemory;
};

/** One count that others know of: what of it is theirs, and how much of ours they were told. */
type Shared = {
  name: LimitName;
  subject: string;
  window: number;
  endsAt: number;
  others: number;
  told: number;
};
type Row = { bucket: string; window: string; used: number };

export type LimitSettings = Pick<Env, "FLORIN_MODE" | `FLORIN_LIMIT_${Uppercase<LimitName>}`>;

function counterOf(name: LimitName, settings: LimitSettings): Counter {
  const { windowS, calls, sandboxCalls } = LIMITS[name];
  const configured = settings[`FLORIN_LIMIT_${name.toUpperCase() as Uppercase<LimitName>}`];
  const limit = configured ?? (settings.FLORIN_MODE === "sandbox" ? sandboxCalls : calls);
  return {
    limit,
    windowMs: windowS * 1000,
    sharedFrom: Math.ceil(limit * SHARED_FROM),
    policy: `"${name}";q=${limit};w=${windowS}`,
    window: 0,
    memory: new RateLimiterMemory({ points: limit, duration: windowS, keyPrefix: "" }),
  };
}

/** Windows of one subject are counted apart, so that they end together in every process. */
const keyOf = (window: number, subject: string): string => `${window} ${subject}`;

const HEAR = `
  with told as (
    insert into rate_count as c (bucket, "window", used, expires_at)
    select * from unnest($1::text[], $2::bigint[], $3::int[], $4::timestamptz[]) order by 1, 2
    on conflict (bucket, "window") do update set used = c.used + excluded.used
    returning bucket, "window", used)
  select bucket, "window", used from told
  union all
  (select bucket, "window", used from rate_count r where expires_at > now()
     and not exists (select 1 from told t where t.bucket = r.bucket and t."window" = r."window")
   order by used desc limit ${MAX_HEARD})`;

const FORGET = `delete from rate_count where (bucket, "window") in (
  select bucket, "window" from rate_count where expires_at < now() - interval '10 seconds' for update skip locked)`;

/** Counters in the memory of this process, told to the others on the same database; nothing is written for a caller far from its limits. */
export function createRateCounts(query: Query, settings: LimitSettings, log: Log): Limits {
  const counters = Object.fromEntries(
    LIMIT_NAMES.map((name) => [name, counterOf(name, settings)]),
  ) as Record<LimitName, Counter>;
  const shared = new Map<string, Shared>();
  let timer: NodeJS.Timeout | undefined;
  let isSharing = false;
  let isStopped = false;
  let forgottenAt = Number.NEGATIVE_INFINITY;

  const known = (name: LimitName, subject: string, window: number): Shared => {
    const id = `${window} ${name} ${subject}`;
    let entry = shared.get(id);
    if (entry === undefined) {
      const endsAt = (window + 1) * counters[name].windowMs;
      entry = { name, subject, window, endsAt, others: 0, told: 0 };
      shared.set(id, entry);
    }
    return entry;
  };
  const usage = (counter: Counter, name: LimitName, used: number, now: number): Usage => ({
    name,
    limit: counter.limit,
    used,
    resetS: Math.ceil((counter.windowMs - (now % counter.windowMs)) / 1000),
  });

  /** What this process counted and has not told yet. */
  const untold = async (now: number): Promise<{ entry: Shared; own: number }[]> => {
    const found: { entry: Shared; own: number }[] = [];
    for (const [id, entry] of shared) {
      if (entry.endsAt <= now) {
        shared.delete(id);
        continue;
      }
      const counted = await counters[entry.name].memory.get(keyOf(entry.window, entry.subject));
      const own = (counted?.consumedPoints ?? 0) - entry.others;
      if (own > entry.told) found.push({ entry, own });
    }
    return found;
  };
  const hear = async (row: Row, now: number) => {
    const space = row.bucket.indexOf(" ");
    const name = LIMIT_NAMES.find((one) => one === row.bucket.slice(0, space));
    if (name === undefined) return;
    const entry = known(name, row.bucket.slice(space + 1), Number(row.window));
    const more = row.used - entry.told - entry.others;
    if (more <= 0 || entry.endsAt <= now) return;
    entry.others += more;
    counters[name].window = entry.window;
    await counters[name].memory.penalty(keyOf(entry.window, entry.subject), more);
  };
  const exchange = async () => {
    const now = Date.now();
    const told = await untold(now);
    const rows = await query<Row>(HEAR, [
      told.map(({ entry }) => `${entry.name} ${entry.subject}`),
      told.map(({ entry }) => entry.window),
      told.map(({ entry, own }) => own - entry.told),
      told.map(({ entry }) => new Date(entry.endsAt)),
    ]);
    for (const { entry, own } of told) entry.told = own;
    for (const row of rows) await hear(row, now);
    if (now - forgottenAt < FORGET_EVERY_MS) return;
    forgottenAt = now;
    await query(FORGET);
  };
  const share = async () => {
    if (isSharing || isStopped) return;
    isSharing = true;
    try {
      await exchange();
    } catch (error) {
      log.warn({ err: error }, "the counts of other processes could not be read");
    } finally {
      isSharing = false;
    }
  };
  const shareSoon = () => {
    timer = setTimeout(() => {
      timer = undefined;
      void share();
    }, SHARE_EVERY_MS).unref();
  };

  return {
    async take(name, subject) {
      const counter = counters[name];
      const now = Date.now();
      const window = Math.floor(now / counter.windowMs);
      counter.window = window;
      if (timer === undefined && !isStopped) shareSoon();
      let taken: RateLimiterRes;
      try {
        taken = await counter.memory.consume(keyOf(window, subject));
      } catch (spent) {
        if (!(spent instanceof RateLimiterRes)) throw spent;
        taken = spent;
      }
      if (taken.consumedPoints >= counter.sharedFrom) known(name, subject, window);
      return usage(counter, name, taken.consumedPoints, now);
    },
    isQuiet(name) {
      const { window, windowMs } = counters[name];
      return window !== Math.floor(Date.now() / windowMs);
    },
    async look(name, subject) {
      const counter = counters[name];
      const now = Date.now();
      const found = await counter.memory.get(keyOf(Math.floor(now / counter.windowMs), subject));
      return usage(counter, name, found?.consumedPoints ?? 0, now);
    },
    policy: (name) => counters[name].policy,
    share,
    stop() {
      isStopped = true;
      clearTimeout(timer);
    },
  };
}
