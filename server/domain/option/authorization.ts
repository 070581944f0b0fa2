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

/**
 * What a transaction of ours that the buyer's wallet signs as a whole must do (Solana): one transfer that names the payment by a
 * reference account. The transaction itself is made by fetch, because it lives for a minute only.
 */
export type TransferTerms = {
  mechanism: "spl_transfer" | "sol_transfer";
  /** CAIP-2. */
  chain: string;
  /** Mint; for native coin its SLIP-44 number, as in its asset. */
  token: string;
  /** Account that pays and signs. */
  payer: string;
  /** Account that receives, itself or by its associated token account. */
  recipient: string;
  /** Minor units, as decimal text. */
  amount: string;
  /** The reference account as 0x and 64 hex digits, derived from the payment id. */
  nonce: string;
  /** Unix seconds after which no transaction is made any more. */
  deadline: number;
};

/** What a buyer signs and we submit. */
export type SignedTerms = Authorization | TransferTerms;

/** What an option asks of a buyer: a signature that we submit, or a transfer that the buyer's wallet sends. */
export type Terms = SignedTerms | PushTerms;

/** The ways in which money of an option moves. */
export type Mechanism = Terms["mechanism"];

/** How options of a mechanism are handed out, and who broadcasts what the wallet makes of them. */
type Traits = {
  /** `options`: the calls are in the list of options; `fetch`: they are made, or gated, by fetch. */
  calls: "options" | "fetch";
  broadcaster: "us" | "wallet";
  /** Whether the chain itself refuses a transfer with the payment's nonce after the deadline. */
  deadlineOnChain: boolean;
};

/** What differs between mechanisms beyond the chain's own adapter. */
export const TRAITS: Record<Mechanism, Traits> = {
  eip3009: { calls: "options", broadcaster: "us", deadlineOnChain: true },
  permit2: { calls: "options", broadcaster: "us", deadlineOnChain: true },
  native: { calls: "fetch", broadcaster: "wallet", deadlineOnChain: false },
  spl_transfer: { calls: "fetch", broadcaster: "us", deadlineOnChain: false },
  sol_transfer: { calls: "fetch", broadcaster: "us", deadlineOnChain: false },
};

/** Whether terms are for a transaction that the wallet signs as a whole. */
export const isTransfer = (terms: Terms): terms is TransferTerms =>
  terms.mechanism === "spl_transfer" || terms.mechanism === "sol_transfer";

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
