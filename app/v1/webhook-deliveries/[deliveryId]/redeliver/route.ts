import { redeliverWebhook as endpoint } from "#server/contract/webhooks.ts";
import { defineIdempotentRoute } from "#server/http/define-route.ts";
import { deliveryView } from "#server/http/webhook-views.ts";
import { redeliver } from "#server/usecases/webhook-deliveries.ts";

/** POST /v1/webhook-deliveries/{deliveryId}/redeliver: the same event once more. */
export const POST = defineIdempotentRoute(
  endpoint,
  async ({ param, caller, services, claim, render }) =>
    redeliver(services, caller, param("deliveryId"), claim, (made) => render(deliveryView(made))),
);
