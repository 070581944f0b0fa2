import type { z } from "zod";
import type { getRefund } from "#server/contract/refunds.ts";
import type { RefundView } from "#server/ports/refunds.ts";
import type { Services } from "#server/ports/services.ts";
import { tokenView } from "./views.ts";

/** A refund as its merchant sees it. */
export const refundView = (
  services: Services,
  { refund, transfer }: RefundView,
): z.input<(typeof getRefund)["response"]> => ({
  id: refund.id,
  paymentId: refund.paymentId,
  status: refund.state,
  kind: refund.kind,
  amount: tokenView(services, refund.asset, refund.amount),
  destination: refund.destination,
  txId: refund.txHash,
  reason: refund.reason,
  detail: refund.detail,
  createdAt: new Date(refund.createdAt * 1000).toISOString(),
  transfer,
});
