import { getGatewayPayment as endpoint } from "#server/contract/gateway.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { preflight } from "#server/http/preflight.ts";
import { descriptionView } from "#server/http/views.ts";
import { describePayment } from "#server/usecases/describe-payment.ts";

/** GET /v1/gateway/payment/{id}: what a wallet needs to show a payment. */
export const GET = defineRoute(endpoint, async ({ paymentId, caller, services }) =>
  descriptionView(await describePayment(services, caller, paymentId)),
);

export const OPTIONS = preflight;
