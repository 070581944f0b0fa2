import type { LimitName } from "#server/domain/limits.ts";

/** What was counted for one subject of a limit in the present window, over all processes as far as they told each other. */
export type Usage = {
  name: LimitName;
  limit: number;
  used: number;
  /** Seconds until the window ends, rounded up; never 0. */
  resetS: number;
};

/** Counters in windows, shared by all processes on one database: what one counts the others know within a second or two. */
export type Limits = {
  /** Counts one call. */
  take(name: LimitName, subject: string): Promise<Usage>;
  /** Looks without counting. */
  look(name: LimitName, subject: string): Promise<Usage>;
  /** Whether nothing was counted in the present window for anybody, so that there is nothing to look for. */
  isQuiet(name: LimitName): boolean;
  /** The limit as a `RateLimit-Policy` item. */
  policy(name: LimitName): string;
  /** Tells the other processes and hears from them; a database that does not answer is logged, and counting goes on alone. */
  share(): Promise<void>;
  stop(): void;
};

/** Whether this call was one too many. */
export const isOver = ({ used, limit }: Usage): boolean => used > limit;
