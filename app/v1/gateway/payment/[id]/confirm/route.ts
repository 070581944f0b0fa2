import { confirmPayment as endpoint } from "#server/contract/gateway.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { showWhenChanged } from "#server/http/hold.ts";
import { preflight } from "#server/http/preflight.ts";
import { statusShower } from "#server/http/views.ts";
import { confirmPayment } from "#server/usecases/confirm-payment.ts";
import { statusReader } from "#server/usecases/read-payment.ts";

/** POST /v1/gateway/payment/{id}/confirm: takes the wallet's results, then waits for what becomes of them. */
export const POST = defineRoute(endpoint, async ({ paymentId, caller, services, query, body }) => {
  const { optionId, results, collectedData } = body;
  await confirmPayment(services, caller, paymentId, { optionId, results, collectedData });
  const read = statusReader(services, caller, paymentId);
  return showWhenChanged(caller.keyId, query.maxPollMs ?? 0, read, statusShower(services));
});

export const OPTIONS = preflight;
