import { getPaymentStatus as endpoint } from "#server/contract/payment-lifecycle.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { showWhenChanged } from "#server/http/hold.ts";
import { statusShower } from "#server/http/views.ts";
import { statusReader } from "#server/usecases/read-payment.ts";

/** GET /v1/payments/{id}/status: where a payment stands, held while nothing changes if the merchant asks for it. */
export const GET = defineRoute(endpoint, async ({ paymentId, caller, services, query }) => {
  const read = statusReader(services, caller, paymentId);
  return showWhenChanged(caller.keyId, query.maxPollMs ?? 0, read, statusShower(services));
});
