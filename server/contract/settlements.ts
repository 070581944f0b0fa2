import { z } from "zod";
import { BODY_LIMIT, defineEndpoint } from "./endpoint.ts";
import { cryptoSettlement, settlements } from "./merchants.ts";
import { text } from "./shapes.ts";

const partner = {
  auth: "partner",
  missingKey: "missing_api_key",
  query: null,
  cors: false,
  idempotent: false,
} as const;

/** GET /v1/merchants/{merchantId}/settlements */
export const listSettlementDestinations = defineEndpoint({
  ...partner,
  operation: "listSettlementDestinations",
  method: "GET",
  path: "/v1/merchants/{merchantId}/settlements",
  summary: "Lists where a merchant's money goes.",
  body: null,
  bodyLimit: 0,
  response: settlements,
  status: 200,
  errors: ["merchant_not_found"],
});

/** POST /v1/merchants/{merchantId}/settlements/crypto */
export const addSettlementDestinations = defineEndpoint({
  ...partner,
  operation: "addSettlementDestinations",
  method: "POST",
  path: "/v1/merchants/{merchantId}/settlements/crypto",
  summary: "Adds settlement destinations, all of them or none; an asset has one at most.",
  /** Grammar of assets and accounts is the use case's, as which of them exist is configuration. */
  body: z.object({
    settlements: z
      .array(z.object({ asset: text(1, 256), destination: text(1, 256) }))
      .min(1, "must have at least one entry")
      .max(50, "must have at most 50 entries"),
  }),
  bodyLimit: BODY_LIMIT,
  response: z.object({ settlements: z.array(cryptoSettlement) }),
  status: 201,
  errors: ["merchant_not_found", "params_validation", "settlement_asset_conflict"],
  idempotent: true,
});

/** GET /v1/merchants/{merchantId}/settlements/crypto/{settlementId} */
export const getSettlementDestination = defineEndpoint({
  ...partner,
  operation: "getSettlementDestination",
  method: "GET",
  path: "/v1/merchants/{merchantId}/settlements/crypto/{settlementId}",
  summary: "Returns one settlement destination.",
  body: null,
  bodyLimit: 0,
  response: cryptoSettlement,
  status: 200,
  errors: ["merchant_not_found", "not_found"],
});

/** PUT /v1/merchants/{merchantId}/settlements/crypto/{settlementId} */
export const changeSettlementDestination = defineEndpoint({
  ...partner,
  operation: "changeSettlementDestination",
  method: "PUT",
  path: "/v1/merchants/{merchantId}/settlements/crypto/{settlementId}",
  summary:
    "Sends an asset elsewhere from now on; payments that exist keep the destination they were made with.",
  body: z.object({ destination: text(1, 256) }),
  bodyLimit: BODY_LIMIT,
  response: cryptoSettlement,
  status: 200,
  errors: ["merchant_not_found", "not_found", "params_validation"],
});

/** DELETE /v1/merchants/{merchantId}/settlements/crypto/{settlementId} */
export const removeSettlementDestination = defineEndpoint({
  ...partner,
  operation: "removeSettlementDestination",
  method: "DELETE",
  path: "/v1/merchants/{merchantId}/settlements/crypto/{settlementId}",
  summary: "Removes a destination: new payments no longer offer its asset.",
  body: null,
  bodyLimit: 0,
  response: z.object({ id: z.string(), deleted: z.literal(true) }),
  status: 200,
  errors: ["merchant_not_found", "not_found"],
});
