/** Suggested pause between two status reads while a payment is not final. */
export const POLL_INTERVAL_MS = 1000;

/** Longest hold of a long poll, whatever is asked: wallets give up at 30 s. */
export const MAX_POLL_MS = 25_000;
