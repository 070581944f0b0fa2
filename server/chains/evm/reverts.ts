import { decodeErrorResult, type Hex } from "viem";
import type { RevertReason } from "#server/ports/chain.ts";
import { REVERT_ABI } from "./abi.ts";

/** What each named error of a token or of Permit2 means for a payment. */
const BY_NAME: Record<string, RevertReason> = {
  AuthorizationUsedOrCanceled: "nonce_used",
  ERC3009UsedAuthorization: "nonce_used",
  InvalidNonce: "nonce_used",
  AuthorizationExpired: "expired",
  ERC3009InvalidAuthorizationTime: "expired",
  SignatureExpired: "expired",
  InvalidSignature: "bad_signature",
  ERC3009InvalidSignature: "bad_signature",
  ECDSAInvalidSignature: "bad_signature",
  ECDSAInvalidSignatureS: "bad_signature",
  ECDSAInvalidSignatureLength: "bad_signature",
  InvalidSigner: "bad_signature",
  InvalidContractSignature: "bad_signature",
  InvalidSignatureLength: "bad_signature",
  Blacklisted: "denied",
  ERC20InsufficientBalance: "insufficient_balance",
  ERC20InsufficientAllowance: "insufficient_allowance",
};

/**
 * Reason texts of deployed tokens that revert with a string instead of a named error. They only sharpen the message: what is
 * not listed is `other`, and the facts are then read from the chain.
 * Sources: Circle FiatTokenV2 and Blacklistable, Tether's EIP3009, OpenZeppelin 4 ERC-20 and ECDSA, this sandbox's tokens.
 */
const BY_TEXT: [RegExp, RevertReason][] = [
  [/authorization is used( or canceled)?$|authorization already used/i, "nonce_used"],
  [/authorization (is )?expired/i, "expired"],
  [/invalid signature/i, "bad_signature"],
  [/amount exceeds balance|balance too low/i, "insufficient_balance"],
  [/amount exceeds allowance|allowance too low|insufficient allowance/i, "insufficient_allowance"],
  [/blacklisted|black listed|blocked/i, "denied"],
];

const byText = (text: string): RevertReason =>
  BY_TEXT.find(([pattern]) => pattern.test(text))?.[1] ?? "other";

/** Reads revert data, then the message of nodes that give none; a call that reverts without naming a reason is `other`. */
export function readRevert(
  data: Hex | null,
  message: string,
): { reason: RevertReason; detail: string } {
  if (data === null) return { reason: byText(message), detail: message };
  try {
    const { errorName, args } = decodeErrorResult({ abi: REVERT_ABI, data });
    if (errorName !== "Error") return { reason: BY_NAME[errorName] ?? "other", detail: errorName };
    const text = String(args[0]);
    return { reason: byText(text), detail: text };
  } catch {
    // An error of a contract we do not know.
    return { reason: "other", detail: `unknown error ${data.slice(0, 10)}` };
  }
}
