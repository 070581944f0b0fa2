import { parseAccount } from "#server/domain/asset/caip.ts";
import { splitFee } from "#server/domain/money/convert.ts";
import { newId } from "#server/platform/ids.ts";
import type { Capture, Payment, Tx } from "#server/ports/store.ts";

/** What is left for the merchant of a capture before any refund, and the service's fee; both in minor units of its asset. */
export const netOf = (payment: Payment, { received }: Capture): { net: bigint; fee: bigint } =>
  splitFee(received, payment.feeBps, payment.feeFixedMinor, payment.minor);

/** Makes `amount` of a capture due to the merchant; false: the payment has a live settlement already. */
export async function oweSettlement(
  tx: Tx,
  payment: Payment,
  capture: Capture,
  amount: bigint,
): Promise<boolean> {
  const destination = parseAccount(payment.destinations[capture.asset] ?? "");
  if (destination === null)
    throw new Error(`payment ${payment.id} has no destination for ${capture.asset}`);
  return tx.insertSettlement({
    id: newId("settlement"),
    paymentId: payment.id,
    captureId: capture.id,
    merchantId: payment.merchantId,
    asset: capture.asset,
    destination: destination.address,
    amount,
    fee: netOf(payment, capture).fee,
    schedule: payment.settlementSchedule,
  });
}
