import type { PaymentEventType, PaymentStatus } from "./state.ts";

type Edges = Record<PaymentStatus, Partial<Record<PaymentEventType, PaymentStatus>>>;

/** The whole payment state machine. A pair that is not listed is not allowed. */
export const EDGES: Edges = {
  requires_action: {
    confirm_accepted: "processing",
    evidence_seen: "processing",
    window_closed: "expired",
    cancelled_by_merchant: "cancelled",
    cancelled_by_wallet: "cancelled",
    results_misaligned: "failed",
  },
  processing: {
    // No window_closed here: the clock never fails a payment that was handed in.
    evidence_confirmed: "succeeded",
    authorization_expired: "failed",
    authorization_cancelled: "failed",
    authorization_misused: "failed",
  },
  succeeded: {},
  failed: {},
  expired: {},
  cancelled: {},
};

/** The status after `event`, or `null` when `status` does not allow it. */
export function transition(status: PaymentStatus, event: PaymentEventType): PaymentStatus | null {
  return EDGES[status][event] ?? null;
}

/** Final means no way out, so it is read off the table, not listed a second time. */
export const isFinal = (status: PaymentStatus): boolean => Object.keys(EDGES[status]).length === 0;
