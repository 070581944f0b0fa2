import { classifyArrival, type Heads } from "#server/domain/payment/evidence.ts";
import type { ChainPort } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { Movement, Payment, Tx } from "#server/ports/store.ts";

/**
 * One transaction that decides about an arrival, with the payment it may be for locked first. Nothing is done where somebody has decided
 * meanwhile, or where a reorganisation took the arrival away: this process may have slept since it read of it.
 */
export const decide = (
  services: Services,
  m: Movement,
  paymentId: string | null,
  work: (tx: Tx, payment: Payment | null) => Promise<unknown>,
): Promise<void> =>
  services.store.transaction(async (tx) => {
    const payment = paymentId === null ? null : await tx.lockPayment(paymentId);
    if (await tx.lockMovement(m.id, "seen")) await work(tx, payment);
  });

/** Books money that is not the payment, once its block is final: an exception record and a place in the ledger. */
export async function recordException(
  tx: Tx,
  chain: ChainPort,
  m: Movement,
  payment: Payment | null,
  kind: Parameters<Tx["insertException"]>[0]["kind"],
  detail: string,
): Promise<void> {
  await tx.insertException({
    kind,
    environment: chain.facts.environment,
    merchantId: payment?.merchantId ?? null,
    paymentId: payment?.id ?? null,
    chain: m.chain,
    txHash: m.txHash,
    logIndex: m.logIndex,
    blockHash: m.blockHash,
    asset: m.asset,
    payer: m.payer,
    amount: m.amount,
    detail,
  });
  if (m.recipient === chain.facts.intermediary)
    await tx.post("arrival", `${m.chain}:${m.txHash}:${m.logIndex}`, m.txHash, [
      { kind: "intermediary", asset: m.asset, merchantId: null, amount: m.amount },
      { kind: "suspense", asset: m.asset, merchantId: null, amount: -m.amount },
    ]);
  await tx.setMovement(m.id, "exception", payment?.id ?? null);
  if (m.tag !== null) await tx.releasePush(m.chain, m.txHash);
}

/** Why money is an exception, in words for an operator. */
export const DETAILS = {
  late: "Arrived after the payment had ended",
  short: "Less than the amount that was due",
  over: "More than the amount that was due",
  surplus: "The payment is paid; this much more came with it and is the merchant's",
  copied: "The tag of a payment, sent by another account than the one it was offered to",
  double: "The payment had been paid already",
  wrong_token: "Another token than the one that was offered",
  unattributed: "No offer explains this transfer",
};

/** An arrival without our nonce and not from our own transactions. */
export async function judgeStranger(
  services: Services,
  chain: ChainPort,
  m: Movement,
  heads: Heads,
) {
  const { intermediary, relayers, spender } = chain.facts;
  if (m.recipient !== intermediary) {
    // A merchant's own account receives many things that are none of our business.
    await decide(services, m, null, (tx) => tx.setMovement(m.id, "ignored", null));
    return;
  }
  if (m.blockNumber > heads.finalized) return;
  if (m.payer === intermediary || relayers.includes(m.payer) || m.payer === spender) {
    await decide(services, m, null, async (tx) => {
      await tx.post("arrival", `${m.chain}:${m.txHash}:${m.logIndex}`, m.txHash, [
        { kind: "intermediary", asset: m.asset, merchantId: null, amount: m.amount },
        { kind: "operator", asset: m.asset, merchantId: null, amount: -m.amount },
      ]);
      await tx.setMovement(m.id, "topup", null);
    });
    return;
  }
  const tagged = m.tag === null ? null : await services.store.paymentOfTag(m.chain, m.tag);
  if (tagged !== null) {
    await decide(services, m, tagged, (tx, payment) =>
      recordException(tx, chain, m, payment, "unattributed", DETAILS.copied),
    );
    return;
  }
  const offer = await services.store.likeliestOffer(m);
  const kind = classifyArrival(
    m.asset,
    m.amount,
    offer === null
      ? null
      : {
          paymentId: offer.payment.id,
          asset: offer.option.asset,
          amount: offer.option.amount,
          status: offer.payment.status,
          expired: offer.payment.windowClosed,
        },
  );
  await decide(services, m, offer?.payment.id ?? null, (tx, payment) =>
    recordException(tx, chain, m, payment, kind, DETAILS[kind as keyof typeof DETAILS]),
  );
}
