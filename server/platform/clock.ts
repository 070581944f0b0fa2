import type { Clock } from "#server/ports/clock.ts";

/** The machine's clock. Money decisions use the database's and the chain's instead. */
export const systemClock: Clock = { now: () => Math.floor(Date.now() / 1000) };
