import type { ExceptionKind } from "./evidence.ts";

/** An amount with what it is called; `network` is null for money of a country. */
export type Money = { minor: bigint; decimals: number; symbol: string; network: string | null };

/** How deep a transfer is, and how deep it must be: a count of blocks, or final by the network's own word. */
export type Progress = { have: bigint; need: bigint } | { tag: "safe" | "finalized" };

type Due = { due: Money };
/** `until` and every other time here: Unix seconds. */
type Window = Due & { until: number };
type Push = Due & { pays: Money };
type Approved = Due & { pays: Money };
/** The key to fund, and where. */
type Unfunded = { signer: string; network: string };
type Received = Due & { received: Money };
type Owed = Received & { settles: Money };
/** `since` is null when the network was never heard. */
type Silent = Approved & { network: string; since: number | null };

/** Every situation a payment can be in, named by status and reason, with the figures its sentence needs. */
export type Situations = {
  "requires_action.not_opened": Window;
  "requires_action.options_served": Window & { options: number };
  "requires_action.window_closing": Window & { options: number };
  "requires_action.window_over": Due;
  "requires_action.close_overdue": Window;
  "requires_action.push_handed_out": Push & { until: number };
  "requires_action.push_claimed": Push & { txId: string };
  "requires_action.push_known": Push & { txId: string };
  "requires_action.push_awaited": Push & { until: number };
  "processing.accepted": Approved;
  "processing.waiting_for_allowance": Approved & { until: number };
  "processing.queued": Approved & { ahead: number };
  "processing.being_sent": Approved;
  "processing.sent": Approved & { txId: string };
  "processing.fee_too_low": Approved & { txId: string };
  "processing.fee_above_limit": Approved & { txId: string };
  "processing.no_gas_money": Approved & Unfunded;
  "processing.confirming": Approved & { txId: string; progress: Progress };
  "processing.refused_once": Approved;
  "processing.refused_for_good": Approved & { until: number };
  "processing.vanished": Approved;
  "processing.deadline_near": Approved & { until: number };
  "processing.deadline_over": Approved & { until: number };
  "processing.network_silent": Silent;
  "succeeded.waiting_for_finality": Received;
  "succeeded.settlement_pending": Owed;
  "succeeded.settlement_batched": Owed & { dueAt: number };
  "succeeded.settlement_held": Owed & { reason: string | null };
  "succeeded.settlement_blocked": Owed & { reason: string | null };
  "succeeded.settlement_sent": Owed & { txId: string | null };
  "succeeded.settlement_no_gas_money": Owed & Unfunded;
  "succeeded.settlement_network_silent": Received & { network: string; since: number | null };
  "succeeded.settled": Owed & { txId: string };
  "succeeded.nothing_to_settle": Received;
  "succeeded.direct": Received & { txId: string };
  "succeeded.refunded_partly": Received & { refunded: Money };
  "succeeded.refunded_wholly": Received & { refunded: Money };
  "succeeded.orphaned": Due & { received: Money | null };
  "failed.declined": Due;
  "failed.misaligned": Due & { reason: string | null };
  "failed.authorization_expired": Due;
  "failed.authorization_cancelled": Due;
  "failed.authorization_misused": Due;
  "failed.broadcast_failed": Due;
  "failed.internal_error": Due;
  "expired.unpaid": Due;
  "expired.paid_late": Due;
  "expired.paid_inexactly": Due;
  "expired.stray_money_resolved": Due;
  "cancelled.by_merchant": Due;
  "cancelled.by_wallet": Due;
};

/** The word programs know a situation by: `<status>.<reason>`. */
export type Code = keyof Situations;

/** The situation of one code. */
export type SituationOf<C extends Code> = { [K in C]: { code: K } & Situations[K] }[C];

/** Where a payment stands and why, as one of the cases that have a sentence. */
export type Situation = SituationOf<Code>;

type Stray = { money: Money; txId: string };
type Refund = { refunded: Money };

/** What else is to be said of a payment: money that is not the payment, and refunds on their way. */
export type Notes = Record<`exception.${ExceptionKind}`, Stray> & {
  "refund.pending": Refund;
  "refund.awaiting_merchant": Refund;
  "refund.succeeded": Refund;
  "refund.failed": Refund;
};

/** The word programs know a note by. */
export type NoteCode = keyof Notes;

/** The note of one code. */
export type NoteOf<C extends NoteCode> = { [K in C]: { code: K } & Notes[K] }[C];

/** One line beside the situation. */
export type Note = NoteOf<NoteCode>;
