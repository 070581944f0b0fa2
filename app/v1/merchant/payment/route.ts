import { createMerchantPayment as endpoint } from "#server/contract/merchant.ts";
import { merchantStatus } from "#server/domain/payment/statuses.ts";
import { creationInput, creationView } from "#server/http/creation.ts";
import { defineIdempotentRoute } from "#server/http/define-route.ts";
import { createPayment } from "#server/usecases/create-payment.ts";

/** POST /v1/merchant/payment: creates a payment and says where the buyer pays it. */
export const POST = defineIdempotentRoute(
  endpoint,
  async ({ body, caller, services, claim, render, olderHeader }) =>
    createPayment(services, caller, creationInput(body), claim, (made) =>
      render({
        ...creationView(services, made),
        status: olderHeader ? made.status : merchantStatus(made.status),
      }),
    ),
);
