const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds before each attempt of a delivery, counted from the one before it; together a little over 75 hours. */
export const ATTEMPT_DELAYS_S: readonly number[] = [
  0,
  5,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  5 * HOUR,
  10 * HOUR,
  14 * HOUR,
  20 * HOUR,
  24 * HOUR,
];

/** Seconds until the next attempt after `made` of them failed; null: that was the last one. */
export const delayAfter = (made: number): number | null => ATTEMPT_DELAYS_S[made] ?? null;
