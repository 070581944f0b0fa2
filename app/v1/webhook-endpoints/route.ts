import {
  createWebhookEndpoint as creation,
  listWebhookEndpoints as list,
} from "#server/contract/webhooks.ts";
import { defineIdempotentRoute, defineRoute } from "#server/http/define-route.ts";
import { endpointView } from "#server/http/webhook-views.ts";
import { createWebhookEndpoint, listWebhookEndpoints } from "#server/usecases/webhook-endpoints.ts";

/** POST /v1/webhook-endpoints: events go to a URL from now on. */
export const POST = defineIdempotentRoute(
  creation,
  async ({ body, caller, services, claim, render }) =>
    createWebhookEndpoint(services, caller, body, claim, (made) =>
      render({ ...endpointView(made), secret: "" }),
    ),
);

/** GET /v1/webhook-endpoints: the merchant's receivers. */
export const GET = defineRoute(list, async ({ caller, services }) => ({
  data: (await listWebhookEndpoints(services, caller)).map(endpointView),
}));
