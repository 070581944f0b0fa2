import {
  changeSettlementDestination as endpoint,
  getSettlementDestination as readEndpoint,
  removeSettlementDestination as removeEndpoint,
} from "#server/contract/settlements.ts";
import { defineRoute } from "#server/http/define-route.ts";
import {
  changeDestination,
  readOneDestination,
  removeDestination,
} from "#server/usecases/settlement-destinations.ts";

/** GET …/settlements/crypto/{settlementId}: one destination. */
export const GET = defineRoute(readEndpoint, async ({ param, caller, services }) =>
  readOneDestination(services, caller, param("merchantId"), param("settlementId")),
);

/** PUT …/settlements/crypto/{settlementId}: sends the asset elsewhere from now on. */
export const PUT = defineRoute(endpoint, async ({ param, body, caller, services }) =>
  changeDestination(services, caller, param("merchantId"), param("settlementId"), body.destination),
);

/** DELETE …/settlements/crypto/{settlementId}: new payments no longer offer the asset. */
export const DELETE = defineRoute(removeEndpoint, async ({ param, caller, services }) => {
  await removeDestination(services, caller, param("merchantId"), param("settlementId"));
  return { id: param("settlementId"), deleted: true as const };
});
