import { encodeFunctionData, type Hex } from "viem";
import type { Authorization } from "#server/domain/option/authorization.ts";
import { PERMIT2_ABI, TOKEN_ABI } from "./abi.ts";
import { nonceBit, PERMIT2_ADDRESS } from "./permit2.ts";
import type { RpcCall } from "./rpc.ts";

/** An `eth_call` of plain calldata; `at` is a tag or a block number in hex. */
export const callAt = (to: string, data: Hex, at = "latest"): RpcCall => ({
  method: "eth_call",
  params: [{ to, data }, at],
});

/** What an account holds of a token. */
export const balanceCall = (token: string, owner: string, at?: string): RpcCall =>
  callAt(
    token,
    encodeFunctionData({ abi: TOKEN_ABI, functionName: "balanceOf", args: [owner as Hex] }),
    at,
  );

/** What an account allows Permit2 to move. */
export const allowanceCall = (token: string, owner: string): RpcCall =>
  callAt(
    token,
    encodeFunctionData({
      abi: TOKEN_ABI,
      functionName: "allowance",
      args: [owner as Hex, PERMIT2_ADDRESS],
    }),
  );

/** Where an authorization's nonce is kept: a word that is not zero under `mask` when it is used. */
export function nonceCall(a: Authorization, at?: string): { call: RpcCall; mask: bigint } {
  const payer = a.payer as Hex;
  if (a.mechanism === "eip3009") {
    const args = [payer, a.nonce as Hex] as const;
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "authorizationState", args });
    return { call: callAt(a.token, data, at), mask: 1n };
  }
  const { word, mask } = nonceBit(a.nonce);
  const args = [payer, word] as const;
  const data = encodeFunctionData({ abi: PERMIT2_ABI, functionName: "nonceBitmap", args });
  return { call: callAt(PERMIT2_ADDRESS, data, at), mask };
}
