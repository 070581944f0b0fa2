import type { StoredEvent } from "#server/domain/webhook/envelope.ts";

/** Where a merchant wants its events sent; secrets are sealed. Times are Unix seconds. */
export type WebhookEndpoint = {
  id: string;
  merchantId: string;
  environment: "test" | "live";
  url: string;
  description: string | null;
  /** Topics it gets; empty: all. */
  topics: string[];
  secret: Uint8Array;
  /** The secret before a rotation, while it still counts. */
  oldSecret: Uint8Array | null;
  oldUntil: number | null;
  state: "enabled" | "disabled";
  createdAt: number;
};

export type DeliveryState = "pending" | "succeeded" | "failed";

/** One event on its way to one endpoint. Times are Unix seconds. */
export type Delivery = {
  id: string;
  endpointId: string;
  eventId: string;
  topic: string;
  number: number;
  paymentId: string | null;
  /** `dispatch`, or the id of the request that asked for it again. */
  cause: string;
  state: DeliveryState;
  attempts: number;
  /** Null once it has ended. */
  dueAt: number | null;
  createdAt: number;
  endedAt: number | null;
};

/** One HTTP request of a delivery and what came back. `at` is Unix seconds. */
export type DeliveryAttempt = {
  number: number;
  at: number;
  durationMs: number;
  requestHeaders: Record<string, string>;
  responseStatus: number | null;
  responseHeaders: Record<string, string> | null;
  responseBody: string | null;
  error: string | null;
};

/** A delivery a worker has taken on, with all it needs for one attempt. */
export type ClaimedDelivery = {
  id: string;
  attempts: number;
  endpoint: Pick<WebhookEndpoint, "id" | "url" | "secret" | "oldSecret">;
  event: StoredEvent;
};

/** What the worker's loops do with events. */
export type EventQueue = {
  /**
   * Gives committed events their numbers, without gaps for each merchant and in order for each payment, and queues them
   * for the endpoints that want them, all in one transaction. Returns how many; 0 also while another worker does it.
   */
  numberEvents(limit: number): Promise<number>;
  /** Enabled endpoints with a delivery that is due, the longest waiting first. */
  endpointsDue(except: string[], limit: number): Promise<string[]>;
  /**
   * Takes on the first due delivery of an endpoint for `forS` seconds, after which anybody may. Null: none is due.
   * An event waits until all earlier ones of its payment have ended at this endpoint.
   */
  claimDelivery(endpointId: string, forS: number): Promise<ClaimedDelivery | null>;
  /** Notes an attempt, once for each number from 1, and what follows from it; a delivery that has ended stays as it is. */
  finishAttempt(
    delivery: { id: string; number: number },
    attempt: Omit<DeliveryAttempt, "number" | "at">,
    next: { kind: "succeeded" } | { kind: "failed" } | { kind: "again"; afterS: number },
  ): Promise<void>;
  /** Gives a delivery back untried. */
  releaseDelivery(deliveryId: string): Promise<void>;
};

/** What endpoints read; everything is found by its merchant only. */
export type EventReads = {
  /** Numbered events after `after`, by number, up to `limit`. */
  events(
    merchantId: string,
    page: { after: number; limit: number; topic: string | null; paymentId: string | null },
  ): Promise<StoredEvent[]>;
  /** Oldest first, without deleted ones. */
  webhookEndpoints(merchantId: string): Promise<WebhookEndpoint[]>;
  webhookEndpoint(merchantId: string, id: string): Promise<WebhookEndpoint | null>;
  /** Newest first, after the delivery `cursor` names; null: the cursor is none of this endpoint's deliveries. */
  deliveries(
    merchantId: string,
    endpointId: string,
    page: { cursor: string | null; limit: number; state: DeliveryState | null },
  ): Promise<Delivery[] | null>;
  delivery(
    merchantId: string,
    id: string,
  ): Promise<{ delivery: Delivery; attempts: DeliveryAttempt[] } | null>;
};

export type EventStore = EventQueue & EventReads;

/** The part of a transaction that concerns webhook endpoints. */
export type EventTx = {
  /** Null: the merchant has `most` endpoints already. */
  insertWebhookEndpoint(
    endpoint: Pick<
      WebhookEndpoint,
      "id" | "merchantId" | "environment" | "url" | "description" | "topics" | "secret"
    >,
    most: number,
  ): Promise<WebhookEndpoint | null>;
  /** Null: no such endpoint of this merchant. */
  changeWebhookEndpoint(
    merchantId: string,
    id: string,
    patch: {
      url?: string | undefined;
      description?: string | null | undefined;
      topics?: string[] | undefined;
      state?: "enabled" | "disabled" | undefined;
    },
  ): Promise<WebhookEndpoint | null>;
  /** Makes `secret` the signing secret; the one before counts for `oldForS` seconds more. Null: no such endpoint. */
  rotateWebhookSecret(
    merchantId: string,
    id: string,
    secret: Uint8Array,
    oldForS: number,
  ): Promise<WebhookEndpoint | null>;
  /** Ends what was on its way to it. False: no such endpoint, now or ever. Repeatable. */
  deleteWebhookEndpoint(merchantId: string, id: string): Promise<boolean>;
  /**
   * Queues the event of a delivery once more for its endpoint, due at once. `cause` is the request's id.
   * Null: no such delivery; `unreachable`: its endpoint is disabled or deleted.
   */
  redeliver(
    merchantId: string,
    deliveryId: string,
    fresh: { id: string; cause: string },
  ): Promise<Delivery | "unreachable" | null>;
};
