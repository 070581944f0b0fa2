import { splitFee } from "#server/domain/money/convert.ts";
import { classifyArrival, deepEnough, type Heads } from "#server/domain/payment/evidence.ts";
import { failpoint } from "#server/platform/failpoint.ts";
import type { ChainPort } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type {
  Capture,
  LedgerLine,
  Movement,
  Payment,
  PaymentOption,
  Tx,
} from "#server/ports/store.ts";

const LIMIT = 500;

/** Whether a transfer is exactly what an offer asked for; money that is not is never added up. */
const isExact = (m: Movement, option: PaymentOption): boolean =>
  m.asset === option.asset &&
  m.payer === option.payer &&
  m.recipient === option.recipient &&
  m.amount === option.amount;

/** The postings of a capture, by flow. */
export function captureLines(
  payment: Payment,
  capture: Pick<Capture, "asset" | "received">,
): LedgerLine[] {
  const { asset, received } = capture;
  const line = (kind: LedgerLine["kind"], amount: bigint, merchantId: string | null = null) => ({
    kind,
    asset,
    merchantId,
    amount,
  });
  if (payment.flow === "direct")
    return [
      line("direct_received", received, payment.merchantId),
      line("direct_delivered", -received, payment.merchantId),
    ];
  const { net, fee } = splitFee(received, payment.feeBps, payment.feeFixedMinor, payment.minor);
  return [
    line("intermediary", received),
    line("merchant_payable", -net, payment.merchantId),
    line("fee_income", -fee),
  ];
}

/** Books money that is not the payment, once its block is final: an exception record and a place in the ledger. */
async function recordException(
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
}

const DETAILS: Record<string, string> = {
  late: "Arrived after the payment had ended",
  short: "Less than the amount that was due",
  over: "More than the amount that was due",
  double: "The payment had been paid already",
  wrong_token: "Another token than the one that was offered",
  unattributed: "No offer explains this transfer",
};

/** An arrival without our nonce and not from our own transactions. */
async function judgeStranger(services: Services, chain: ChainPort, m: Movement, heads: Heads) {
  const { intermediary, relayers, spender } = chain.facts;
  if (m.recipient !== intermediary) {
    // A merchant's own account receives many things that are none of our business.
    await services.store.transaction((tx) => tx.setMovement(m.id, "ignored", null));
    return;
  }
  if (m.blockNumber > heads.finalized) return;
  if (m.payer === intermediary || relayers.includes(m.payer) || m.payer === spender) {
    await services.store.transaction(async (tx) => {
      await tx.post("arrival", `${m.chain}:${m.txHash}:${m.logIndex}`, m.txHash, [
        { kind: "intermediary", asset: m.asset, merchantId: null, amount: m.amount },
        { kind: "operator", asset: m.asset, merchantId: null, amount: -m.amount },
      ]);
      await tx.setMovement(m.id, "topup", null);
    });
    return;
  }
  const offer = await services.store.newestOfferTo(m.chain, m.payer);
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
  await services.store.transaction(async (tx) => {
    const payment = offer === null ? null : await tx.lockPayment(offer.payment.id);
    await recordException(tx, chain, m, payment, kind, DETAILS[kind] ?? "");
  });
}

async function credit(tx: Tx, m: Movement, option: PaymentOption, payment: Payment): Promise<void> {
  const capture = await tx.insertCapture({
    paymentId: payment.id,
    optionId: option.id,
    movementId: m.id,
    chain: m.chain,
    blockNumber: m.blockNumber,
    blockHash: m.blockHash,
    txHash: m.txHash,
    logIndex: m.logIndex,
    asset: m.asset,
    payer: m.payer,
    recipient: m.recipient,
    received: m.amount,
    status: "confirmed",
  });
  await tx.post(`capture#${capture.ordinal}`, payment.id, m.txHash, captureLines(payment, capture));
  await tx.setMovement(m.id, "credited", payment.id);
}

/** Moves the payment as far as this evidence allows; everything that follows from it is in the one transaction. */
async function judgeEvidence(
  services: Services,
  chain: ChainPort,
  m: Movement,
  option: PaymentOption,
  heads: Heads,
): Promise<void> {
  const deep = deepEnough(option.depth, m.blockNumber, heads);
  const final = m.blockNumber <= heads.finalized;
  await failpoint("succeed.before");
  await services.store.transaction(async (tx) => {
    let payment = await tx.lockPayment(option.paymentId);
    if (payment === null) return;
    const capture = await tx.captureOf(payment.id);
    if (capture !== null) {
      if (capture.movementId === m.id) await tx.setMovement(m.id, "credited", payment.id);
      else if (final) await recordException(tx, chain, m, payment, "double", DETAILS.double ?? "");
      return;
    }
    if (payment.status === "requires_action") {
      const seen = await tx.change(payment, {
        type: "evidence_seen",
        body: { optionId: option.id, txId: m.txHash, chain: m.chain },
        optionId: option.id,
      });
      if (seen.kind === "applied") payment = seen.payment;
      await tx.claimAuthorization(option);
    }
    await tx.setMovement(m.id, "seen", payment.id);
    if (payment.status === "succeeded") {
      // Its capture was orphaned by a reorganisation and has landed again.
      if (deep) await credit(tx, m, option, payment);
      return;
    }
    if (payment.status !== "processing") {
      if (final) await recordException(tx, chain, m, payment, "late", DETAILS.late ?? "");
      return;
    }
    if (!deep) return;
    await credit(tx, m, option, payment);
    const attempt = await tx.liveAttempt(payment.id);
    if (attempt !== null) await tx.endAttempt(attempt.id);
    await tx.change(payment, {
      type: "evidence_confirmed",
      body: {
        optionId: option.id,
        txId: m.txHash,
        chain: m.chain,
        asset: m.asset,
        amount: m.amount.toString(),
        block: m.blockNumber.toString(),
        depth: option.depth,
      },
      optionId: option.id,
    });
    await failpoint("succeed.before_commit");
  });
  await failpoint("succeed.after_commit");
}

async function judgeOne(
  services: Services,
  chain: ChainPort,
  m: Movement,
  heads: Heads,
): Promise<void> {
  const option = await services.store.optionForMovement(m);
  if (option === null) return judgeStranger(services, chain, m, heads);
  if (isExact(m, option)) return judgeEvidence(services, chain, m, option, heads);
  if (m.blockNumber > heads.finalized) return;
  const kind =
    m.amount < option.amount ? "short" : m.amount > option.amount ? "over" : "unattributed";
  await services.store.transaction(async (tx) => {
    const payment = await tx.lockPayment(option.paymentId);
    await recordException(tx, chain, m, payment, kind, DETAILS[kind] ?? "");
  });
}

/** Decides what every arrival that was read means: evidence for a payment, an exception, or none of ours. */
export async function judgeArrivals(services: Services, chain: ChainPort): Promise<void> {
  const cursor = await services.store.cursor(chain.facts.chain);
  if (cursor === null) return;
  for (const m of await services.store.movementsToJudge(chain.facts.chain, LIMIT)) {
    try {
      await judgeOne(services, chain, m, cursor);
    } catch (error) {
      services.log.error(
        { movement: m.id, txId: m.txHash, err: error },
        "an arrival was not judged",
      );
    }
  }
}
