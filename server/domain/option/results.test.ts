import { expect, test } from "vitest";
import type { WalletRpcAction } from "./actions.ts";
import { alignResults, MAX_SIGNATURE_BYTES, normaliseSignature, oversizedAt } from "./results.ts";

const sign: WalletRpcAction = {
  type: "walletRpc",
  data: { chain_id: "eip155:1", method: "eth_signTypedData_v4", params: [] },
};
const send: WalletRpcAction = {
  type: "walletRpc",
  data: { chain_id: "eip155:1", method: "eth_sendTransaction", params: [] },
};
const hash = `0x${"ab".repeat(32)}`;
const signature = `0x${"11".repeat(32)}${"22".repeat(32)}1b`;
const result = (...data: unknown[]) => ({ type: "walletRpc" as const, data });

// Guarantee: the i-th output belongs to the i-th action, in both shapes clients use.
test("one result per action, or all outputs in one result", () => {
  const aligned = { kind: "aligned", outputs: [hash, signature] };
  expect(alignResults([send, sign], [result(hash), result(signature)], false)).toEqual(aligned);
  expect(alignResults([send, sign], [result(hash, signature)], false)).toEqual(aligned);
});

// Guarantee: outputs in the wrong place are never taken for money.
test.for([
  ["too few", [result(hash)]],
  ["too many", [result(hash), result(signature), result(signature)]],
  ["swapped", [result(signature), result(hash)]],
  ["a hash where a signature belongs", [result(hash), result(hash)]],
  ["an empty result", [result(), result(signature)]],
  ["two outputs in one place", [result(hash, hash), result(signature)]],
  ["an object", [result(hash), result({ signature })]],
  ["not hex", [result(hash), result("0xzz")]],
  ["v of 29", [result(hash), result(`${signature.slice(0, -2)}1d`)]],
] as const)("%s is misaligned", ([, results]) => {
  expect(alignResults([send, sign], [...results], false).kind).toBe("misaligned");
});

// Guarantee: an account with code may sign with any bytes, but a transaction hash is still no signature.
test("contract accounts", () => {
  expect(alignResults([sign], [result("0x1234")], true).kind).toBe("aligned");
  expect(alignResults([sign], [result(hash)], true).kind).toBe("misaligned");
});

// Guarantee: a signature of any length a capture's gas can pay for is taken, and none above it.
test("the longest signature", () => {
  const longest = `0x${"ff".repeat(MAX_SIGNATURE_BYTES)}`;
  expect(oversizedAt([hash, longest])).toBe(-1);
  expect(oversizedAt([hash, `${longest}00`])).toBe(1);
  // 40 gas a byte is the most a transaction's data costs (EIP-7623); half of the cap is left for the account's own check.
  expect(40 * MAX_SIGNATURE_BYTES + 21_000).toBeLessThan(400_000 / 2);
});

// Guarantee: every spelling of one signature ends as the same 65 bytes.
test("signatures are normalised", () => {
  const r = "11".repeat(32);
  const s = `22${"22".repeat(31)}`;
  expect(normaliseSignature(`0x${r}${s}00`)).toBe(`0x${r}${s}1b`);
  expect(normaliseSignature(`0x${r}${s}01`)).toBe(`0x${r}${s}1c`);
  expect(normaliseSignature(`0x${r}${s}`)).toBe(`0x${r}${s}1b`);
  const odd = (BigInt(`0x${s}`) | (1n << 255n)).toString(16);
  expect(normaliseSignature(`0x${r}${odd}`)).toBe(`0x${r}${s}1c`);
});
