import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type Address,
  address,
  getAddressDecoder,
  getAddressEncoder,
  getBase58Decoder,
  getBase58Encoder,
  isAddress,
} from "@solana/kit";

/** A key of ours: it signs messages whose content its caller has checked. */
export type Key = { address: Address; sign(message: Uint8Array): Uint8Array };

export const toBase58 = (bytes: Uint8Array): string => getBase58Decoder().decode(bytes);
/** Throws when the text is no base58. */
export const fromBase58 = (text: string): Uint8Array =>
  new Uint8Array(getBase58Encoder().encode(text));

/** Reads a key as wallets keep it: 64 bytes in base58, of which the second half is the public key. Throws when the halves disagree. */
export function readKey(text: string): Key {
  const bytes = fromBase58(text);
  if (bytes.length !== 64) throw new Error("a Solana key is 64 bytes in base58");
  const secret = bytes.slice(0, 32);
  const publicKey = ed25519.getPublicKey(secret);
  if (!publicKey.every((byte, at) => byte === bytes[32 + at]))
    throw new Error("the public half of a Solana key is not that of its secret half");
  return {
    address: getAddressDecoder().decode(publicKey),
    sign: (message) => ed25519.sign(message, secret),
  };
}

/** Whether the account signed exactly these bytes, by the strict rule that the chain applies. */
export function verifies(account: string, message: Uint8Array, signature: Uint8Array): boolean {
  const key = new Uint8Array(getAddressEncoder().encode(address(account)));
  try {
    return ed25519.verify(signature, message, key, { zip215: false });
  } catch {
    // The account or the signature is no point of the curve.
    return false;
  }
}

/** Whether somebody can have the key of an account; program-owned addresses lie off the curve. */
export function isSignable(account: string): boolean {
  if (!isAddress(account)) return false;
  try {
    ed25519.Point.fromBytes(new Uint8Array(getAddressEncoder().encode(account)));
    return true;
  } catch {
    return false;
  }
}

/** The reference account that names a payment in its transfer: the 32 bytes of its nonce. */
export const referenceOf = (nonce: string): Address =>
  getAddressDecoder().decode(Buffer.from(nonce.slice(2), "hex"));

/** The nonce that a reference account stands for. */
export const nonceOf = (reference: string): string =>
  `0x${Buffer.from(fromBase58(reference)).toString("hex")}`;
