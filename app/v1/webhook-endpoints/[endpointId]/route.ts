import {
  getWebhookEndpoint as endpoint,
  deleteWebhookEndpoint as removal,
  updateWebhookEndpoint as update,
} from "#server/contract/webhooks.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { endpointView } from "#server/http/webhook-views.ts";
import {
  deleteWebhookEndpoint,
  findWebhookEndpoint,
  updateWebhookEndpoint,
} from "#server/usecases/webhook-endpoints.ts";

/** GET /v1/webhook-endpoints/{endpointId}: one receiver. */
export const GET = defineRoute(endpoint, async ({ param, caller, services }) =>
  endpointView(await findWebhookEndpoint(services, caller, param("endpointId"))),
);

/** PATCH /v1/webhook-endpoints/{endpointId}: changes what the body names. */
export const PATCH = defineRoute(update, async ({ param, body, caller, services }) =>
  endpointView(await updateWebhookEndpoint(services, caller, param("endpointId"), body)),
);

/** DELETE /v1/webhook-endpoints/{endpointId}: nothing is sent there any more. */
export const DELETE = defineRoute(removal, async ({ param, caller, services }) => {
  await deleteWebhookEndpoint(services, caller, param("endpointId"));
  return { id: param("endpointId"), deleted: true as const };
});
