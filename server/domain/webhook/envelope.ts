/** The version of what events look like; it changes when a receiver would have to. */
export const EVENT_API_VERSION = "2026-05-18";

/** An event as stored. `number` is its place among the merchant's events, from 1; `createdAt` ISO-8601. */
export type StoredEvent = {
  id: string;
  topic: string;
  number: number;
  createdAt: string;
  live: boolean;
  data: Record<string, unknown>;
};

/** An event as receivers and the feed get it. */
export const envelopeOf = (event: StoredEvent) => ({
  id: event.id,
  type: event.topic,
  api_version: EVENT_API_VERSION,
  created_at: event.createdAt,
  live: event.live,
  number: event.number,
  data: event.data,
});

/** The body a webhook carries: the same bytes at every attempt. */
export const webhookBody = (event: StoredEvent): string => JSON.stringify(envelopeOf(event));
