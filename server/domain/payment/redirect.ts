const HTTPS = /^https:\/\/[^\s"'<>\\^`{|}@]{1,2040}$/;
const LOOPBACK =
  /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])(:\d{1,5})?(\/[^\s"'<>\\^`{|}@]{0,2000})?$/;
const PRINTABLE = /^[\x21-\x7e]+$/;

/**
 * The address a buyer may be sent back to, or null when it cannot be one (missing, not https, with
 * credentials or odd characters). `http` is allowed for this machine alone, when `allowLoopback`.
 */
export function redirectUrl(value: unknown, allowLoopback: boolean): string | null {
  if (typeof value !== "string" || !PRINTABLE.test(value) || value.length > 2048) return null;
  if (allowLoopback && LOOPBACK.test(value)) return value;
  if (!HTTPS.test(value)) return null;
  const parsed = URL.parse(value);
  if (parsed === null || parsed.protocol !== "https:" || parsed.username !== "") return null;
  return parsed.hostname === "" ? null : value;
}
