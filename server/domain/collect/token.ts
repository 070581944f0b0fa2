import { hmac } from "@noble/hashes/hmac.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { utf8ToBytes } from "@noble/hashes/utils.js";

/** What a link to the form lets its holder do: give the data of these accounts (CAIP-10) for this payment. */
export type CollectLink = { paymentId: string; accounts: string[]; token: string };

/** Seconds a link can be used; a fresh one comes with every options call. */
export const COLLECT_LINK_LIFE_S = 3_600;

function macOf(secret: string, paymentId: string, accounts: string[], expiry: string): string {
  const said = JSON.stringify(["florin:collect", paymentId, [...accounts].sort(), expiry]);
  const mac = hmac(sha256, utf8ToBytes(secret), utf8ToBytes(said));
  return btoa(String.fromCharCode(...mac))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");
}

/** Compares in a time that depends on the length alone. */
function sameText(left: string, right: string): boolean {
  if (left.length !== right.length) return false;
  let difference = 0;
  for (let at = 0; at < left.length; at++) difference |= left.charCodeAt(at) ^ right.charCodeAt(at);
  return difference === 0;
}

/** The address of the form for some accounts (canonical CAIP-10) of a payment, usable until `expiresAt` (Unix seconds). */
export function makeCollectUrl(
  { secret, checkoutUrl }: { secret: string; checkoutUrl: string },
  paymentId: string,
  accounts: string[],
  expiresAt: number,
): string {
  const expiry = `${expiresAt}`;
  const token = `${expiry}.${macOf(secret, paymentId, accounts, expiry)}`;
  const list = encodeURIComponent(accounts.join(","));
  return `${checkoutUrl}/collect?pid=${encodeURIComponent(paymentId)}&accounts=${list}&t=${token}`;
}

/** Whether we made this link and its time is not over; what is wrong with one that is refused is not said. */
export function checkCollectToken(secret: string, link: CollectLink, now: number): boolean {
  const { paymentId, accounts, token } = link;
  const [expiry = "", mac = "", ...more] = token.split(".");
  const genuine = sameText(mac, macOf(secret, paymentId, accounts, expiry));
  return genuine && more.length === 0 && parseInt(expiry, 10) > now;
}
