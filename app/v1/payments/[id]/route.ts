import { getPayment as endpoint } from "#server/contract/payments.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { statusView, tokenView } from "#server/http/views.ts";
import { readPayment } from "#server/usecases/read-payment.ts";

/** GET /v1/payments/{id}: everything about a payment, with its settlement once that is final. */
export const GET = defineRoute(endpoint, async ({ paymentId, caller, services }) => {
  const view = await readPayment(services, caller, paymentId);
  const { settlement } = view;
  const amount =
    settlement === null ? null : tokenView(services, settlement.asset, settlement.amount);
  return {
    ...statusView(services, view),
    referenceId: view.payment.referenceId,
    settlement:
      settlement === null || amount === null
        ? null
        : { successful: { txId: settlement.txId, amount } },
  };
});
