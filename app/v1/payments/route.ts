import { createPayment as endpoint } from "#server/contract/payment-lifecycle.ts";
import { listPayments as listEndpoint } from "#server/contract/payment-list.ts";
import { creationInput, creationView } from "#server/http/creation.ts";
import { defineIdempotentRoute, defineRoute } from "#server/http/define-route.ts";
import { listPage, listQuery, listView } from "#server/http/payment-list-view.ts";
import { createPayment } from "#server/usecases/create-payment.ts";
import { listPayments } from "#server/usecases/list-payments.ts";

/** GET /v1/payments: payments of the partner's merchants, and sums over them. */
export const GET = defineRoute(listEndpoint, async ({ query, caller, services }) => {
  const wanted = listPage(query);
  return listView(services, wanted, await listPayments(services, caller, listQuery(query), wanted));
});

/** POST /v1/payments: creates a payment and says where the buyer pays it. */
export const POST = defineIdempotentRoute(
  endpoint,
  async ({ body, caller, services, claim, render }) =>
    createPayment(services, caller, creationInput(body), claim, (made) =>
      render(creationView(services, made)),
    ),
);
