/** Lifetime of a payment when the merchant names none: 15 minutes. */
export const DEFAULT_LIFETIME_S = 900;

/** Longest lifetime a merchant may ask for: 7 days. */
export const MAX_LIFETIME_S = 7 * 24 * 3600;

/** Shortest lifetime a merchant may ask for, by mode. */
export const MIN_LIFETIME_S = { live: 60, staging: 60, sandbox: 5 } as const;

/** How long an authorization outlives the offer it belongs to, so that a signature handed in at the last second can still be mined. */
export const AUTHORIZATION_GRACE_S = 300;

/** Longest life of an authorization before the grace: one hour from issue. */
export const AUTHORIZATION_LIFETIME_S = 3600;

/** Largest Unix time in seconds that is taken for seconds; larger values are milliseconds by mistake. */
export const MAX_UNIX_SECONDS = 100_000_000_000;

/** Deadline written into an authorization, Unix seconds. */
export function authorizationDeadline(
  paymentExpiresAt: number,
  optionExpiresAt: number | null,
  issuedAt: number,
): number {
  const ends = [paymentExpiresAt, issuedAt + AUTHORIZATION_LIFETIME_S];
  if (optionExpiresAt !== null) ends.push(optionExpiresAt);
  return Math.min(...ends) + AUTHORIZATION_GRACE_S;
}
