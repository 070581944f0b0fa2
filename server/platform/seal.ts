import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from "node:crypto";

const IV_BYTES = 12;
const TAG_BYTES = 16;

const keyOf = (secret: string, purpose: string): Buffer =>
  Buffer.from(hkdfSync("sha256", secret, "florin", purpose, 32));

/**
 * Encrypts text with AES-256-GCM under a key of `secret` for one purpose. `bound` names where it belongs (table, row,
 * column): what was moved elsewhere does not open.
 */
export function seal(secret: string, purpose: string, bound: string, clear: string): Buffer {
  const iv = randomBytes(IV_BYTES);
  const cipher = createCipheriv("aes-256-gcm", keyOf(secret, purpose), iv);
  cipher.setAAD(Buffer.from(bound));
  const sealed = Buffer.concat([cipher.update(clear, "utf8"), cipher.final()]);
  return Buffer.concat([iv, cipher.getAuthTag(), sealed]);
}

/** The text that `seal` was given; throws when secret, purpose, place or bytes are not the same. */
export function unseal(secret: string, purpose: string, bound: string, sealed: Uint8Array): string {
  const bytes = Buffer.from(sealed);
  const decipher = createDecipheriv(
    "aes-256-gcm",
    keyOf(secret, purpose),
    bytes.subarray(0, IV_BYTES),
  );
  decipher.setAAD(Buffer.from(bound));
  decipher.setAuthTag(bytes.subarray(IV_BYTES, IV_BYTES + TAG_BYTES));
  return Buffer.concat([
    decipher.update(bytes.subarray(IV_BYTES + TAG_BYTES)),
    decipher.final(),
  ]).toString("utf8");
}
