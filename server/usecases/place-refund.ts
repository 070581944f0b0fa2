import type { Refund } from "#server/ports/refunds.ts";
import type { Capture, LedgerLine, Payment, Tx } from "#server/ports/store.ts";
import { netOf, oweSettlement } from "./owed-settlement.ts";

/** The account that paid, as refunds name it. */
export const payerOf = ({ chain, payer }: Capture): string => `${chain}:${payer}`;

const move = (
  { asset, merchantId, amount }: Refund,
  from: LedgerLine["kind"],
  to: LedgerLine["kind"],
): LedgerLine[] => {
  const line = (kind: LedgerLine["kind"], by: bigint) => ({
    kind,
    asset,
    merchantId: kind === "merchant_payable" ? merchantId : null,
    amount: by,
  });
  return [line(from, amount), line(to, -amount)];
};

/** Sets a refund's amount aside from what is owed to its merchant; the settlement must shrink in the same transaction. */
export async function fundRefund(tx: Tx, refund: Refund): Promise<void> {
  await tx.post("refund.reserve", refund.id, null, move(refund, "merchant_payable", "suspense"));
}

/** Books a refund's transfer, which is final on chain. */
export async function bookRefund(tx: Tx, refund: Refund, txHash: string): Promise<void> {
  await tx.post("refund", refund.id, txHash, move(refund, "suspense", "intermediary"));
}

/** Owes the merchant again what was set aside for a refund. */
async function releaseRefund(tx: Tx, payment: Payment, refund: Refund): Promise<void> {
  const capture = await tx.captureOf(payment.id);
  await tx.post("refund.release", refund.id, null, move(refund, "suspense", "merchant_payable"));
  // A reorganisation took the capture: its asset is on hold, and nothing is due.
  if (capture === null) return;
  const settlement = await tx.lockSettlement(payment.id);
  const owed =
    settlement === null
      ? await oweSettlement(tx, payment, capture, refund.amount)
      : await tx.resizeSettlement(settlement.id, settlement.amount + refund.amount);
  // Settlements wait for the refunds of their payment, so none can have been sent.
  if (!owed) throw new Error(`the settlement of ${payment.id} was sent before refund ${refund.id}`);
}

/** Ends a refund without a transfer; what was set aside for it is settled instead. The payment's row is locked. */
export async function failRefund(
  tx: Tx,
  payment: Payment,
  refund: Refund,
  end: { detail: string; txHash?: string },
): Promise<void> {
  const failed = await tx.setRefund(refund.id, { state: "failed", ...end });
  if (failed === null) return;
  if (failed.funded) await releaseRefund(tx, payment, failed);
  await tx.announceRefund(failed, "refund.failed");
}

/**
 * Gives the refunds that waited for a capture to become final their money or their place with the merchant. Returns how much
 * of the merchant's net part refunds take. The payment's row is locked, and no settlement was made of the capture yet.
 */
export async function placeWaiting(
  tx: Tx,
  payment: Payment,
  capture: Capture,
  firstBlock: bigint,
): Promise<bigint> {
  const { net } = netOf(payment, capture);
  let taken = 0n;
  for (const refund of await tx.refundsOf(payment.id)) {
    if (refund.funded) taken += refund.amount;
    else if (refund.state !== "pending") continue;
    else if (refund.asset !== capture.asset || refund.destination !== payerOf(capture)) {
      const detail = "After a reorganisation the payment was paid by another transfer";
      await failRefund(tx, payment, refund, { detail });
    } else if (payment.flow === "intermediary" && taken + refund.amount <= net) {
      await fundRefund(tx, refund);
      taken += refund.amount;
    } else {
      await tx.setRefund(refund.id, { state: "awaiting_merchant", fromBlock: firstBlock });
    }
  }
  return taken;
}
