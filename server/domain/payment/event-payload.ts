import type { PaymentEventType, PaymentStatus } from "./state.ts";

/** What a merchant is told about, by name. */
export type EventTopic =
  | "payment.created"
  | "payment.processing"
  | "payment.succeeded"
  | "payment.failed"
  | "payment.expired"
  | "payment.cancelled"
  | "payment.settled"
  | "payment.exception";

/** The topic a status announces; `requires_action` is only ever created. */
export const TOPIC_OF: Record<PaymentStatus, EventTopic> = {
  requires_action: "payment.created",
  processing: "payment.processing",
  succeeded: "payment.succeeded",
  failed: "payment.failed",
  expired: "payment.expired",
  cancelled: "payment.cancelled",
};

type Snapshot = {
  id: string;
  merchantId: string;
  environment: "test" | "live";
  version: number;
  referenceId: string;
  status: PaymentStatus;
  unit: string;
  minor: bigint;
  createdAt: number;
  expiresAt: number;
};

/** The public body of an event: the payment as it stands, and what the cause adds. Times are Unix seconds. */
export const eventPayload = (
  payment: Snapshot,
  cause: { type: PaymentEventType | "created" | "settled" | "exception"; body: object },
): Record<string, unknown> => ({
  payment_id: payment.id,
  merchant_id: payment.merchantId,
  live: payment.environment === "live",
  payment_state_version: payment.version,
  reference_id: payment.referenceId,
  status: payment.status,
  amount: { unit: payment.unit, value: payment.minor.toString() },
  created_at: payment.createdAt,
  expires_at: payment.expiresAt,
  cause: { type: cause.type, ...cause.body },
});
