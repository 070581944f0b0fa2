import { expect, test } from "vitest";
import { readBroadcast, saysExecuted } from "./node-phrases.ts";

// Guarantee: the words of the nodes in use are understood the way their authors mean them.
test.for([
  // go-ethereum, op-geth, Nitro, Bor, BSC
  ["already known", "already_known"],
  ["nonce too low: next nonce 5, tx nonce 4", "nonce_too_low"],
  ["replacement transaction underpriced", "underpriced"],
  ["transaction underpriced: gas tip cap 0, minimum needed 1", "underpriced"],
  [
    "max fee per gas less than block base fee: address 0x…, maxFeePerGas: 1, baseFee: 7",
    "underpriced",
  ],
  ["insufficient funds for gas * price + value: balance 0, tx cost 21000", "insufficient_funds"],
  // Erigon
  ["INTERNAL_ERROR: existing tx with same hash", "already_known"],
  ["ALREADY_EXISTS: already known", "already_known"],
  ["INTERNAL_ERROR: could not replace existing tx", "underpriced"],
  ["fee too low", "underpriced"],
  // Nethermind
  ["AlreadyKnown", "already_known"],
  ["OldNonce", "nonce_too_low"],
  ["FeeTooLow, MaxFeePerGas too low", "underpriced"],
  ["InsufficientFunds, Account balance: 0", "insufficient_funds"],
  ["ReplacementNotAllowed", "underpriced"],
  // Besu
  ["Known transaction", "already_known"],
  ["Nonce too low", "nonce_too_low"],
  ["Gas price below current base fee", "underpriced"],
  ["Upfront cost exceeds account balance", "insufficient_funds"],
  // anvil
  ["transaction already imported", "already_known"],
  ["nonce too low", "nonce_too_low"],
  ["Insufficient funds for gas * price + value", "insufficient_funds"],
  // Nothing of the above: decides nothing.
  ["txpool is full", null],
  ["intrinsic gas too low", null],
  ["internal error", null],
] as const)("a broadcast answered with %s", ([message, kind]) => {
  expect(readBroadcast(message)).toBe(kind);
});

// Guarantee: only a call that ran is taken for a verdict of a contract; a node in trouble is not.
test.for([
  ["execution reverted: ERC20: transfer amount exceeds balance", true],
  ["execution reverted", true],
  ["Execution Reverted", true],
  ["invalid opcode: INVALID", true],
  ["gas required exceeds allowance (400000)", true],
  ["out of gas", true],
  ["VM execution error.", true],
  ["header not found", false],
  ["missing trie node 1234 (path )", false],
  ["rate limit exceeded", false],
  ["request timed out", false],
  ["the method eth_call does not exist", false],
] as const)("a call answered with %s", ([message, executed]) => {
  expect(saysExecuted(message)).toBe(executed);
});
