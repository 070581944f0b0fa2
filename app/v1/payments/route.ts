import { createPayment as endpoint } from "#server/contract/payment-lifecycle.ts";
import { creationInput, creationView } from "#server/http/creation.ts";
import { defineIdempotentRoute } from "#server/http/define-route.ts";
import { createPayment } from "#server/usecases/create-payment.ts";

/** POST /v1/payments: creates a payment and says where the buyer pays it. */
export const POST = defineIdempotentRoute(
  endpoint,
  async ({ body, caller, services, claim, render }) =>
    createPayment(services, caller, creationInput(body), claim, (made) =>
      render(creationView(services, made)),
    ),
);
