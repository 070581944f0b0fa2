import { eventPayload } from "#server/domain/payment/event-payload.ts";
import { EVENT_API_VERSION } from "#server/domain/webhook/envelope.ts";
import {
  ASSET,
  BUYER,
  CREATED_AT,
  DELIVERY,
  EVENT,
  MERCHANT,
  PAYMENT,
  REFERENCE,
  TX_ID,
  WEBHOOK,
} from "./example-values.ts";

const PAID_AT = "2026-11-21T10:00:41.000Z";

/** An event as the feed and webhooks tell it. */
export const EVENT_EXAMPLE = {
  id: EVENT,
  type: "payment.succeeded",
  api_version: EVENT_API_VERSION,
  created_at: PAID_AT,
  live: true,
  number: 3,
  data: eventPayload(
    {
      id: PAYMENT,
      merchantId: MERCHANT,
      live: true,
      version: 2,
      referenceId: REFERENCE,
      status: "succeeded",
      unit: "iso4217/USD",
      minor: 1250n,
      flow: "intermediary",
      feeBps: 40,
      feeFixedMinor: 0n,
      failureCode: null,
      createdAt: CREATED_AT,
      expiresAt: "2026-11-21T10:15:00.000Z",
    },
    {
      reached: { processing: "2026-11-21T10:00:38.000Z", succeeded: PAID_AT },
      option: { asset: ASSET, amount: 12_500_000n, chain: "eip155:8453", payer: BUYER },
      txId: TX_ID,
      cancelledBy: null,
      settled: null,
    },
    { type: "payment", body: {} },
  ),
} as const;

const receiver = {
  id: WEBHOOK,
  url: "https://shop.example.com/florin",
  description: "Orders",
  topics: ["payment.succeeded", "payment.expired"],
  state: "enabled",
  createdAt: CREATED_AT,
  oldSecretUntil: null,
} as const;
const secret = "whsec_bm90IGEgc2VjcmV0LCBvbmx5IGFuIGV4YW1wbGU=";
const delivery = {
  id: DELIVERY,
  endpointId: WEBHOOK,
  eventId: EVENT,
  eventType: EVENT_EXAMPLE.type,
  eventNumber: EVENT_EXAMPLE.number,
  paymentId: PAYMENT,
  redelivery: false,
  state: "pending",
  attemptCount: 1,
  nextAttemptAt: "2026-11-21T10:00:47.000Z",
  createdAt: PAID_AT,
  endedAt: null,
} as const;
const attempt = {
  number: 1,
  at: "2026-11-21T10:00:42.000Z",
  durationMs: 87,
  requestHeaders: {
    "webhook-id": EVENT,
    "webhook-timestamp": "1795255242",
    "webhook-signature": "v1,K5oZfzN95Z9UVu1EsfQmfVNQhnkZ2pj9o9NDN/H/pI4=",
  },
  responseStatus: 502,
  responseHeaders: { "content-type": "text/html" },
  responseBody: "Bad gateway",
  error: null,
};
const path = { endpointId: WEBHOOK };

/** Examples of the operations about events and webhooks. */
export const EVENT_EXAMPLES = {
  listEvents: {
    query: { after: "2", limit: "50" },
    response: { data: [EVENT_EXAMPLE], nextAfter: 3, hasMore: false },
  },
  createWebhookEndpoint: {
    body: { url: receiver.url, description: receiver.description, topics: receiver.topics },
    response: { ...receiver, secret },
  },
  listWebhookEndpoints: { response: { data: [receiver] } },
  getWebhookEndpoint: { path, response: receiver },
  updateWebhookEndpoint: {
    path,
    body: { state: "disabled" },
    response: { ...receiver, state: "disabled" },
  },
  deleteWebhookEndpoint: { path, response: { id: WEBHOOK, deleted: true } },
  rotateWebhookSecret: {
    path,
    response: { ...receiver, oldSecretUntil: "2026-11-22T10:00:00.000Z", secret },
  },
  listWebhookDeliveries: {
    path,
    query: { state: "pending", limit: "20" },
    response: { data: [delivery], nextCursor: null },
  },
  getWebhookDelivery: {
    path: { deliveryId: DELIVERY },
    response: { ...delivery, attempts: [attempt] },
  },
  redeliverWebhook: {
    path: { deliveryId: DELIVERY },
    response: { ...delivery, redelivery: true, attemptCount: 0 },
  },
} as const;
