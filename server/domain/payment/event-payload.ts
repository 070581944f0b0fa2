import { feeParts } from "#server/domain/money/convert.ts";
import type { FailureCode, PaymentStatus } from "./state.ts";

/** The terms of a payment as events tell them. Times are ISO-8601. */
export type EventTerms = {
  id: string;
  merchantId: string;
  live: boolean;
  version: number;
  referenceId: string;
  status: PaymentStatus;
  unit: string;
  minor: bigint;
  flow: "intermediary" | "direct";
  feeBps: number;
  feeFixedMinor: bigint;
  failureCode: FailureCode | null;
  createdAt: string;
  expiresAt: string;
};

/** How far a payment has come. */
export type EventStages = {
  /** When each status was reached, ISO-8601. */
  reached: Partial<Record<PaymentStatus, string>>;
  /** What pays it; null until an option was accepted. `payer` is canonical, without its chain. */
  option: { asset: string; amount: bigint; chain: string; payer: string } | null;
  /** The transaction that paid it. */
  txId: string | null;
  /** The event that cancelled it. */
  cancelledBy: string | null;
  settled: { at: string; txId: string | null; asset: string; amount: bigint } | null;
};

/** A stage nobody has reached yet. */
export const NO_STAGES: EventStages = {
  reached: {},
  option: null,
  txId: null,
  cancelledBy: null,
  settled: null,
};

/** What an event is about besides the payment: money that is not the payment, or a refund. */
export type EventSubject = { type: string; body: object };

const amountOf = (asset: string, value: bigint) => ({
  unit: `caip19/${asset}`,
  value: value.toString(),
});

function feeOf(terms: EventTerms, asset: string, amount: bigint) {
  const { fixed, percent, fee } = feeParts(amount, terms.feeBps, terms.feeFixedMinor, terms.minor);
  return {
    kind: "base_plus_percent",
    base_amount: amountOf(asset, fixed),
    percent: { numerator: terms.feeBps, denominator: 10_000 },
    percent_amount: amountOf(asset, percent),
    total_amount: amountOf(asset, fee),
  };
}

function processingOf(terms: EventTerms, { reached, option }: EventStages) {
  if (reached.processing === undefined || option === null) return null;
  const { asset, amount, chain, payer } = option;
  const kept =
    terms.flow === "direct"
      ? 0n
      : feeParts(amount, terms.feeBps, terms.feeFixedMinor, terms.minor).fee;
  return {
    processing_at: reached.processing,
    option_amount: amountOf(asset, amount),
    fee: terms.flow === "direct" ? null : feeOf(terms, asset, amount),
    settlement_amount: amountOf(asset, amount - kept),
    buyer_caip10: `${chain}:${payer}`,
    chain_caip2: chain,
  };
}

/** Each stage as an object, null until it is reached. */
function stagesOf(terms: EventTerms, stages: EventStages) {
  const { reached, txId, cancelledBy, settled } = stages;
  const { succeeded, failed, cancelled, expired } = reached;
  return {
    processing: processingOf(terms, stages),
    success: succeeded === undefined ? null : { succeeded_at: succeeded, tx_id: txId },
    failed:
      failed === undefined
        ? null
        : { failed_at: failed, failure_reason: terms.failureCode ?? "internal_error" },
    cancelled:
      cancelled === undefined
        ? null
        : {
            cancelled_at: cancelled,
            cancellation_reason:
              cancelledBy === "cancelled_by_wallet" ? "cancelled_by_user" : "cancelled_by_merchant",
          },
    expired: expired === undefined ? null : { expired_at: expired },
    settled:
      settled === null
        ? null
        : {
            settled_at: settled.at,
            tx_id: settled.txId,
            amount: amountOf(settled.asset, settled.amount),
          },
  };
}

/** The members only some events have: `exception` or `refund`, named after their subject's type. */
const subjectOf = ({ type, body }: EventSubject) =>
  type === "exception" || type === "refund" ? { [type]: body } : {};

/** The `data` of an event: the payment as it stood when its cause was committed. No data a buyer gave is in it. */
export const eventPayload = (
  terms: EventTerms,
  stages: EventStages,
  subject: EventSubject,
): Record<string, unknown> => ({
  payment_id: terms.id,
  merchant_id: terms.merchantId,
  live: terms.live,
  payment_state_version: terms.version,
  reference_id: terms.referenceId,
  status: terms.status,
  amount: { unit: terms.unit, value: terms.minor.toString() },
  created_at: terms.createdAt,
  expires_at: terms.expiresAt,
  ...stagesOf(terms, stages),
  ...subjectOf(subject),
});
