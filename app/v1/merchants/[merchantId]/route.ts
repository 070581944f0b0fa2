import {
  deleteMerchant as deleteEndpoint,
  updateMerchant as endpoint,
  getMerchant as readEndpoint,
} from "#server/contract/merchants.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { merchantChange, merchantView, settlementsView } from "#server/http/merchant-views.ts";
import { deleteMerchant, readMerchant, updateMerchant } from "#server/usecases/merchants.ts";

/** GET /v1/merchants/{merchantId}: a merchant with where its money goes. */
export const GET = defineRoute(readEndpoint, async ({ param, caller, services }) => {
  const { merchant, destinations } = await readMerchant(services, caller, param("merchantId"));
  return { merchant: { ...merchantView(merchant), settlements: settlementsView(destinations) } };
});

/** PATCH /v1/merchants/{merchantId}: changes what the body names. */
export const PATCH = defineRoute(endpoint, async ({ param, body, caller, services }) => {
  const changed = await updateMerchant(services, caller, param("merchantId"), merchantChange(body));
  return { merchant: merchantView(changed) };
});

/** DELETE /v1/merchants/{merchantId}: no new payments from here on. */
export const DELETE = defineRoute(deleteEndpoint, async ({ param, caller, services }) => {
  await deleteMerchant(services, caller, param("merchantId"));
  return { id: param("merchantId"), deleted: true as const };
});
