import type { StoredEvent } from "#server/domain/webhook/envelope.ts";
import type { Delivery, DeliveryAttempt, WebhookEndpoint } from "#server/ports/events.ts";

const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);
const secondsOrNull = (time: Date | null): number | null => (time === null ? null : seconds(time));

export type EventRow = {
  event_id: string;
  topic: string;
  number: string;
  event_at: Date;
  payload: Record<string, unknown>;
  environment: "test" | "live";
};

/** Columns of an event: `o` is its outbox row, `m` its merchant. */
export const EVENT_COLUMNS =
  "o.event_id, o.topic, o.number, o.created_at as event_at, o.payload, m.environment";

export const toEvent = (row: EventRow): StoredEvent => ({
  id: row.event_id,
  topic: row.topic,
  number: Number(row.number),
  createdAt: row.event_at.toISOString(),
  live: row.environment === "live",
  data: row.payload,
});

export type EndpointRow = {
  id: string;
  merchant_id: string;
  environment: "test" | "live";
  url: string;
  description: string | null;
  topics: string[];
  secret: Buffer;
  old_secret: Buffer | null;
  old_until: Date | null;
  state: "enabled" | "disabled";
  created_at: Date;
};

/** Columns of an endpoint; an old secret that no longer counts is not there. */
export const ENDPOINT_COLUMNS = `id, merchant_id, environment, url, description, topics, secret, state, created_at,
  case when old_until > clock_timestamp() then old_secret end as old_secret,
  case when old_until > clock_timestamp() then old_until end as old_until`;

export const toEndpoint = (row: EndpointRow): WebhookEndpoint => ({
  id: row.id,
  merchantId: row.merchant_id,
  environment: row.environment,
  url: row.url,
  description: row.description,
  topics: row.topics,
  secret: row.secret,
  oldSecret: row.old_secret,
  oldUntil: secondsOrNull(row.old_until),
  state: row.state,
  createdAt: seconds(row.created_at),
});

export type DeliveryRow = {
  id: string;
  endpoint_id: string;
  event_id: string;
  topic: string;
  number: string;
  payment_id: string | null;
  cause: string;
  state: Delivery["state"];
  attempts: number;
  due_at: Date | null;
  created_at: Date;
  ended_at: Date | null;
};

/** Columns of a delivery: `d` is its row, `o` its event's. */
export const DELIVERY_COLUMNS = `d.id, d.endpoint_id, d.event_id, o.topic, o.number, o.payment_id, d.cause, d.state,
  d.attempts, d.due_at, d.created_at, d.ended_at`;

export const toDelivery = (row: DeliveryRow): Delivery => ({
  id: row.id,
  endpointId: row.endpoint_id,
  eventId: row.event_id,
  topic: row.topic,
  number: Number(row.number),
  paymentId: row.payment_id,
  cause: row.cause,
  state: row.state,
  attempts: row.attempts,
  dueAt: secondsOrNull(row.due_at),
  createdAt: seconds(row.created_at),
  endedAt: secondsOrNull(row.ended_at),
});

export type AttemptRow = {
  number: number;
  at: Date;
  duration_ms: number;
  request_headers: Record<string, string>;
  response_status: number | null;
  response_headers: Record<string, string> | null;
  response_body: string | null;
  error: string | null;
};

export const toDeliveryAttempt = (row: AttemptRow): DeliveryAttempt => ({
  number: row.number,
  at: seconds(row.at),
  durationMs: row.duration_ms,
  requestHeaders: row.request_headers,
  responseStatus: row.response_status,
  responseHeaders: row.response_headers,
  responseBody: row.response_body,
  error: row.error,
});
