import { expect, test } from "vitest";
import { lackOf } from "./results.ts";

const HASH = `0x${"ab".repeat(32)}`;
const SIGNATURE = `0x${"ab".repeat(65)}`;

// Guarantee: only what can be a signature or a transaction is handed in for one.
test.for([
  ["eth_signTypedData_v4", SIGNATURE, null],
  ["personal_sign", `0x${"AB".repeat(64)}`, null],
  ["eth_signTypedData_v4", `0x${"ab".repeat(800)}`, null],
  ["eth_sendTransaction", HASH, null],
  ["eth_sendTransaction", { hash: HASH }, null],
  ["solana_signTransaction", { transaction: "AQ==" }, null],
  ["eth_signTypedData_v4", null, "signature"],
  ["eth_signTypedData_v4", "0x", "signature"],
  ["eth_signTypedData_v4", "0x1234", "signature"],
  ["eth_signTypedData_v4", `${SIGNATURE}a`, "signature"],
  ["eth_signTypedData_v4", `0x${"ab".repeat(9000)}`, "signature"],
  ["eth_signTypedData_v4", 7, "signature"],
  ["personal_sign", { signature: SIGNATURE }, "signature"],
  ["personal_sign", [SIGNATURE], "signature"],
  ["eth_sendTransaction", null, "hash"],
  ["eth_sendTransaction", "0x12", "hash"],
  ["eth_sendTransaction", SIGNATURE, "hash"],
  ["eth_sendTransaction", { hash: 7 }, "hash"],
] as const)("%s answers %o", ([method, output, lack]) => {
  expect(lackOf(method, output)).toBe(lack);
});
