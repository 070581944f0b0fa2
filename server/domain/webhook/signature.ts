import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";

const PREFIX = "whsec_";
const utf8 = new TextEncoder();

const toBase64 = (bytes: Uint8Array): string => btoa(String.fromCharCode(...bytes));
const fromBase64 = (value: string): Uint8Array =>
  Uint8Array.from(atob(value), (letter) => letter.charCodeAt(0));

/** A signing secret as receivers are given it, from random bytes (24 or more). */
export const signingSecret = (random: Uint8Array): string => `${PREFIX}${toBase64(random)}`;

function sign(secret: string, signed: string): string {
  const key = fromBase64(secret.slice(PREFIX.length));
  return `v1,${toBase64(hmac(sha256, key, utf8.encode(signed)))}`;
}

/**
 * The Standard Webhooks headers of a message, and the same values under Svix's names. `timestamp` is Unix seconds;
 * each secret gives one signature.
 */
export function signatureHeaders(
  id: string,
  timestamp: number,
  body: string,
  secrets: readonly string[],
): Record<string, string> {
  const signature = secrets.map((secret) => sign(secret, `${id}.${timestamp}.${body}`)).join(" ");
  const values = { id, timestamp: `${timestamp}`, signature };
  return Object.fromEntries(
    ["webhook", "svix"].flatMap((family) =>
      Object.entries(values).map(([name, value]) => [`${family}-${name}`, value]),
    ),
  );
}
