/** One host, without wildcards: whoever may frame a checkout can lay things over it. */
const ORIGIN =
  /^https:\/\/(?:[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z](?:[a-z0-9-]{0,61}[a-z0-9])(?::[1-9][0-9]{0,4})?$/;
const LOOPBACK = /^http:\/\/(?:localhost|127\.0\.0\.1)(?::[1-9][0-9]{0,4})?$/;

/** Most origins of one merchant: all of them stand in a header of every page. */
export const MAX_FRAME_ORIGINS = 20;

/**
 * An origin whose pages may frame a checkout, as a policy names it; null: it cannot be one. Plain http is for this machine
 * alone, when `allowLoopback`.
 */
export function frameOrigin(value: string, allowLoopback: boolean): string | null {
  const origin = value.trim().toLowerCase().replace(/\/$/, "");
  if (ORIGIN.test(origin)) return origin.replace(/:443$/, "");
  return allowLoopback && LOOPBACK.test(origin) ? origin : null;
}
