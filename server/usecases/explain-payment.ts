import { chainOf } from "#server/domain/asset/caip.ts";
import { type Explanation, explain } from "#server/domain/payment/explain.ts";
import type { PaymentFacts } from "#server/domain/payment/facts.ts";
import { readNotes, readSituation } from "#server/domain/payment/read-situation.ts";
import type { Surroundings } from "#server/domain/payment/surroundings.ts";
import { type TimelineEntry, tellTimeline } from "#server/domain/payment/timeline.ts";
import type { ExplainReads } from "#server/ports/explain.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import { MAX_PAYER_REVERTS } from "./payer-budget.ts";
import { type PaymentView, readPayment, type SettledView } from "./read-payment.ts";
import { MAX_IN_FLIGHT, MAX_PAID_REVERTS } from "./submit-capture.ts";

type Names = Pick<Surroundings, "token" | "chain" | "batchEveryS">;

/** `names` with the limits this service works by. */
export const surroundings = (names: Names): Surroundings => ({
  ...names,
  maxInFlight: MAX_IN_FLIGHT,
  maxReverts: MAX_PAID_REVERTS,
  maxPayerReverts: MAX_PAYER_REVERTS,
});

/** What the server knows of its chains, in the words an explanation needs. */
export function ownSurroundings({ chains, env }: Services): Surroundings {
  const facts = (caip2: string) => chains.get(caip2)?.facts ?? null;
  return surroundings({
    batchEveryS: env.FLORIN_SETTLEMENT_BATCH_S,
    chain: facts,
    token(asset) {
      const chain = facts(chainOf(asset));
      const token = chain?.registered.find((one) => one.asset === asset);
      if (chain === null || token === undefined) return null;
      return { symbol: token.symbol, decimals: token.decimals, network: chain.name };
    },
  });
}

/** The reason of a hold is the operator's: it can name other merchants' payments. */
const forMerchant = (facts: PaymentFacts): PaymentFacts =>
  facts.settlement === null || facts.settlement.hold === null
    ? facts
    : { ...facts, settlement: { ...facts.settlement, hold: { reason: null } } };

function explainFacts(facts: PaymentFacts, around: Surroundings): Explanation {
  const situation = readSituation(facts, around);
  return explain(situation, readNotes(facts, around, situation));
}

/** Everything there is to say, for an operator, who may see any payment; null: no such payment. */
export async function explainToOperator(
  reads: ExplainReads,
  around: Surroundings,
  paymentId: string,
): Promise<{ explanation: Explanation; timeline: TimelineEntry[] } | null> {
  const facts = await reads.explainFacts(paymentId);
  if (facts === null) return null;
  const timeline = tellTimeline(await reads.timelineRows(paymentId), around);
  return { explanation: explainFacts(facts, around), timeline };
}

/** What a caller can ask for beside the payment itself. */
export const INCLUDES = ["explanation", "timeline"] as const;
export type Include = (typeof INCLUDES)[number];

type Explained = PaymentView & {
  settlement: SettledView | null;
  explanation?: Explanation;
  timeline?: TimelineEntry[];
};

/** How often a payment is read again when it moved between two reads of one answer. */
const TRIES = 3;

/** As `readPayment`, with what was asked for beside it, of the same version of the payment. */
export async function readExplained(
  services: Services,
  caller: Caller,
  id: string,
  include: readonly Include[],
): Promise<Explained> {
  if (include.length === 0) return readPayment(services, caller, id);
  const around = ownSurroundings(services);
  for (let attempt = 1; ; attempt++) {
    const view = await readPayment(services, caller, id);
    const facts = await services.store.explainFacts(view.payment.id);
    if (facts === null) return view;
    if (facts.version !== view.payment.version && attempt < TRIES) continue;
    return {
      ...view,
      ...(include.includes("explanation") && {
        explanation: explainFacts(forMerchant(facts), around),
      }),
      ...(include.includes("timeline") && {
        timeline: tellTimeline(await services.store.timelineRows(view.payment.id), around),
      }),
    };
  }
}
