import { isIPv6 } from "node:net";
import { ed25519 } from "@noble/curves/ed25519.js";

/** Order of secp256k1: a private key is a number from 1 to below it. */
const SECP256K1_ORDER = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n;
const BASE58 = "123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz";

/** Whether text is a private key of an EVM account. */
export function isEvmKey(text: string): boolean {
  if (!/^0x[0-9a-fA-F]{64}$/.test(text)) return false;
  const key = BigInt(text);
  return key > 0n && key < SECP256K1_ORDER;
}

/** The 64 bytes that base58 text stands for; null: it does not. */
function read64(text: string): Uint8Array | null {
  if (!/^[1-9A-HJ-NP-Za-km-z]{64,90}$/.test(text)) return null;
  let value = 0n;
  for (const letter of text) value = value * 58n + BigInt(BASE58.indexOf(letter));
  const digits = value.toString(16);
  return digits.length > 128 ? null : new Uint8Array(Buffer.from(digits.padStart(128, "0"), "hex"));
}

/** Whether text is a Solana key as wallets and `solana-keygen` know it: secret and its public key, 64 bytes in base58. */
export function isSolanaKey(text: string): boolean {
  const bytes = read64(text);
  if (bytes === null) return false;
  const publicKey = ed25519.getPublicKey(bytes.slice(0, 32));
  return publicKey.every((byte, at) => byte === bytes[32 + at]);
}

/** Whether text is a host with a port, if any, and nothing else. */
export const isHost = (text: string): boolean =>
  /^(\[[0-9a-fA-F:.]+\]|[A-Za-z0-9.-]+)(:\d{1,5})?$/.test(text) && URL.canParse(`http://${text}`);

/** Whether text is something to listen on: a host name or an IP address, as `listen` takes it. */
export const isListenHost = (text: string): boolean =>
  (isIPv6(text) || /^[\w.-]+$/.test(text)) && URL.canParse(originAt(text, 0));

/** The origin of a server that listens there; in a URL an IPv6 address stands in brackets. */
export function originAt(host: string, port: number): string {
  const text = `http://${isIPv6(host) ? `[${host}]` : host}:${port}`;
  return URL.parse(text)?.origin ?? text;
}

/** Whether a URL is an origin alone: no path, query, fragment, user or password, not even an empty one. */
export function isOrigin(text: string): boolean {
  const url = URL.parse(text);
  return url !== null && /^\/*$/.test(url.pathname) && !/[?#@]/.test(text);
}

/** How many letters have to be put in, left out or changed to make one word of another. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const change = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      next[j] = Math.min(change, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1);
    }
    row = next;
  }
  return row[other.length] ?? 0;
}

/** More changes than this are no slip of the finger. */
const MOST_CHANGES = 4;

/** The known name that was probably meant; null: none is near. */
export function nearestName(name: string, known: readonly string[]): string | null {
  const [best] = known
    .map((one) => ({ one, off: distance(name, one) }))
    .toSorted((a, b) => a.off - b.off);
  return best !== undefined && best.off <= MOST_CHANGES ? best.one : null;
}
