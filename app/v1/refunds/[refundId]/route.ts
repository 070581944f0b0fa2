import { getRefund as endpoint } from "#server/contract/refunds.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { refundView } from "#server/http/refund-view.ts";
import { readRefund } from "#server/usecases/read-refunds.ts";

/** GET /v1/refunds/{refundId}: one of the merchant's refunds. */
export const GET = defineRoute(endpoint, async ({ param, caller, services }) =>
  refundView(services, await readRefund(services, caller, param("refundId"))),
);
