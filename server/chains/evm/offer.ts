import type { Hex } from "viem";
import type { Authorization, TypedDataDomain } from "#server/domain/option/authorization.ts";
import type { TokenEntry } from "#server/platform/registry.ts";
import type { Offer, OfferInput } from "#server/ports/chain.ts";
import { type Context, contractOf } from "./context.ts";
import { eip3009Digest, eip3009TypedData } from "./eip3009.ts";
import { isNative, makePush, proofAction } from "./native.ts";
import { approvals, PERMIT2_ADDRESS, permit2Digest, permit2TypedData } from "./permit2.ts";

/** EIP-3009 where the token takes this account's kind of signature, else Permit2 where the chain has it. */
function mechanismFor(token: TokenEntry, hasCode: boolean, spender: string | null) {
  if (token.eip3009 !== null && (!hasCode || token.eip3009.signatures === "bytes"))
    return "eip3009" as const;
  return spender === null ? null : ("permit2" as const);
}

function domainOf(
  mechanism: Authorization["mechanism"],
  token: TokenEntry,
  chainId: number,
): TypedDataDomain {
  if (mechanism === "permit2" || token.eip3009 === null)
    return { name: "Permit2", chainId, verifyingContract: PERMIT2_ADDRESS };
  const { name, version } = token.eip3009;
  return { name, version, chainId, verifyingContract: token.address.toLowerCase() };
}

/** The EIP-712 digest of what a buyer signs, computed from our own snapshot alone. */
export const digestOf = (a: Authorization): Hex =>
  a.mechanism === "eip3009" ? eip3009Digest(a) : permit2Digest(a);

/** Builds what a wallet is asked for; null: this account cannot pay with this token here. */
export function makeOffer(context: Context, input: OfferInput): Offer | null {
  if (isNative(input.asset)) return makePush(context, input);
  const { chain, chainId, tokens, facts } = context;
  const token = tokens.get(input.asset);
  if (token === undefined) return null;
  const mechanism = mechanismFor(token, input.payerHasCode, facts.spender);
  if (mechanism === null) return null;
  const authorization: Authorization = {
    mechanism,
    chain,
    token: contractOf(input.asset),
    payer: input.payer,
    recipient: input.recipient,
    amount: input.amount.toString(),
    nonce: input.nonce,
    deadline: input.deadline,
    spender: mechanism === "permit2" ? facts.spender : null,
    domain: domainOf(mechanism, token, chainId),
    signatures: mechanism === "eip3009" ? (token.eip3009?.signatures ?? "vrs") : "bytes",
  };
  const data =
    mechanism === "eip3009" ? eip3009TypedData(authorization) : permit2TypedData(authorization);
  const sign = {
    type: "walletRpc" as const,
    data: {
      chain_id: chain,
      method: "eth_signTypedData_v4" as const,
      params: [input.payer, JSON.stringify(data)],
    },
  };
  const first =
    mechanism === "permit2"
      ? approvals(authorization, input.allowance, {
          approveZeroFirst: token.approveZeroFirst,
          headroomBps: input.approveHeadroomBps,
        })
      : [];
  const proof = input.proof === null ? [] : [proofAction(chain, input.payer, input.proof)];
  return { actions: [...proof, ...first, sign], authorization, digest: digestOf(authorization) };
}
