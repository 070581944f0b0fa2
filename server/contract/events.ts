import { z } from "zod";
import { EVENT_TOPICS } from "#server/domain/webhook/topics.ts";
import { defineEndpoint } from "./endpoint.ts";
import { pageSize } from "./merchants.ts";

export const eventTopic = z.enum(EVENT_TOPICS);

/** An event as the feed and webhooks tell it. Times in it are ISO 8601 in UTC. */
export const event = z.object({
  id: z.string(),
  type: eventTopic,
  api_version: z.string(),
  created_at: z.string(),
  live: z.boolean(),
  /** Place among the merchant's events: 1, 2, 3 and so on without gaps. */
  number: z.int(),
  /** The payment as it stood at the event, with an object for each stage it has reached. */
  data: z.record(z.string(), z.unknown()),
});

/** GET /v1/events */
export const listEvents = defineEndpoint({
  operation: "listEvents",
  method: "GET",
  path: "/v1/events",
  summary: "Lists the merchant's events by number: what webhooks send, for those who rather ask.",
  auth: "merchant",
  missingKey: "missing_api_key",
  query: z.object({
    after: z
      .string()
      .regex(/^(0|[1-9][0-9]{0,14})$/, "must be the number of an event, or 0")
      .transform(Number)
      .default(0),
    limit: pageSize(200),
    type: eventTopic.optional(),
    paymentId: z
      .string()
      .regex(/^pay_[A-Za-z0-9]{1,60}$/, "must be a payment id")
      .optional(),
  }),
  body: null,
  bodyLimit: 0,
  response: z.object({
    data: z.array(event),
    /** What to ask with next, also where there is nothing more yet. */
    nextAfter: z.int(),
    hasMore: z.boolean(),
  }),
  status: 200,
  errors: [],
  idempotent: false,
  cors: false,
});
