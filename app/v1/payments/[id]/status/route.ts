import { getPaymentStatus as endpoint } from "#server/contract/payment-lifecycle.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { withHold } from "#server/http/hold.ts";
import { statusView } from "#server/http/views.ts";
import { waitForStatus } from "#server/usecases/read-payment.ts";

/** GET /v1/payments/{id}/status: where a payment stands, held while nothing changes if the merchant asks for it. */
export const GET = defineRoute(endpoint, async (input) => {
  const { paymentId, caller, services, query } = input;
  const view = await withHold(caller.keyId, query.maxPollMs ?? 0, (waitMs) =>
    waitForStatus(services, caller, paymentId, waitMs, input.signal),
  );
  return statusView(services, view);
});
