import { addSettlementDestinations as endpoint } from "#server/contract/settlements.ts";
import { defineIdempotentRoute } from "#server/http/define-route.ts";
import { addDestinations } from "#server/usecases/settlement-destinations.ts";

/** POST /v1/merchants/{merchantId}/settlements/crypto: adds destinations, all or none. */
export const POST = defineIdempotentRoute(
  endpoint,
  async ({ param, body, caller, services, claim, render }) =>
    addDestinations(services, caller, param("merchantId"), body.settlements, claim, (settlements) =>
      render({ settlements }),
    ),
);
