/** Unix seconds now. */
export type Clock = { now(): number };
