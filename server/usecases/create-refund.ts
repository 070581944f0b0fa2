import { AppError } from "#server/platform/app-error.ts";
import { newId } from "#server/platform/ids.ts";
import { type ChainPort, ChainUnavailable } from "#server/ports/chain.ts";
import type { NewRefund, Refund, RefundView } from "#server/ports/refunds.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Capture, IdempotencyClaim, Payment, StoredAnswer, Tx } from "#server/ports/store.ts";
import { netOf } from "./owed-settlement.ts";
import { fundRefund, payerOf } from "./place-refund.ts";
import { findPayment } from "./read-payment.ts";
import { viewRefund } from "./read-refunds.ts";
import { runOnce } from "./run-once.ts";

export type CreateRefundInput = {
  paymentId: string;
  /** Minor units of the token; null: everything not yet refunded. */
  amount: bigint | null;
  kind: Refund["kind"];
  reason: string | null;
  /** Transaction of a recorded refund. */
  txId: string | null;
};

/** What is known of a chain before the transaction begins, which asks no node. */
type Watch = { chain: ChainPort | null; firstBlock: bigint };

const NOWHERE: Watch = { chain: null, firstBlock: 0n };

const sumOf = (refunds: Refund[]): bigint => refunds.reduce((sum, { amount }) => sum + amount, 0n);

function broken(field: string, message: string): AppError {
  const issues = [{ path: field, field, message }];
  return new AppError("params_validation", `Validation error: ${field}: ${message}`, { issues });
}

const tooMuch = (largest: bigint, why: string): AppError =>
  broken("amount", `must be at most ${largest}: ${why}`);

const notSucceeded = (why: string): AppError => new AppError("payment_not_succeeded", why);

/** Chain of a payment's money and the first block in which a transfer made from now on can be. */
async function lookAhead(services: Services, paymentId: string): Promise<Watch> {
  const capture = await services.store.capture(paymentId);
  const chain = services.chains.get(capture?.chain ?? "") ?? null;
  if (capture === null || chain === null) return { chain, firstBlock: 0n };
  const cursor = await services.store.cursor(capture.chain);
  const scanned = cursor?.scannedNumber ?? 0n;
  try {
    const { latest } = await chain.head();
    return { chain, firstBlock: (latest.number > scanned ? latest.number : scanned) + 1n };
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return { chain, firstBlock: scanned + 1n };
  }
}

type Place = Pick<NewRefund, "state" | "fromBlock"> & { funded: boolean };

const waits: Place = { state: "pending", fromBlock: null, funded: false };

/** Where an executed refund's money comes from. A pending settlement gives it up here, in the same transaction. */
async function place(
  tx: Tx,
  payment: Payment,
  capture: Capture,
  { earlier, amount, watch }: { earlier: Refund[]; amount: bigint; watch: Watch },
): Promise<Place> {
  const fee = "the rest is the service fee, which a refund from the settlement must leave";
  if (payment.flow === "intermediary") {
    if (capture.status !== "finalized") {
      const waiting = sumOf(earlier.filter(({ state }) => state === "pending"));
      const free = netOf(payment, capture).net - waiting;
      if (amount > free) throw tooMuch(free, fee);
      return waits;
    }
    const settlement = await tx.lockSettlement(payment.id);
    if (settlement !== null) {
      if (amount > settlement.amount) throw tooMuch(settlement.amount, fee);
      const resized = await tx.resizeSettlement(settlement.id, settlement.amount - amount);
      if (!resized) throw new Error(`settlement ${settlement.id} changed while it was locked`);
      return { state: "pending", fromBlock: null, funded: true };
    }
  }
  if (watch.chain?.walletTransfer(capture.asset, capture.payer, capture.payer, amount) == null)
    throw broken("kind", "must be record: the transfer of this asset cannot be observed here");
  if (capture.status !== "finalized") return waits;
  return { state: "awaiting_merchant", fromBlock: watch.firstBlock, funded: false };
}

async function refundOnce(
  tx: Tx,
  input: CreateRefundInput,
  watch: Watch,
): Promise<{ payment: Payment; refund: Refund }> {
  const payment = await tx.lockPayment(input.paymentId);
  if (payment?.status !== "succeeded") throw notSucceeded("Only a succeeded payment is refunded");
  const capture = await tx.captureOf(payment.id);
  if (capture === null)
    throw notSucceeded("A reorganisation removed the transfer; wait until it is back on chain");
  const earlier = (await tx.refundsOf(payment.id)).filter(({ state }) => state !== "failed");
  const left = capture.received - sumOf(earlier);
  if (left <= 0n) throw new AppError("already_refunded", "Everything was refunded already");
  const amount = input.amount ?? left;
  if (amount > left) throw tooMuch(left, "that is what is not refunded yet");
  const recorded = input.kind === "record";
  const { asset } = capture;
  const destination = payerOf(capture);
  const { txId: txHash } = input;
  if (recorded && txHash !== null && (await tx.hasRefunded({ txHash, asset, amount, destination })))
    throw broken("txId", "a refund of this amount by this transaction is here already");
  const { funded, ...placed } = recorded
    ? { state: "succeeded" as const, fromBlock: null, funded: false }
    : await place(tx, payment, capture, { earlier, amount, watch });
  const refund = await tx.insertRefund({
    id: newId("refund"),
    paymentId: payment.id,
    merchantId: payment.merchantId,
    environment: payment.environment,
    asset,
    amount,
    destination,
    kind: input.kind,
    ...placed,
    reason: input.reason,
    detail: null,
    txHash,
  });
  if (funded) await fundRefund(tx, refund);
  await tx.announceRefund(refund, "refund.created");
  if (recorded) await tx.announceRefund(refund, "refund.succeeded");
  return { payment, refund };
}

/** Records or begins a refund of a succeeded payment; all refunds together never exceed what was received. */
export async function createRefund(
  services: Services,
  caller: Caller & { kind: "merchant" },
  input: CreateRefundInput,
  claim: IdempotencyClaim | null,
  render: (made: RefundView) => StoredAnswer,
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  await findPayment(services, caller, input.paymentId);
  if (input.kind === "execute" && input.txId !== null)
    throw broken("txId", "must be absent: an executed refund's transaction comes from the chain");
  const watch = input.kind === "execute" ? await lookAhead(services, input.paymentId) : NOWHERE;
  return runOnce(services, claim, async (tx) => {
    const { payment, refund } = await refundOnce(tx, input, watch);
    return render(viewRefund(services, refund, payment));
  });
}
