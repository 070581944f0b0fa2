import { encodeFunctionData, type Hex, hexToBytes, isAddress, keccak256 } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { parseAsset } from "#server/domain/asset/caip.ts";
import type { Authorization } from "#server/domain/option/authorization.ts";
import type { Fees, SignedTx, TxPlan } from "#server/ports/chain.ts";
import { TOKEN_ABI } from "./abi.ts";
import { eip3009Call } from "./eip3009.ts";
import { PERMIT2_ADDRESS, permit2Call } from "./permit2.ts";
import { evmTerms } from "./terms.ts";

/** The most gas any of our transactions may take; what costs more is not what a payment looks like. */
export const GAS_CAP = 400_000n;

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

/** What a plan sends: where it goes, with what data; with value only where it pays out native coin. */
export function callOf(plan: TxPlan, signer: string): { to: Hex; data: Hex; value: bigint } {
  if (plan.kind === "fill") return { to: signer as Hex, data: "0x", value: 0n };
  if (plan.kind === "transfer") {
    const token = parseAsset(plan.asset);
    if (token?.namespace === "slip44")
      return { to: plan.to as Hex, data: "0x", value: BigInt(plan.amount) };
    if (token?.namespace !== "erc20") throw new Error(`${plan.asset} is no token`);
    const args = [plan.to as Hex, BigInt(plan.amount)] as const;
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args });
    return { to: token.reference as Hex, data, value: 0n };
  }
  const { signature } = plan;
  const authorization = evmTerms(plan.authorization);
  return authorization.mechanism === "permit2"
    ? { to: PERMIT2_ADDRESS, data: permit2Call(authorization, signature as Hex), value: 0n }
    : {
        to: authorization.token as Hex,
        data: eip3009Call(authorization, signature as Hex),
        value: 0n,
      };
}

const ZERO = "0x0000000000000000000000000000000000000000";

/** Where a signer may act: its chain, the token contracts of the registry, lower case, and the asset of its native coin. */
export type Policy = { chain: string; contracts: ReadonlySet<string>; native: string };

function transferRefusal(
  plan: TxPlan & { kind: "transfer" },
  signer: Signer,
  policy: Policy,
): string | null {
  if (signer.role !== "intermediary") return "only the intermediary key pays out";
  const token = parseAsset(plan.asset);
  if (token?.chain !== policy.chain) return "the asset is on another chain";
  const registered = token.namespace === "erc20" && policy.contracts.has(token.reference);
  if (!registered && plan.asset !== policy.native) return "the asset is not in the registry";
  const to = plan.to.toLowerCase();
  if (!isAddress(to)) return "the destination is no address";
  if (to === ZERO || to === token.reference || to === signer.address)
    return "a transfer never goes to nobody, to its own token or back to itself";
  return BigInt(plan.amount) > 0n ? null : "a transfer moves something";
}

function captureRefusal(a: Authorization, signer: Signer, policy: Policy): string | null {
  const chainId = Number(policy.chain.slice("eip155:".length));
  if (a.chain !== policy.chain || a.domain.chainId !== chainId)
    return "the authorization is for another chain";
  if (!policy.contracts.has(a.token)) return "the token is not in the registry";
  if (!isAddress(a.recipient) || a.recipient === ZERO || a.recipient === a.token)
    return "a capture never goes to nobody or to its own token";
  if (a.mechanism === "eip3009")
    return signer.role === "relayer" ? null : "only a relayer key submits EIP-3009";
  if (signer.role !== "spender") return "only the Permit2 spender key submits permits";
  return a.spender === signer.address ? null : "the permit names another spender";
}

/** Why this key may not sign this plan; null: it may. A fill moves nothing and is open to every key. */
export function policyRefusal(plan: TxPlan, signer: Signer, policy: Policy): string | null {
  if (plan.kind === "fill") return null;
  return plan.kind === "transfer"
    ? transferRefusal(plan, signer, policy)
    : captureRefusal(evmTerms(plan.authorization), signer, policy);
}

/** Signs a plan if the key's role allows it; throws otherwise. The same input gives the same bytes (RFC 6979). */
export async function signPlan(
  plan: TxPlan,
  signer: Signer,
  policy: Policy,
  tx: { nonce: bigint; gas: bigint; fees: Fees },
): Promise<SignedTx> {
  const refused =
    policyRefusal(plan, signer, policy) ??
    (tx.gas > GAS_CAP ? `gas of ${tx.gas} is over the cap of ${GAS_CAP}` : null);
  if (refused !== null) throw new Error(`refused to sign: ${refused}`);
  const raw = await signer.signTransaction({
    chainId: Number(policy.chain.slice("eip155:".length)),
    nonce: Number(tx.nonce),
    ...callOf(plan, signer.address),
    gas: tx.gas,
    fees: tx.fees,
  });
  return { hash: keccak256(raw), raw: hexToBytes(raw), lapsesAt: null };
}
