import { z } from "zod";

const calls = z.coerce.number().int().min(1).max(100_000_000).optional();
const count = (fallback: number) => z.coerce.number().int().min(1).max(1_000_000).default(fallback);

/** Settings of how much is let in. */
export const LOAD_SETTINGS = {
  /** Proxies in front of this server whose X-Forwarded-For is believed; 0: callers connect themselves. */
  FLORIN_TRUSTED_PROXIES: z.coerce.number().int().min(0).max(10).default(0),
  /** Calls in one window, in place of what server/domain/limits.ts says. */
  FLORIN_LIMIT_KEY: calls,
  FLORIN_LIMIT_WALLET: calls,
  FLORIN_LIMIT_CLIENT: calls,
  FLORIN_LIMIT_PAYMENT: calls,
  FLORIN_LIMIT_OPTIONS: calls,
  FLORIN_LIMIT_ADDRESS: calls,
  FLORIN_LIMIT_FAILURES: calls,
  /** Most polls held at once; one above them is answered at once. */
  FLORIN_HELD_PER_PAYMENT: count(10),
  FLORIN_HELD_PER_KEY: count(200),
  FLORIN_HELD_PER_PROCESS: count(5_000),
  /** Most requests worked on at once, held polls not counted, and most of their statements waiting for a connection; one above them is refused at once. */
  FLORIN_MAX_IN_FLIGHT: count(5_000),
  FLORIN_MAX_DATABASE_QUEUE: count(2_000),
};
