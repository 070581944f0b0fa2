import { encodeFunctionData, type Hex, hexToBytes, keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { parseAsset } from "#server/domain/asset/caip.ts";
import type { Fees, SignedTx, TxPlan } from "#server/ports/chain.ts";
import { TOKEN_ABI } from "./abi.ts";
import { eip3009Call } from "./eip3009.ts";
import { PERMIT2_ADDRESS, permit2Call } from "./permit2.ts";

/** What a key is for; a key does nothing else. */
export type Role = "relayer" | "spender" | "intermediary";

/** One key: signs transactions that were built here, never bytes from outside. A KMS can stand behind the same type. */
export type Signer = {
  address: string;
  role: Role;
  signTransaction(tx: {
    chainId: number;
    nonce: number;
    to: Hex;
    value: bigint;
    data: Hex;
    gas: bigint;
    fees: Fees;
  }): Promise<Hex>;
};

/** A key held in this process. */
export function localSigner(key: string, role: Role): Signer {
  const account = privateKeyToAccount(key as Hex);
  return {
    address: account.address.toLowerCase(),
    role,
    signTransaction: ({ chainId, nonce, to, value, data, gas, fees }) =>
      account.signTransaction({
        type: "eip1559",
        chainId,
        nonce,
        to,
        value,
        data,
        gas,
        maxFeePerGas: fees.maxFee,
        maxPriorityFeePerGas: fees.maxPriorityFee,
      }),
  };
}

/** The contract call of a plan: where it goes and with what data; always without value. */
export function callOf(plan: TxPlan, signer: string): { to: Hex; data: Hex } {
  if (plan.kind === "fill") return { to: signer as Hex, data: "0x" };
  if (plan.kind === "transfer") {
    const token = parseAsset(plan.asset);
    if (token?.namespace !== "erc20") throw new Error(`${plan.asset} is no token`);
    const args = [plan.to as Hex, BigInt(plan.amount)] as const;
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args });
    return { to: token.reference as Hex, data };
  }
  const { authorization, signature } = plan;
  return authorization.mechanism === "permit2"
    ? { to: PERMIT2_ADDRESS, data: permit2Call(authorization, signature as Hex) }
    : { to: authorization.token as Hex, data: eip3009Call(authorization, signature as Hex) };
}

const ZERO = "0x0000000000000000000000000000000000000000";

/** Why this key may not sign this plan on this chain; null: it may. */
export function policyRefusal(plan: TxPlan, signer: Signer, chain: string): string | null {
  if (plan.kind === "fill") return null;
  if (plan.kind === "transfer") {
    if (signer.role !== "intermediary") return "only the intermediary key pays out";
    const token = parseAsset(plan.asset);
    if (token?.chain !== chain) return "the asset is on another chain";
    if (plan.to === ZERO || plan.to === token.reference || plan.to === signer.address)
      return "a transfer never goes to nobody, to its own token or back to itself";
    return BigInt(plan.amount) > 0n ? null : "a transfer moves something";
  }
  const { authorization } = plan;
  if (authorization.chain !== chain) return "the authorization is for another chain";
  if (authorization.mechanism === "eip3009")
    return signer.role === "relayer" ? null : "only a relayer key submits EIP-3009";
  if (signer.role !== "spender") return "only the Permit2 spender key submits permits";
  return authorization.spender === signer.address ? null : "the permit names another spender";
}

/** Signs a plan if the key's role allows it; throws otherwise. The same input gives the same bytes (RFC 6979). */
export async function signPlan(
  plan: TxPlan,
  signer: Signer,
  chain: string,
  tx: { nonce: bigint; gas: bigint; fees: Fees },
): Promise<SignedTx> {
  const refused = policyRefusal(plan, signer, chain);
  if (refused !== null) throw new Error(`refused to sign: ${refused}`);
  const raw = await signer.signTransaction({
    chainId: Number(chain.slice("eip155:".length)),
    nonce: Number(tx.nonce),
    value: 0n,
    ...callOf(plan, signer.address),
    gas: tx.gas,
    fees: tx.fees,
  });
  return { hash: keccak256(raw), raw: hexToBytes(raw) };
}
