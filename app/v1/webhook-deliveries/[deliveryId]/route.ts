import { getWebhookDelivery as endpoint } from "#server/contract/webhooks.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { attemptView, deliveryView } from "#server/http/webhook-views.ts";
import { readDelivery } from "#server/usecases/webhook-deliveries.ts";

/** GET /v1/webhook-deliveries/{deliveryId}: a delivery with every attempt. */
export const GET = defineRoute(endpoint, async ({ param, caller, services }) => {
  const { delivery, attempts } = await readDelivery(services, caller, param("deliveryId"));
  return { ...deliveryView(delivery), attempts: attempts.map(attemptView) };
});
