import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, utf8ToBytes } from "@noble/hashes/utils.js";

/** What a proof of ownership is about; amount and end are in words. */
export type ProofFacts = {
  paymentId: string;
  merchant: string;
  amount: string;
  /** CAIP-2. */
  chain: string;
  address: string;
  validUntil: string;
};

/** Sixteen bytes of keccak-256 of "florin:proof:", payment and account: the same message for the same question. */
const nonceOf = ({ paymentId, chain, address }: ProofFacts): string =>
  bytesToHex(keccak_256(utf8ToBytes(`florin:proof:${paymentId}:${chain}:${address}`))).slice(0, 32);

/** One line of it: nobody's name may look like a line of the message. */
const line = (text: string): string => text.replace(/\p{C}/gu, " ").trim();

/** The message a buyer signs to show that the account is theirs: everything it is about, in words. */
export const proofMessage = (facts: ProofFacts): string =>
  [
    "This account is mine, and I pay with it:",
    "",
    `Payment: ${facts.paymentId}`,
    `Merchant: ${line(facts.merchant)}`,
    `Amount: ${facts.amount}`,
    `Account: ${facts.address}`,
    `Chain: ${facts.chain}`,
    `Nonce: ${nonceOf(facts)}`,
    `Valid until: ${facts.validUntil}`,
    "",
    "Signing this moves no money.",
  ].join("\n");
