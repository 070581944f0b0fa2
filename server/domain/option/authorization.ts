import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** EIP-712 domain; `version` is absent where the contract's domain has none (Permit2). */
export type TypedDataDomain = {
  name: string;
  version?: string;
  chainId: number;
  verifyingContract: string;
};

/** Everything a buyer authorizes, as we issued it. Nothing of it ever comes from a request. */
export type Authorization = {
  mechanism: "eip3009" | "permit2";
  /** CAIP-2. */
  chain: string;
  /** Token contract, lower case. */
  token: string;
  /** Lower-case account that pays. */
  payer: string;
  /** Lower-case account that receives. */
  recipient: string;
  /** Token minor units, as decimal text so that the snapshot survives JSON. */
  amount: string;
  /** 0x and 64 hex digits, derived from the payment id. */
  nonce: string;
  /** Unix seconds after which the contract refuses it. */
  deadline: number;
  /** Key that may call Permit2 with it; null for EIP-3009. */
  spender: string | null;
  domain: TypedDataDomain;
  /** How the token takes signatures; Permit2 always takes bytes. */
  signatures: "vrs" | "bytes";
};

/**
 * What a buyer's own wallet is asked to send (a push): native coin, with the payment's tag as its data. Nothing is signed for us,
 * so only the transfer on chain counts.
 */
export type PushTerms = {
  mechanism: "native";
  /** CAIP-2. */
  chain: string;
  /** Lower-case account that pays. */
  payer: string;
  /** Lower-case account that receives. */
  recipient: string;
  /** Minor units of the native coin, as decimal text. */
  amount: string;
  /** The tag: 0x and 64 hex digits, derived from the payment id. */
  nonce: string;
  /** Unix seconds after which the transfer is late. */
  deadline: number;
};

/** What an option asks of a buyer: a signature that we submit, or a transfer that the buyer's wallet sends. */
export type Terms = Authorization | PushTerms;

/** The ways in which money of an option moves. */
export type Mechanism = Terms["mechanism"];

/**
 * The authorization nonce of a payment: keccak-256 of "florin:payment:" and the id.
 * One payment has one nonce, so one account can never pay it twice on one token (EIP-3009, Permit2).
 */
export const paymentNonce = (paymentId: string): string =>
  `0x${bytesToHex(keccak_256(utf8ToBytes(`florin:payment:${paymentId}`)))}`;

/**
 * The tag of a payment: keccak-256 of "florin:tag:" and the id. A transfer of native coin carries it as its data, which tells
 * two equal payments of one account apart.
 */
export const paymentTag = (paymentId: string): string =>
  `0x${bytesToHex(keccak_256(utf8ToBytes(`florin:tag:${paymentId}`)))}`;
