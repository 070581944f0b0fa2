import { encodeFunctionData, type Hex, hashDomain, hashTypedData, toHex } from "viem";
import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import type { Authorization } from "#server/domain/option/authorization.ts";
import { PERMIT2_ABI, TOKEN_ABI } from "./abi.ts";

/** Canonical address of Permit2 on every chain that has it (Uniswap's deployment). */
export const PERMIT2_ADDRESS = "0x000000000022d473030f116ddee9f6b43ac78ba3";

const TYPES = {
  EIP712Domain: [
    { name: "name", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
  ],
  PermitTransferFrom: [
    { name: "permitted", type: "TokenPermissions" },
    { name: "spender", type: "address" },
    { name: "nonce", type: "uint256" },
    { name: "deadline", type: "uint256" },
  ],
  TokenPermissions: [
    { name: "token", type: "address" },
    { name: "amount", type: "uint256" },
  ],
} as const;

/** What Permit2's DOMAIN_SEPARATOR() is on a chain. */
export const permit2Separator = (chainId: bigint): Hex =>
  hashDomain({
    domain: { name: "Permit2", chainId, verifyingContract: PERMIT2_ADDRESS },
    types: { EIP712Domain: TYPES.EIP712Domain },
  });

/** What the wallet is asked to sign, as plain JSON with decimal numbers. */
export const permit2TypedData = (a: Authorization) => ({
  types: TYPES,
  primaryType: "PermitTransferFrom" as const,
  domain: a.domain,
  message: {
    permitted: { token: a.token, amount: a.amount },
    spender: a.spender,
    nonce: BigInt(a.nonce).toString(),
    deadline: String(a.deadline),
  },
});

/** Digest of what is signed, computed from our own snapshot. */
export function permit2Digest(a: Authorization): Hex {
  const { name, chainId, verifyingContract } = a.domain;
  return hashTypedData({
    types: TYPES,
    primaryType: "PermitTransferFrom",
    domain: { name, chainId: BigInt(chainId), verifyingContract: verifyingContract as Hex },
    message: {
      permitted: { token: a.token as Hex, amount: BigInt(a.amount) },
      spender: (a.spender ?? "0x") as Hex,
      nonce: BigInt(a.nonce),
      deadline: BigInt(a.deadline),
    },
  });
}

/** Calldata of the transfer; only the named spender may send it, and it names the recipient. */
export const permit2Call = (a: Authorization, signature: Hex): Hex =>
  encodeFunctionData({
    abi: PERMIT2_ABI,
    functionName: "permitTransferFrom",
    args: [
      {
        permitted: { token: a.token as Hex, amount: BigInt(a.amount) },
        nonce: BigInt(a.nonce),
        deadline: BigInt(a.deadline),
      },
      { to: a.recipient as Hex, requestedAmount: BigInt(a.amount) },
      a.payer as Hex,
      signature,
    ],
  });

/** Where Permit2 keeps the used bit of a nonce: its word, and the bit's mask in it. */
export const nonceBit = (nonce: string): { word: bigint; mask: bigint } => ({
  word: BigInt(nonce) >> 8n,
  mask: 1n << (BigInt(nonce) & 0xffn),
});

const approve = (chain: string, token: string, payer: string, spender: string, value: bigint) => ({
  type: "walletRpc" as const,
  data: {
    chain_id: chain,
    method: "eth_sendTransaction" as const,
    params: [
      {
        from: payer,
        to: token,
        data: encodeFunctionData({
          abi: TOKEN_ABI,
          functionName: "approve",
          args: [spender as Hex, value],
        }),
        value: toHex(0n),
      },
    ],
  },
});

/** The approvals that must come first: none, one, or a reset to zero before it where the token asks for that. */
export function approvals(
  a: Authorization,
  allowance: bigint,
  options: { approveZeroFirst: boolean; headroomBps: number },
): WalletRpcAction[] {
  const amount = BigInt(a.amount);
  if (allowance >= amount) return [];
  const wanted = (amount * BigInt(10_000 + options.headroomBps) + 9_999n) / 10_000n;
  const { chain, token, payer, domain } = a;
  const step = (value: bigint) => approve(chain, token, payer, domain.verifyingContract, value);
  return options.approveZeroFirst && allowance > 0n ? [step(0n), step(wanted)] : [step(wanted)];
}
