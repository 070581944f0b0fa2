const MAX_LENGTH = 2048;
/** What the URL standard would read in spite of itself: blanks it drops, and slashes written in other ways. */
const UNCLEAR = /[\s\p{Cc}\\]/u;
const WRITTEN_OUT = /^https?:\/\/[^/]/i;
const LOOPBACK = new Set(["localhost", "127.0.0.1", "[::1]"]);

/**
 * The address a buyer may be sent back to as the URL standard writes it, or null when it cannot be one (missing, not https,
 * with credentials, blanks or control characters). `http` is allowed for this machine alone, when `allowLoopback`.
 */
export function redirectUrl(value: unknown, allowLoopback: boolean): string | null {
  if (typeof value !== "string" || value.length > MAX_LENGTH || !value.isWellFormed()) return null;
  if (UNCLEAR.test(value) || !WRITTEN_OUT.test(value)) return null;
  const parsed = URL.parse(value);
  if (parsed === null || parsed.username !== "" || parsed.password !== "") return null;
  const { protocol, hostname, href } = parsed;
  if (protocol !== "https:" && !(allowLoopback && LOOPBACK.has(hostname))) return null;
  return href.length > MAX_LENGTH ? null : href;
}
