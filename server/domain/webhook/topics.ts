import type { PaymentStatus } from "#server/domain/payment/state.ts";

/** What a merchant is told about, by name. */
export const EVENT_TOPICS = [
  "payment.created",
  "payment.processing",
  "payment.succeeded",
  "payment.failed",
  "payment.expired",
  "payment.cancelled",
  "payment.settled",
  "payment.exception",
  "refund.created",
  "refund.succeeded",
  "refund.failed",
] as const;

export type EventTopic = (typeof EVENT_TOPICS)[number];

/** The topic a status announces; `requires_action` is only ever created. */
export const TOPIC_OF: Record<PaymentStatus, EventTopic> = {
  requires_action: "payment.created",
  processing: "payment.processing",
  succeeded: "payment.succeeded",
  failed: "payment.failed",
  expired: "payment.expired",
  cancelled: "payment.cancelled",
};
