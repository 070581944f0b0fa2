import { listSettlementDestinations as endpoint } from "#server/contract/settlements.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { settlementsView } from "#server/http/merchant-views.ts";
import { listDestinations } from "#server/usecases/settlement-destinations.ts";

/** GET /v1/merchants/{merchantId}/settlements: where a merchant's money goes. */
export const GET = defineRoute(endpoint, async ({ param, caller, services }) =>
  settlementsView(await listDestinations(services, caller, param("merchantId"))),
);
