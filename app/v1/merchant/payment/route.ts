import { createMerchantPayment as endpoint } from "#server/contract/merchant.ts";
import { merchantStatus } from "#server/domain/payment/statuses.ts";
import { defineIdempotentRoute } from "#server/http/define-route.ts";
import { pollingOf } from "#server/http/views.ts";
import { createPayment } from "#server/usecases/create-payment.ts";

/** POST /v1/merchant/payment: creates a payment and says where the buyer pays it. */
export const POST = defineIdempotentRoute(
  endpoint,
  async ({ body, caller, services, claim, render, olderHeader }) =>
    createPayment(
      services,
      caller,
      {
        unit: body.amount.unit,
        value: body.amount.value,
        referenceId: body.referenceId,
        successUrl: body.checkout?.successUrl,
        errorUrl: body.checkout?.errorUrl,
        expiresAt: body.expiresAt,
        metadata: body.metadata,
        description: body.description,
      },
      claim,
      ({ id, status, expiresAt }) =>
        render({
          paymentId: id,
          gatewayUrl: `${services.env.checkoutUrl}/${id}`,
          status: olderHeader ? status : merchantStatus(status),
          expiresAt,
          ...pollingOf(status),
        }),
    ),
);
