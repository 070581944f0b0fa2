import { expect, test } from "vitest";
import type { Action, WalletRpcMethod } from "#server/domain/option/actions.ts";
import { stepsOf } from "./steps.ts";

const SPENDER = "00".repeat(12) + "ab".repeat(20);
const word = (value: bigint) => value.toString(16).padStart(64, "0");
const call = (method: WalletRpcMethod, data?: string): Action => ({
  type: "walletRpc",
  data: { chain_id: "eip155:1", method, params: [data === undefined ? "x" : { data }] },
});
const approve = (amount: bigint) =>
  call("eth_sendTransaction", `0x095ea7b3${SPENDER}${word(amount)}`);
const BUILD: Action = { type: "build", data: { data: "opaque" } };
const kinds = (actions: Action[], broadcaster: "us" | "wallet" = "us", proves = false) =>
  stepsOf(actions, { broadcaster, proves }).map(({ kind }) => kind);

// Guarantee: each call is one step in its order, and an approval says how much it allows and to whom.
test("calls", () => {
  expect(kinds([call("eth_signTypedData_v4")])).toEqual(["sign"]);
  const calls = [call("personal_sign"), approve(0n), approve(7n), call("eth_signTypedData_v4")];
  expect(kinds(calls)).toEqual(["prove", "reset_allowance", "approve", "sign"]);
  expect(stepsOf([approve(7n)], { broadcaster: "us", proves: false })[0]).toEqual({
    kind: "approve",
    minor: 7n,
    spender: `0x${"ab".repeat(20)}`,
  });
  expect(kinds([call("eth_sendTransaction", "0x1234")], "wallet")).toEqual(["send"]);
});

// Guarantee: calls that only fetch hands out are counted before it was asked.
test("calls to come", () => {
  expect(kinds([BUILD], "wallet")).toEqual(["send"]);
  expect(kinds([BUILD], "us")).toEqual(["sign"]);
  expect(kinds([BUILD], "wallet", true)).toEqual(["prove", "send"]);
  expect(kinds([call("personal_sign"), BUILD], "wallet", true)).toEqual(["prove", "send"]);
});
