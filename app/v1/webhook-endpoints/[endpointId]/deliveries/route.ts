import { listWebhookDeliveries as endpoint } from "#server/contract/webhooks.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { deliveryView } from "#server/http/webhook-views.ts";
import { listDeliveries } from "#server/usecases/webhook-deliveries.ts";

/** GET /v1/webhook-endpoints/{endpointId}/deliveries: what was sent there and what is on its way. */
export const GET = defineRoute(endpoint, async ({ param, query, caller, services }) => {
  const { cursor = null, limit = 20, state = null } = query;
  const page = { cursor, limit, state };
  const { deliveries, nextCursor } = await listDeliveries(
    services,
    caller,
    param("endpointId"),
    page,
  );
  return { data: deliveries.map(deliveryView), nextCursor };
});
