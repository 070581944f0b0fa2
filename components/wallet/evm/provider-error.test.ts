import { expect, test } from "vitest";
import { WalletError } from "../kit.ts";
import { codeOf, walletErrorOf } from "./provider-error.ts";

const error = (code: number, message = "no") => Object.assign(new Error(message), { code });

// Guarantee: what a wallet says by number or in words has one meaning, and only a clear refusal of a broadcast counts as one.
test.for([
  [error(4001), "refused", "refused"],
  [error(4100), "refused", "refused"],
  [error(-32002), "busy", "busy"],
  [error(4901), "wrong_chain", "wrong_chain"],
  [error(4902), "unsupported_chain", "unsupported_chain"],
  [error(4900), "gone", "unknown"],
  [error(-32603), "refused", "unknown"],
  [new Error("MetaMask Tx Signature: User denied transaction signature."), "refused", "refused"],
  [new Error("User cancelled the request"), "refused", "refused"],
  [{ message: "Request rejected" }, "refused", "refused"],
  [new Error("nonce too low"), "refused", "unknown"],
  ["a text", "refused", "unknown"],
  [null, "refused", "unknown"],
] as const)("%s", ([thrown, signing, sending]) => {
  expect(walletErrorOf(thrown, { mayHaveLeft: false }).kind).toBe(signing);
  expect(walletErrorOf(thrown, { mayHaveLeft: true }).kind).toBe(sending);
});

// Guarantee: the number is found wherever a wallet or a library wrapped it, and a wrapped circle ends.
test("wrapped errors", () => {
  expect(codeOf(new Error("outer", { cause: error(4001) }))).toBe(4001);
  expect(codeOf({ code: -32603, data: { originalError: { code: 4902 } } })).toBe(4902);
  const circle: { cause?: unknown } = {};
  circle.cause = circle;
  expect(codeOf(circle)).toBeNull();
  const known = new WalletError("busy", "known");
  expect(walletErrorOf(known, { mayHaveLeft: true })).toBe(known);
});
