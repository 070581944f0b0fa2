import { createPayment as endpoint } from "#server/contract/payment-lifecycle.ts";
import { listPayments as listEndpoint } from "#server/contract/payment-list.ts";
import { creationInput, creationView } from "#server/http/creation.ts";
import { defineIdempotentRoute, defineRoute } from "#server/http/define-route.ts";
import { listAnswer } from "#server/http/payment-list-view.ts";
import { createPayment } from "#server/usecases/create-payment.ts";

/** GET /v1/payments: payments of the partner's merchants, and sums over them. */
export const GET = defineRoute(listEndpoint, async ({ query, caller, services }) =>
  listAnswer(services, caller, query),
);

/** POST /v1/payments: creates a payment and says where the buyer pays it. */
export const POST = defineIdempotentRoute(
  endpoint,
  async ({ body, caller, services, claim, render }) =>
    createPayment(services, caller, creationInput(body), claim, (made) =>
      render(creationView(services, made)),
    ),
);
