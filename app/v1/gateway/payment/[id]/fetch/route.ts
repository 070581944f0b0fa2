import { fetchPaymentActions as endpoint } from "#server/contract/gateway.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { preflight } from "#server/http/preflight.ts";
import { fetchActions } from "#server/usecases/fetch-actions.ts";

/** POST /v1/gateway/payment/{id}/fetch: the calls an option asks a wallet to make. */
export const POST = defineRoute(endpoint, async ({ paymentId, caller, services, body }) => ({
  actions: await fetchActions(services, caller, paymentId, body),
}));

export const OPTIONS = preflight;
