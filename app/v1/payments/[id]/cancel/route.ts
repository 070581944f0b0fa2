import { cancelPayment as endpoint } from "#server/contract/payment-lifecycle.ts";
import { defineIdempotentRoute } from "#server/http/define-route.ts";
import { cancelInside } from "#server/usecases/cancel-payment.ts";
import { findPayment } from "#server/usecases/read-payment.ts";
import { runOnce } from "#server/usecases/run-once.ts";

/** POST /v1/payments/{id}/cancel: ends a payment nobody has started to pay. */
export const POST = defineIdempotentRoute(
  endpoint,
  async ({ paymentId, caller, services, claim, render }) => {
    await findPayment(services, caller, paymentId);
    return runOnce(services, claim, async (tx) => {
      const { at } = await cancelInside(tx, paymentId, "cancelled_by_merchant");
      return render({
        paymentId,
        status: "cancelled",
        cancelledAt: at.toISOString(),
        cancelledReason: "cancelled_by_merchant",
      });
    });
  },
);
