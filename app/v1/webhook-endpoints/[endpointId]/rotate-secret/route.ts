import { rotateWebhookSecret as endpoint } from "#server/contract/webhooks.ts";
import { defineIdempotentRoute } from "#server/http/define-route.ts";
import { endpointView } from "#server/http/webhook-views.ts";
import { rotateWebhookSecret } from "#server/usecases/webhook-endpoints.ts";

/** POST /v1/webhook-endpoints/{endpointId}/rotate-secret: a new signing secret, beside the old one for a day. */
export const POST = defineIdempotentRoute(
  endpoint,
  async ({ param, caller, services, claim, render }) =>
    rotateWebhookSecret(services, caller, param("endpointId"), claim, (changed) =>
      render({ ...endpointView(changed), secret: "" }),
    ),
);
