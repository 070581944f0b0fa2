import { splitFee } from "#server/domain/money/convert.ts";
import { TRAITS } from "#server/domain/option/authorization.ts";
import { judgePush } from "#server/domain/option/push.ts";
import { deepEnough, type Heads } from "#server/domain/payment/evidence.ts";
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
import { DETAILS, decide, judgeStranger, recordException } from "./arrival-exceptions.ts";
import { acceptCollected } from "./collect-data.ts";

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
  if (m.amount <= option.amount) return;
  // More than was due is paid, and told: it is booked and settled with the rest.
  await tx.insertException({
    kind: "over",
    environment: payment.environment,
    merchantId: payment.merchantId,
    paymentId: payment.id,
    chain: m.chain,
    txHash: m.txHash,
    logIndex: m.logIndex,
    blockHash: m.blockHash,
    asset: m.asset,
    payer: m.payer,
    amount: m.amount - option.amount,
    detail: DETAILS.surplus,
  });
}

/**
 * What must be known of a transfer that a buyer's wallet sent before it counts: the sender's nonce, without which a reorganisation
 * would leave nothing to follow. `waits`: no node tells; null: nothing is needed, or it is known already.
 */
async function pushEvidence(
  services: Services,
  chain: ChainPort,
  m: Movement,
  option: PaymentOption,
): Promise<{ nonce: bigint } | "waits" | null> {
  if (option.mechanism !== "native") return null;
  if (await services.store.pushMined(m.chain, m.txHash, option.paymentId)) return null;
  const found = await chain.transaction(m.txHash);
  return found === null ? "waits" : { nonce: found.nonce };
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
  const push = await pushEvidence(services, chain, m, option);
  if (push === "waits") return;
  await failpoint("succeed.before");
  await decide(services, m, option.paymentId, async (tx, locked) => {
    if (locked === null) return;
    let payment = locked;
    const capture = await tx.captureOf(payment.id);
    if (capture !== null) {
      if (capture.movementId === m.id) await tx.setMovement(m.id, "credited", payment.id);
      else if (final) await recordException(tx, chain, m, payment, "double", DETAILS.double);
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
    if (push !== null)
      await tx.setPush(
        { chain: m.chain, hash: m.txHash, paymentId: payment.id, optionId: option.id },
        { state: "mined", nonce: push.nonce },
      );
    if (payment.status === "succeeded") {
      // Its capture was orphaned by a reorganisation and has landed again.
      if (!deep) return;
      await credit(tx, m, option, payment);
      await tx.resolveExceptions(payment.id, "orphaned", `Landed again in ${m.txHash}`);
      return;
    }
    if (payment.status !== "processing") {
      if (final) await recordException(tx, chain, m, payment, "late", DETAILS.late);
      return;
    }
    if (!deep) return;
    await credit(tx, m, option, payment);
    await acceptCollected(tx, services, payment, { chain: m.chain, address: option.payer }, null);
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

/** A transfer with our tag from the account it was offered to: enough and in time it is evidence, else an exception. */
async function judgeTagged(
  services: Services,
  chain: ChainPort,
  m: Movement,
  option: PaymentOption,
  heads: Heads,
): Promise<void> {
  const verdict = judgePush(m, { amount: option.amount, expiresAt: option.expiresAt ?? 0 });
  const paid = (await services.store.payment(option.paymentId))?.status === "succeeded";
  // A payment that succeeded keeps its money wherever a reorganisation has put it.
  if (verdict === "exact" || verdict === "over" || (verdict === "late" && paid))
    return judgeEvidence(services, chain, m, option, heads);
  if (m.blockNumber > heads.finalized) return;
  await decide(services, m, option.paymentId, (tx, payment) =>
    recordException(tx, chain, m, payment, verdict, DETAILS[verdict]),
  );
}

/** Whether a transfer came after its deadline on a chain that does not refuse such by itself. */
const isLate = (m: Movement, option: PaymentOption): boolean =>
  !TRAITS[option.mechanism].deadlineOnChain && m.blockTime > BigInt(option.authorization.deadline);

const hasSucceeded = async (services: Services, paymentId: string): Promise<boolean> =>
  (await services.store.payment(paymentId))?.status === "succeeded";

async function judgeLate(
  services: Services,
  chain: ChainPort,
  m: Movement,
  option: PaymentOption,
  heads: Heads,
): Promise<void> {
  if (m.blockNumber > heads.finalized) return;
  await decide(services, m, option.paymentId, (tx, payment) =>
    recordException(tx, chain, m, payment, "late", DETAILS.late),
  );
}

async function judgeOne(
  services: Services,
  chain: ChainPort,
  m: Movement,
  heads: Heads,
): Promise<void> {
  const option = await services.store.optionForMovement(m);
  if (option === null) return judgeStranger(services, chain, m, heads);
  if (option.mechanism === "native") return judgeTagged(services, chain, m, option, heads);
  if (isLate(m, option) && !(await hasSucceeded(services, option.paymentId)))
    return judgeLate(services, chain, m, option, heads);
  if (isExact(m, option)) return judgeEvidence(services, chain, m, option, heads);
  if (m.blockNumber > heads.finalized) return;
  const kind =
    m.amount < option.amount ? "short" : m.amount > option.amount ? "over" : "unattributed";
  await decide(services, m, option.paymentId, (tx, payment) =>
    recordException(tx, chain, m, payment, kind, DETAILS[kind]),
  );
}

/** Decides what every arrival that was read means: evidence for a payment, an exception, or none of ours. */
export async function judgeArrivals(services: Services, chain: ChainPort): Promise<void> {
  const found = await services.store.movementsToJudge(chain.facts.chain, LIMIT);
  if (found === null) return;
  for (const m of found.arrivals) {
    try {
      await judgeOne(services, chain, m, found.heads);
    } catch (error) {
      services.log.error(
        { movement: m.id, txId: m.txHash, err: error },
        "an arrival was not judged",
      );
    }
  }
}
