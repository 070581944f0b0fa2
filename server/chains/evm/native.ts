import { type Hex, numberToHex, stringToHex } from "viem";
import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import type { PushTerms } from "#server/domain/option/authorization.ts";
import type { ChainEntry } from "#server/platform/registry.ts";
import type { Offer, OfferInput, TokenFacts } from "#server/ports/chain.ts";
import { acceptsNative, type Context, nativeAssetOf } from "./context.ts";

/** Whether an asset is a chain's native coin. */
export const isNative = (asset: string): boolean => asset.includes("/slip44:");

/** The native coin among the tokens of a chain; none where buyers cannot pay with it. */
export function nativeToken(entry: ChainEntry): TokenFacts[] {
  if (!acceptsNative(entry)) return [];
  const { symbol, name, decimals } = entry.native;
  return [
    {
      asset: nativeAssetOf(entry),
      symbol,
      name,
      decimals,
      iconUrl: entry.iconUrl,
      mechanism: "native",
      peg: null,
      depegBps: 100,
    },
  ];
}

/** What asks a wallet to sign a readable message with its account. */
export const proofAction = (chain: string, account: string, message: string): WalletRpcAction => ({
  type: "walletRpc",
  data: { chain_id: chain, method: "personal_sign", params: [stringToHex(message), account] },
});

/** The transfer a buyer's wallet sends: value and nothing else, with the payment's tag as its data. */
const sendAction = (terms: PushTerms): WalletRpcAction => ({
  type: "walletRpc",
  data: {
    chain_id: terms.chain,
    method: "eth_sendTransaction",
    params: [
      {
        from: terms.payer as Hex,
        to: terms.recipient as Hex,
        data: terms.nonce as Hex,
        value: numberToHex(BigInt(terms.amount)),
      },
    ],
  },
});

/**
 * Builds a transfer of native coin. Null for an account with code: it sends through other contracts, so its transfers are no
 * transactions of its own and carry no tag.
 */
export function makePush({ chain }: Context, input: OfferInput): Offer | null {
  if (input.payerHasCode) return null;
  const terms: PushTerms = {
    mechanism: "native",
    chain,
    payer: input.payer,
    recipient: input.recipient,
    amount: input.amount.toString(),
    nonce: input.tag,
    deadline: input.deadline,
  };
  const first = input.proof === null ? [] : [proofAction(chain, input.payer, input.proof)];
  return { actions: [...first, sendAction(terms)], authorization: terms, digest: input.tag };
}
