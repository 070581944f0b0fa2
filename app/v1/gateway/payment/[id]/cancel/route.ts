import { cancelGatewayPayment as endpoint } from "#server/contract/payment-lifecycle.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { preflight } from "#server/http/preflight.ts";
import { cancelForBuyer } from "#server/usecases/cancel-payment.ts";
import { findPayment } from "#server/usecases/read-payment.ts";

/** POST /v1/gateway/payment/{id}/cancel: the buyer does not want to pay. */
export const POST = defineRoute(endpoint, async ({ paymentId, caller, services }) => {
  await findPayment(services, caller, paymentId);
  const { at } = await cancelForBuyer(services, paymentId);
  return {
    paymentId,
    status: "cancelled" as const,
    cancelledAt: at.toISOString(),
    cancelledReason: "cancelled_by_user" as const,
  };
});

export const OPTIONS = preflight;
