import type { z } from "zod";
import type { event } from "#server/contract/events.ts";
import type {
  getWebhookDelivery,
  getWebhookEndpoint,
  redeliverWebhook,
} from "#server/contract/webhooks.ts";
import { envelopeOf, type StoredEvent } from "#server/domain/webhook/envelope.ts";
import type { Delivery, DeliveryAttempt, WebhookEndpoint } from "#server/ports/events.ts";

type WireEndpoint = z.input<(typeof getWebhookEndpoint)["response"]>;
type WireDelivery = z.input<(typeof redeliverWebhook)["response"]>;
type WireAttempt = z.input<(typeof getWebhookDelivery)["response"]>["attempts"][number];
type WireEvent = z.input<typeof event>;
type WireTopic = WireEvent["type"];

const iso = (unixSeconds: number): string => new Date(unixSeconds * 1000).toISOString();
const isoOrNull = (unixSeconds: number | null): string | null =>
  unixSeconds === null ? null : iso(unixSeconds);

/** A receiver as its merchant sees it, without its secret. */
export const endpointView = (endpoint: WebhookEndpoint): WireEndpoint => ({
  id: endpoint.id,
  url: endpoint.url,
  description: endpoint.description,
  // Stored topics passed this very list on their way in.
  topics: endpoint.topics as WireTopic[],
  state: endpoint.state,
  createdAt: iso(endpoint.createdAt),
  oldSecretUntil: isoOrNull(endpoint.oldUntil),
});

/** A delivery as its merchant sees it. */
export const deliveryView = (delivery: Delivery): WireDelivery => ({
  id: delivery.id,
  endpointId: delivery.endpointId,
  eventId: delivery.eventId,
  eventType: delivery.topic as WireTopic,
  eventNumber: delivery.number,
  paymentId: delivery.paymentId,
  redelivery: delivery.cause !== "dispatch",
  state: delivery.state,
  attemptCount: delivery.attempts,
  nextAttemptAt: isoOrNull(delivery.dueAt),
  createdAt: iso(delivery.createdAt),
  endedAt: isoOrNull(delivery.endedAt),
});

/** One attempt with what came back. */
export const attemptView = (attempt: DeliveryAttempt): WireAttempt => ({
  ...attempt,
  at: iso(attempt.at),
});

/** An event as the feed shows it: what a webhook's body says. */
export const eventView = (stored: StoredEvent): WireEvent => {
  const envelope = envelopeOf(stored);
  return { ...envelope, type: envelope.type as WireTopic };
};
