import { listEvents as endpoint } from "#server/contract/events.ts";
import { defineRoute } from "#server/http/define-route.ts";
import { eventView } from "#server/http/webhook-views.ts";
import { readEvents } from "#server/usecases/read-events.ts";

/** GET /v1/events: the merchant's events by number. */
export const GET = defineRoute(endpoint, async ({ query, caller, services }) => {
  const { after, limit = 50, type: topic = null, paymentId = null } = query;
  const page = { after, limit, topic, paymentId };
  const { events, nextAfter, hasMore } = await readEvents(services, caller, page);
  return { data: events.map(eventView), nextAfter, hasMore };
});
