import { failpoint } from "#server/platform/failpoint.ts";
import type { ChainPort } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { Capture, Tx } from "#server/ports/store.ts";
import { captureLines } from "./judge-arrivals.ts";
import { netOf, oweSettlement } from "./owed-settlement.ts";
import { placeWaiting } from "./place-refund.ts";

const LIMIT = 500;

async function finalizeOne(tx: Tx, capture: Capture, scanned: bigint): Promise<void> {
  const payment = await tx.lockPayment(capture.paymentId);
  const current = await tx.captureOf(capture.paymentId);
  if (payment === null || current?.id !== capture.id || current.status !== "confirmed") return;
  if (!(await tx.lockMovement(current.movementId, "credited"))) return;
  await tx.setCaptureStatus(capture.id, "finalized");
  if (payment.status !== "succeeded") return;
  const refunded = await placeWaiting(tx, payment, current, scanned + 1n);
  const owed = payment.flow === "direct" ? 0n : netOf(payment, current).net - refunded;
  if (owed > 0n) await oweSettlement(tx, payment, current, owed);
}

/** Makes captures in finalized blocks final, and with that their settlement due; only final money is ever settled. */
export async function finalizeCaptures(services: Services, chain: ChainPort): Promise<void> {
  const cursor = await services.store.cursor(chain.facts.chain);
  if (cursor === null) return;
  const due = await services.store.capturesToFinalize(chain.facts.chain, cursor.finalized, LIMIT);
  for (const capture of due) {
    await failpoint("settle.before_create");
    await services.store.transaction((tx) => finalizeOne(tx, capture, cursor.scannedNumber));
    await failpoint("settle.after_create");
  }
}

/**
 * A reorganisation took a capture away. Its row stays as orphaned and its posting is reversed; a payment that had succeeded
 * keeps its status and gets an exception record. What was settled already cannot be reversed: settlement of that asset stops.
 */
export async function orphanCaptures(services: Services, chain: ChainPort): Promise<void> {
  for (const capture of await services.store.orphanedCaptures(chain.facts.chain, LIMIT)) {
    const settlement = await services.store.settlement(capture.paymentId);
    await failpoint("orphan.before_commit");
    const isGone = await services.store.transaction(async (tx) => {
      const payment = await tx.lockPayment(capture.paymentId);
      const current = await tx.captureOf(capture.paymentId);
      if (payment === null || current?.id !== capture.id) return false;
      if (!(await tx.lockMovement(current.movementId, "orphaned"))) return false;
      await tx.setCaptureStatus(capture.id, "orphaned");
      const refunded = (await tx.refundsOf(payment.id)).some(({ funded }) => funded);
      const unsent = settlement === null ? [] : await tx.lockPendingSettlements([settlement.id]);
      if (refunded || (settlement !== null && unsent.length === 0)) {
        await tx.hold(
          capture.asset,
          `capture of ${payment.id} vanished after its money was sent on`,
        );
      } else {
        if (settlement !== null) await tx.setSettlements([settlement.id], { state: "superseded" });
        await tx.post(
          `capture#${capture.ordinal}.reversal`,
          payment.id,
          capture.txHash,
          captureLines(payment, capture).map((line) => ({ ...line, amount: -line.amount })),
        );
      }
      await tx.insertException({
        kind: "orphaned",
        environment: payment.environment,
        merchantId: payment.merchantId,
        paymentId: payment.id,
        chain: capture.chain,
        txHash: capture.txHash,
        logIndex: 0,
        blockHash: capture.blockHash,
        asset: capture.asset,
        payer: capture.payer,
        amount: capture.received,
        detail: "A reorganisation removed the transfer; it counts again once it is back on chain",
      });
      return true;
    });
    if (isGone)
      services.log.error(
        { paymentId: capture.paymentId, txId: capture.txHash },
        "capture orphaned",
      );
  }
}
