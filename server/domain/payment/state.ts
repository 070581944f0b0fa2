/** The six statuses of a payment, as the Payments API, the Gateway API, events and the database name them. */
export const PAYMENT_STATUSES = [
  "requires_action",
  "processing",
  "succeeded",
  "failed",
  "expired",
  "cancelled",
] as const;

export type PaymentStatus = (typeof PAYMENT_STATUSES)[number];

/** Everything that can move a payment, in the past tense. */
export const PAYMENT_EVENT_TYPES = [
  "confirm_accepted",
  "evidence_seen",
  "evidence_confirmed",
  "window_closed",
  "cancelled_by_merchant",
  "cancelled_by_wallet",
  "results_misaligned",
  "authorization_expired",
  "authorization_cancelled",
  "authorization_misused",
] as const;

export type PaymentEventType = (typeof PAYMENT_EVENT_TYPES)[number];

/** The only codes clients of this protocol know; anything else breaks them. */
export type FailureCode =
  | "declined_user"
  | "internal_error"
  | "authorization_expired"
  | "broadcast_failed";
