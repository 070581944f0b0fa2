import { z } from "zod";
import { BODY_LIMIT, defineEndpoint } from "./endpoint.ts";
import { eventTopic } from "./events.ts";
import { cursor, pageSize } from "./merchants.ts";
import { text } from "./shapes.ts";

const merchantSide = { auth: "merchant", missingKey: "missing_api_key", cors: false } as const;
const read = {
  ...merchantSide,
  method: "GET",
  body: null,
  bodyLimit: 0,
  status: 200,
  idempotent: false,
} as const;
const order = {
  ...merchantSide,
  method: "POST",
  query: null,
  status: 201,
  idempotent: true,
} as const;

const settings = {
  url: text(1, 2048),
  description: text(1, 255).nullable(),
  /** An empty list: every topic. */
  topics: z
    .array(eventTopic)
    .max(20, "must have at most 20 topics")
    .transform((topics) => [...new Set(topics)]),
};

/** A receiver of events. Times are ISO 8601 in UTC. */
const webhookEndpoint = z.object({
  id: z.string(),
  url: z.string(),
  description: z.string().nullable(),
  topics: z.array(eventTopic),
  state: z.enum(["enabled", "disabled"]),
  createdAt: z.string(),
  /** Until when the secret before the last rotation signs too; null: it does not. */
  oldSecretUntil: z.string().nullable(),
});

/** A receiver with its signing secret, which no other answer holds. */
const withSecret = webhookEndpoint.extend({ secret: z.string() });

const deliveryState = z.enum(["pending", "succeeded", "failed"]);

/** One event on its way to one receiver. Times are ISO 8601 in UTC. */
const delivery = z.object({
  id: z.string(),
  endpointId: z.string(),
  eventId: z.string(),
  eventType: eventTopic,
  eventNumber: z.int(),
  paymentId: z.string().nullable(),
  /** Whether somebody asked for it to be sent again. */
  redelivery: z.boolean(),
  state: deliveryState,
  /** How many attempts were made. */
  attemptCount: z.int(),
  /** Null once it has ended. */
  nextAttemptAt: z.string().nullable(),
  createdAt: z.string(),
  endedAt: z.string().nullable(),
});

const headers = z.record(z.string(), z.string());

/** One request of a delivery and what came back; parts are null where nothing came. */
const deliveryAttempt = z.object({
  number: z.int(),
  at: z.string(),
  durationMs: z.int(),
  requestHeaders: headers,
  responseStatus: z.int().nullable(),
  responseHeaders: headers.nullable(),
  /** The first 16 kB of it. */
  responseBody: z.string().nullable(),
  /** Why there was no complete answer. */
  error: z.string().nullable(),
});

/** POST /v1/webhook-endpoints */
export const createWebhookEndpoint = defineEndpoint({
  ...order,
  operation: "createWebhookEndpoint",
  path: "/v1/webhook-endpoints",
  summary:
    "Has events sent to a URL from now on; the answer holds the secret they are signed with.",
  body: z.object({
    url: settings.url,
    description: settings.description.optional(),
    topics: settings.topics.optional(),
  }),
  bodyLimit: BODY_LIMIT,
  response: withSecret,
  errors: ["params_validation", "invalid_state"],
});

/** GET /v1/webhook-endpoints */
export const listWebhookEndpoints = defineEndpoint({
  ...read,
  operation: "listWebhookEndpoints",
  path: "/v1/webhook-endpoints",
  summary: "Lists the merchant's receivers of events, oldest first.",
  query: null,
  response: z.object({ data: z.array(webhookEndpoint) }),
  errors: [],
});

/** GET /v1/webhook-endpoints/{endpointId} */
export const getWebhookEndpoint = defineEndpoint({
  ...read,
  operation: "getWebhookEndpoint",
  path: "/v1/webhook-endpoints/{endpointId}",
  summary: "Returns a receiver of events.",
  query: null,
  response: webhookEndpoint,
  errors: ["not_found"],
});

/** PATCH /v1/webhook-endpoints/{endpointId} */
export const updateWebhookEndpoint = defineEndpoint({
  ...merchantSide,
  operation: "updateWebhookEndpoint",
  method: "PATCH",
  path: "/v1/webhook-endpoints/{endpointId}",
  summary:
    "Changes what the body names. While a receiver is disabled nothing is sent: what was on its way waits, new events are in the feed only.",
  query: null,
  body: z
    .object({ ...settings, state: z.enum(["enabled", "disabled"]) })
    .partial()
    .refine((body) => Object.values(body).some((value) => value !== undefined), {
      message: "must name at least one of url, description, topics and state",
    }),
  bodyLimit: BODY_LIMIT,
  response: webhookEndpoint,
  status: 200,
  errors: ["params_validation", "not_found"],
  idempotent: false,
});

/** DELETE /v1/webhook-endpoints/{endpointId} */
export const deleteWebhookEndpoint = defineEndpoint({
  ...merchantSide,
  operation: "deleteWebhookEndpoint",
  method: "DELETE",
  path: "/v1/webhook-endpoints/{endpointId}",
  summary: "Removes a receiver and gives up what was on its way to it. May be repeated.",
  query: null,
  body: null,
  bodyLimit: 0,
  response: z.object({ id: z.string(), deleted: z.literal(true) }),
  status: 200,
  errors: ["not_found"],
  idempotent: false,
});

/** POST /v1/webhook-endpoints/{endpointId}/rotate-secret */
export const rotateWebhookSecret = defineEndpoint({
  ...order,
  operation: "rotateWebhookSecret",
  path: "/v1/webhook-endpoints/{endpointId}/rotate-secret",
  summary: "Makes a new signing secret; for 24 hours events carry a signature of the old one too.",
  body: null,
  bodyLimit: 0,
  response: withSecret,
  errors: ["not_found"],
});

/** GET /v1/webhook-endpoints/{endpointId}/deliveries */
export const listWebhookDeliveries = defineEndpoint({
  ...read,
  operation: "listWebhookDeliveries",
  path: "/v1/webhook-endpoints/{endpointId}/deliveries",
  summary: "Lists what was sent to a receiver and what is on its way, newest first.",
  query: z.object({ cursor, limit: pageSize(100), state: deliveryState.optional() }),
  response: z.object({ data: z.array(delivery), nextCursor: z.string().nullable() }),
  errors: ["not_found"],
});

/** GET /v1/webhook-deliveries/{deliveryId} */
export const getWebhookDelivery = defineEndpoint({
  ...read,
  operation: "getWebhookDelivery",
  path: "/v1/webhook-deliveries/{deliveryId}",
  summary: "Returns a delivery with every attempt and what came back.",
  query: null,
  response: delivery.extend({ attempts: z.array(deliveryAttempt) }),
  errors: ["not_found"],
});

/** POST /v1/webhook-deliveries/{deliveryId}/redeliver */
export const redeliverWebhook = defineEndpoint({
  ...order,
  operation: "redeliverWebhook",
  path: "/v1/webhook-deliveries/{deliveryId}/redeliver",
  summary: "Sends the same event to the same receiver once more, as a delivery of its own.",
  body: null,
  bodyLimit: 0,
  response: delivery,
  errors: ["not_found", "invalid_state"],
});
