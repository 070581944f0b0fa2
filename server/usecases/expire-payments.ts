import { failpoint } from "#server/platform/failpoint.ts";
import type { Services } from "#server/ports/services.ts";

const BATCH = 200;

/**
 * Closes every payment whose window is over by the database's clock; returns how many. One that handed out a transfer stays open
 * until the chain is read past the last moment that still counts. A scan, so that no timer can be lost.
 */
export async function expirePayments(services: Services): Promise<number> {
  const ids = await services.store.paymentsToExpire(BATCH);
  let closed = 0;
  for (const id of ids) {
    await failpoint("expire.before_change");
    const done = await services.store.transaction(async (tx) => {
      const payment = await tx.lockPayment(id);
      if (payment === null || !payment.windowClosed) return false;
      // A transfer that was handed out meanwhile may still come.
      if (await tx.awaitsPush(id)) return false;
      const changed = await tx.change(payment, { type: "window_closed", body: {} });
      return changed.kind === "applied";
    });
    if (done) closed++;
  }
  return closed;
}
