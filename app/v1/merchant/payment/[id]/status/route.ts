import { getMerchantPaymentStatus as endpoint } from "#server/contract/merchant.ts";
import { merchantStatus } from "#server/domain/payment/statuses.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { statusView } from "#server/http/views.ts";
import { readStatus } from "#server/usecases/read-payment.ts";

/** GET /v1/merchant/payment/{id}/status: where a payment stands, in the merchant's words. */
export const GET = defineRoute(endpoint, async ({ paymentId, caller, services, olderHeader }) => {
  const view = await readStatus(services, caller, paymentId);
  const { status } = view.payment;
  return { ...statusView(services, view), status: olderHeader ? status : merchantStatus(status) };
});
