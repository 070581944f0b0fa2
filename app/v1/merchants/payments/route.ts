import { listMerchantPayments as endpoint } from "#server/contract/payment-list.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { listPage, listQuery, listView } from "#server/http/payment-list-view.ts";
import { listPayments } from "#server/usecases/list-payments.ts";

/** GET /v1/merchants/payments: one merchant's payments, and sums over them. */
export const GET = defineRoute(endpoint, async ({ query, caller, services }) => {
  const wanted = listPage(query);
  return listView(services, wanted, await listPayments(services, caller, listQuery(query), wanted));
});
