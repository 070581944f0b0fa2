import type { StoredEvent } from "#server/domain/webhook/envelope.ts";
import type { Caller, Services } from "#server/ports/services.ts";

/** A page of the merchant's events after a number; without gaps, since no number is visible before all lower ones. */
export async function readEvents(
  services: Services,
  { merchantId }: Caller & { kind: "merchant" },
  page: { after: number; limit: number; topic: string | null; paymentId: string | null },
): Promise<{ events: StoredEvent[]; nextAfter: number; hasMore: boolean }> {
  const found = await services.store.events(merchantId, { ...page, limit: page.limit + 1 });
  const events = found.slice(0, page.limit);
  return {
    events,
    nextAfter: events.at(-1)?.number ?? page.after,
    hasMore: found.length > page.limit,
  };
}
