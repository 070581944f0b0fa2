import type { PaymentFacts } from "#server/domain/payment/facts.ts";
import type { TimelineRow } from "#server/domain/payment/timeline.ts";

/** What explains a payment, read without locks; whoever asks has checked that the payment may be seen. */
export type ExplainReads = {
  /** Everything an explanation rests on, as it was at one moment; null: no such payment. */
  explainFacts(paymentId: string): Promise<PaymentFacts | null>;
  /** What happened to a payment, oldest first; of very many things of one kind the oldest are told. */
  timelineRows(paymentId: string): Promise<TimelineRow[]>;
};
