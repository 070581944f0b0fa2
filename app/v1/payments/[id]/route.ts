import { getPayment as endpoint } from "#server/contract/payments.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { statusView, tokenView } from "#server/http/views.ts";
import { readExplained } from "#server/usecases/explain-payment.ts";

/** GET /v1/payments/{id}: everything about a payment, with its settlement once that is final. */
export const GET = defineRoute(endpoint, async ({ paymentId, query, caller, services }) => {
  const view = await readExplained(services, caller, paymentId, query.include ?? []);
  const { settlement, explanation, timeline } = view;
  const amount =
    settlement === null ? null : tokenView(services, settlement.asset, settlement.amount);
  return {
    ...statusView(services, view),
    referenceId: view.payment.referenceId,
    settlement:
      settlement === null || amount === null
        ? null
        : { successful: { txId: settlement.txId, amount } },
    explanation,
    timeline,
  };
});
