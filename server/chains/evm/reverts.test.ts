import { encodeErrorResult, type Hex, parseAbi } from "viem";
import { expect, test } from "vitest";
import { readRevert } from "./reverts.ts";

const error = (signature: string, args: unknown[] = []): Hex => {
  const abi = parseAbi([`error ${signature}`] as readonly string[]);
  const errorName = signature.slice(0, signature.indexOf("("));
  return encodeErrorResult({ abi, errorName, args } as Parameters<typeof encodeErrorResult>[0]);
};
const text = (message: string) => error("Error(string)", [message]);
const ANY = "0x1111111111111111111111111111111111111111";
const WORD = `0x${"22".repeat(32)}`;

// Guarantee: the errors of the tokens and of Permit2 mean the same thing here whatever they are called.
test.for([
  [error("AuthorizationUsedOrCanceled(address,bytes32)", [ANY, WORD]), "nonce_used"],
  [error("ERC3009UsedAuthorization(address,bytes32)", [ANY, WORD]), "nonce_used"],
  [error("InvalidNonce()"), "nonce_used"],
  [text("FiatTokenV2: authorization is used or canceled"), "nonce_used"],
  [text("EIP3009: authorization is used"), "nonce_used"],
  [error("ERC3009InvalidAuthorizationTime(uint256,uint256)", [0n, 1n]), "expired"],
  [error("SignatureExpired(uint256)", [5n]), "expired"],
  [text("FiatTokenV2: authorization is expired"), "expired"],
  [error("InvalidSigner()"), "bad_signature"],
  [error("InvalidContractSignature()"), "bad_signature"],
  [error("ERC3009InvalidSignature()"), "bad_signature"],
  [error("ECDSAInvalidSignatureS(bytes32)", [WORD]), "bad_signature"],
  [text("ECRecover: invalid signature 's' value"), "bad_signature"],
  [text("FiatTokenV2: invalid signature"), "bad_signature"],
  [
    error("ERC20InsufficientBalance(address,uint256,uint256)", [ANY, 1n, 2n]),
    "insufficient_balance",
  ],
  [text("ERC20: transfer amount exceeds balance"), "insufficient_balance"],
  [
    error("ERC20InsufficientAllowance(address,uint256,uint256)", [ANY, 1n, 2n]),
    "insufficient_allowance",
  ],
  [text("ERC20: transfer amount exceeds allowance"), "insufficient_allowance"],
  [text("Blacklistable: account is blacklisted"), "denied"],
  [text("TRANSFER_FROM_FAILED"), "other"],
  [text("FiatTokenV2: authorization is not yet valid"), "other"],
  [error("Unheard()"), "other"],
  ["0x12", "other"],
] as const)("revert data %s", ([data, reason]) => {
  expect(readRevert(data as Hex, "execution reverted").reason).toBe(reason);
});

// Guarantee: a node that keeps the data to itself may still have told the reason in words.
test("reverts without data", () => {
  const said = "execution reverted: ERC20: transfer amount exceeds balance";
  expect(readRevert(null, said)).toEqual({ reason: "insufficient_balance", detail: said });
  expect(readRevert(null, "execution reverted").reason).toBe("other");
});
