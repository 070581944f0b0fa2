import { AppError } from "#server/platform/app-error.ts";
import { newId } from "#server/platform/ids.ts";
import type { Delivery, DeliveryAttempt, DeliveryState } from "#server/ports/events.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { IdempotencyClaim, StoredAnswer } from "#server/ports/store.ts";
import { runOnce } from "./run-once.ts";
import { findWebhookEndpoint } from "./webhook-endpoints.ts";

type Merchant = Caller & { kind: "merchant" };

const ID = /^dlv_[0-9A-Z]{1,60}$/;

const notFound = () => new AppError("not_found", "There is no such delivery");

const badCursor = () =>
  new AppError("invalid_params", "Invalid request: cursor: is not one of this list", {
    issues: [{ path: "cursor", field: "cursor", message: "is not one of this list" }],
  });

/** A page of a receiver's deliveries, newest first; the cursor is the id of the last one. */
export async function listDeliveries(
  services: Services,
  caller: Merchant,
  endpointId: string,
  page: { cursor: string | null; limit: number; state: DeliveryState | null },
): Promise<{ deliveries: Delivery[]; nextCursor: string | null }> {
  const endpoint = await findWebhookEndpoint(services, caller, endpointId);
  if (page.cursor !== null && !ID.test(page.cursor)) throw badCursor();
  const found = await services.store.deliveries(caller.merchantId, endpoint.id, {
    ...page,
    limit: page.limit + 1,
  });
  if (found === null) throw badCursor();
  const deliveries = found.slice(0, page.limit);
  const more = found.length > page.limit;
  return { deliveries, nextCursor: more ? (deliveries.at(-1)?.id ?? null) : null };
}

/** A delivery of this merchant with its attempts, oldest first. */
export async function readDelivery(
  services: Services,
  { merchantId }: Merchant,
  id: string,
): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] }> {
  const found = ID.test(id) ? await services.store.delivery(merchantId, id) : null;
  if (found === null) throw notFound();
  return found;
}

/** Sends the event of a delivery again, due at once and apart from the order of its payment's events. */
export function redeliver(
  services: Services,
  { merchantId }: Merchant,
  id: string,
  claim: IdempotencyClaim | null,
  render: (delivery: Delivery) => StoredAnswer,
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  return runOnce(services, claim, async (tx) => {
    const fresh = { id: newId("delivery"), cause: newId("request") };
    const made = ID.test(id) ? await tx.redeliver(merchantId, id, fresh) : null;
    if (made === null) throw notFound();
    if (made === "unreachable")
      throw new AppError("invalid_state", "The webhook endpoint is disabled or deleted");
    return render(made);
  });
}
