import { confirmPayment as endpoint } from "#server/contract/gateway.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { withHold } from "#server/http/hold.ts";
import { preflight } from "#server/http/preflight.ts";
import { statusView } from "#server/http/views.ts";
import { confirmPayment } from "#server/usecases/confirm-payment.ts";
import { waitForStatus } from "#server/usecases/read-payment.ts";

/** POST /v1/gateway/payment/{id}/confirm: takes the wallet's results, then waits for what becomes of them. */
export const POST = defineRoute(endpoint, async (input) => {
  const { paymentId, caller, services, query, body } = input;
  const { optionId, results, collectedData } = body;
  await confirmPayment(services, caller, paymentId, { optionId, results, collectedData });
  const view = await withHold(caller.keyId, query.maxPollMs ?? 0, (waitMs) =>
    waitForStatus(services, caller, paymentId, waitMs, input.signal),
  );
  return statusView(services, view);
});

export const OPTIONS = preflight;
