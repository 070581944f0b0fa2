import { listMerchantPayments as endpoint } from "#server/contract/payment-list.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { listAnswer } from "#server/http/payment-list-view.ts";

/** GET /v1/merchants/payments: one merchant's payments, and sums over them. */
export const GET = defineRoute(endpoint, async ({ query, caller, services }) =>
  listAnswer(services, caller, query),
);
