import { encodeErrorResult, type Hex, parseAbi } from "viem";
import { expect, test } from "vitest";
import type { Authorization } from "#server/domain/option/authorization.ts";
import type { TxPlan } from "#server/ports/chain.ts";
import type { Context } from "./context.ts";
import { type RpcCall, RpcRefusal } from "./rpc.ts";
import { simulate, tryCall } from "./simulate.ts";

const TOKEN = "0xdac17f958d2ee523a2206206994597c13d831ec7";
const SIGNER = "0x3333333333333333333333333333333333333333";
const AUTHORIZATION: Authorization = {
  mechanism: "eip3009",
  chain: "eip155:1",
  token: TOKEN,
  payer: "0x1111111111111111111111111111111111111111",
  recipient: "0x2222222222222222222222222222222222222222",
  amount: "5",
  nonce: `0x${"ab".repeat(31)}05`,
  deadline: 1_000,
  spender: null,
  domain: { name: "x", version: "1", chainId: 1, verifyingContract: TOKEN },
  signatures: "bytes",
};
const PERMIT: Authorization = { ...AUTHORIZATION, mechanism: "permit2", spender: SIGNER };
const capture = (authorization: Authorization): TxPlan => ({
  kind: "capture",
  authorization,
  signature: "0x1234",
});

const word = (value: bigint): Hex => `0x${value.toString(16).padStart(64, "0")}`;
const SELECTORS = {
  "0xe94a0102": "nonce", // authorizationState(address,bytes32)
  "0x4fe02b44": "nonce", // nonceBitmap(address,uint256)
  "0x70a08231": "balance", // balanceOf(address)
  "0xdd62ed3e": "allowance", // allowance(address,address)
  "0x23b872dd": "transferFrom",
} as const;
type Facts = { nonce: bigint; balance: bigint; allowance: bigint; time: bigint };

/** A chain with these facts whose main call reverts as told. */
function contextOf(facts: Facts, failure: RpcRefusal | null, gas = "0x186a0"): Context {
  const answer = ({ method, params }: RpcCall): unknown => {
    if (method === "eth_getBlockByNumber") return { timestamp: `0x${facts.time.toString(16)}` };
    const [{ data }] = params as [{ data: Hex }];
    const what = SELECTORS[data.slice(0, 10) as keyof typeof SELECTORS];
    if (what === "transferFrom") return "0x";
    if (what !== undefined) return word(facts[what]);
    if (failure !== null) return failure;
    return method === "eth_estimateGas" ? gas : "0x";
  };
  const rpc = {
    batch: async (calls: RpcCall[]) => calls.map(answer),
    read: async (method: string, params: unknown[]) => {
      const said = answer({ method, params });
      if (said instanceof RpcRefusal) throw said;
      return said;
    },
  };
  return { rpc } as unknown as Context;
}

const silent = new RpcRefusal(3, "execution reverted", null);
const failed = encodeErrorResult({
  abi: parseAbi(["error Error(string)"]),
  args: ["TRANSFER_FROM_FAILED"],
});
const hidden = new RpcRefusal(3, "execution reverted", failed);
const SOUND: Facts = { nonce: 0n, balance: 5n, allowance: 5n, time: 999n };

// Guarantee: a contract that does not say why it refused is asked for the facts, and the fact that matters most is told.
test.for([
  ["a used nonce", AUTHORIZATION, { nonce: 1n, balance: 0n, time: 2_000n }, "nonce_used"],
  ["the deadline", AUTHORIZATION, { time: 1_000n, balance: 0n }, "expired"],
  ["the balance", AUTHORIZATION, { balance: 4n, allowance: 0n }, "insufficient_balance"],
  ["no allowance needed", AUTHORIZATION, { allowance: 0n }, "other"],
  ["a used bit of Permit2", PERMIT, { nonce: 1n << 5n }, "nonce_used"],
  ["another bit of Permit2", PERMIT, { nonce: ~(1n << 5n) & ((1n << 256n) - 1n) }, "other"],
  ["the allowance", PERMIT, { allowance: 4n }, "insufficient_allowance"],
  ["nothing", PERMIT, {}, "other"],
] as const)("a silent revert: %s", async ([, authorization, change, reason]) => {
  const context = contextOf({ ...SOUND, ...change }, hidden);
  expect(await tryCall(context, capture(authorization), SIGNER)).toMatchObject({ reason });
  expect(await simulate(context, capture(authorization), SIGNER)).toMatchObject({
    kind: "revert",
    reason,
  });
});

// Guarantee: where an allowance is pretended, a missing one is no reason.
test("a pretended allowance", async () => {
  const context = contextOf({ ...SOUND, allowance: 0n }, silent);
  const pretended = { [TOKEN]: {} };
  expect(await tryCall(context, capture(PERMIT), SIGNER, pretended)).toMatchObject({
    reason: "other",
  });
});

// Guarantee: gas has a quarter of room, and never more than the cap.
test("gas", async () => {
  const sound = (gas: string) => simulate(contextOf(SOUND, null, gas), capture(PERMIT), SIGNER);
  expect(await sound("0x186a0")).toEqual({ kind: "ok", gas: 125_000n });
  expect(await sound("0x5f5e0")).toEqual({ kind: "ok", gas: 400_000n });
});
