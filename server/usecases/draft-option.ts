import { createHash } from "node:crypto";
import { type Account, parseAccount } from "#server/domain/asset/caip.ts";
import { formatMinor } from "#server/domain/money/amount.ts";
import { currencyOfUnit } from "#server/domain/money/currencies.ts";
import { paymentNonce, paymentTag } from "#server/domain/option/authorization.ts";
import { proofMessage } from "#server/domain/option/proof.ts";
import { PRICED_HEADROOM_BPS, QUOTE_LIFETIME_S, type Quote } from "#server/domain/option/quote.ts";
import { depthFor } from "#server/domain/payment/evidence.ts";
import { AUTHORIZATION_LIFETIME_S, authorizationDeadline } from "#server/domain/payment/expiry.ts";
import type { ChainPort, TokenFacts } from "#server/ports/chain.ts";
import type { Payment, PaymentOption } from "#server/ports/store.ts";

/** An account as the caller wrote it, and as it is. */
export type Asked = { written: string; account: Account };
/** An offer that is not stored yet. */
export type Draft = Omit<PaymentOption, "id">;

/** Where the buyer's money goes; null: this asset has no destination, so it is not offered. */
function recipientOf(payment: Payment, chain: ChainPort, asset: string): string | null {
  const destination = payment.destinations[asset];
  if (destination === undefined) return null;
  if (payment.flow === "intermediary") return chain.facts.intermediary;
  return parseAccount(destination)?.address ?? null;
}

/** Whether the money would go to the account it comes from. */
export const isOwnAccount = (
  payment: Payment,
  chain: ChainPort,
  asset: string,
  { account }: Asked,
): boolean => recipientOf(payment, chain, asset) === account.address;

/** What an offer is made from besides token and price. */
export type DraftContext = {
  payment: Payment;
  chain: ChainPort;
  asked: Asked;
  now: number;
  /** Name of the merchant for the proof of ownership; null: no proof is asked for. */
  proofFor: string | null;
};

/** The message that proves an account's ownership; null: none is asked for. */
function proofOf(context: DraftContext, token: TokenFacts, quoted: Quote, validUntil: number) {
  const { payment, asked, proofFor } = context;
  const currency = currencyOfUnit(payment.unit);
  if (proofFor === null || currency === null) return null;
  const due = `${formatMinor(payment.minor, currency.digits)} ${currency.code}`;
  return proofMessage({
    paymentId: payment.id,
    merchant: proofFor,
    amount: `${due} (${formatMinor(quoted.amount, token.decimals)} ${token.symbol})`,
    chain: asked.account.chain,
    address: asked.account.address,
    validUntil: new Date(validUntil * 1_000).toISOString(),
  });
}

/** When an offer ends, Unix seconds: with its price, or with what can be signed for it. Null: with the payment. */
function offerEnd(paymentEnd: number, now: number, priced: boolean): number | null {
  if (priced) return Math.min(now + QUOTE_LIFETIME_S, paymentEnd);
  const signedEnd = now + AUTHORIZATION_LIFETIME_S;
  return signedEnd < paymentEnd ? signedEnd : null;
}

/** Makes an offer for one account in one token; null: it cannot pay with it here. Nothing is stored. */
export function draftOption(
  context: DraftContext,
  token: TokenFacts,
  quoted: Quote,
  holding: { hasCode: boolean; allowance: bigint },
): Draft | null {
  const { payment, chain, asked, now } = context;
  const recipient = recipientOf(payment, chain, token.asset);
  if (recipient === null || recipient === asked.account.address) return null;
  const expiresAt = offerEnd(payment.expiresAt, now, quoted.priced);
  const offer = chain.offer({
    asset: token.asset,
    payer: asked.account.address,
    payerHasCode: holding.hasCode,
    recipient,
    amount: quoted.amount,
    nonce: paymentNonce(payment.id),
    tag: paymentTag(payment.id),
    proof: proofOf(context, token, quoted, expiresAt ?? payment.expiresAt),
    deadline: authorizationDeadline(payment.expiresAt, expiresAt, now),
    allowance: holding.allowance,
    approveHeadroomBps: quoted.priced ? PRICED_HEADROOM_BPS : 0,
  });
  if (offer === null) return null;
  const fixed = {
    paymentId: payment.id,
    account: asked.written,
    chain: chain.facts.chain,
    asset: token.asset,
    payer: asked.account.address,
    recipient,
    mechanism: offer.authorization.mechanism,
    amount: quoted.amount,
    actions: offer.actions,
    authorization: offer.authorization,
    digest: offer.digest,
    expiresAt,
  };
  const fingerprint = createHash("sha256")
    .update(JSON.stringify([asked.account, fixed.asset, fixed.actions, fixed.digest, expiresAt]))
    .digest("hex");
  return {
    ...fixed,
    fingerprint,
    quote: { ...quoted.prices, priced: quoted.priced },
    usdMicros: quoted.usdMicros,
    depth: depthFor(chain.facts.depth, quoted.usdMicros),
  };
}

/** Whether money of this token may go where this payment's goes: native coin sent to a contract is not seen reliably. */
export async function canReach(
  payment: Payment,
  chain: ChainPort,
  token: TokenFacts,
): Promise<boolean> {
  if (token.mechanism !== "native" || payment.flow === "intermediary") return true;
  const recipient = recipientOf(payment, chain, token.asset);
  return recipient !== null && !(await chain.payerFacts(recipient, [])).hasCode;
}
