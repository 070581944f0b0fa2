import { chainOf } from "#server/domain/asset/caip.ts";
import type { PaymentFacts, SettlementFacts } from "./facts.ts";
import type { Code, Money, SituationOf } from "./situation.ts";
import { networkName, type Surroundings, silentSince, tokenMoney } from "./surroundings.ts";

type Succeeded = SituationOf<Extract<Code, `succeeded.${string}`>>;
type Received = { due: Money; received: Money };

/** What went back to the buyer, in the capture's own asset; null: nothing. */
function refundSituation(facts: PaymentFacts, money: Received): Succeeded | null {
  const returned = facts.refunds.filter(({ state }) => state === "succeeded");
  if (returned.length === 0) return null;
  const minor = returned.reduce((total, refund) => total + refund.minor, 0n);
  const code =
    minor >= money.received.minor ? "succeeded.refunded_wholly" : "succeeded.refunded_partly";
  return { code, ...money, refunded: { ...money.received, minor } };
}

/** Where an unfinished settlement waits. */
function waitingSettlement(
  settlement: SettlementFacts,
  owed: Received & { settles: Money },
  around: Surroundings,
): Succeeded {
  const { state, detail, hold, txId, gasShort } = settlement;
  if (state === "blocked") return { code: "succeeded.settlement_blocked", ...owed, reason: detail };
  // What was sent before a hold may be what the hold is about.
  if (hold !== null) return { code: "succeeded.settlement_held", ...owed, reason: hold.reason };
  if (gasShort !== null) {
    const network = networkName(gasShort.chain, around);
    const { signer } = gasShort;
    return { code: "succeeded.settlement_no_gas_money", ...owed, signer, network };
  }
  if (state === "sent") return { code: "succeeded.settlement_sent", ...owed, txId };
  if (settlement.schedule === "instant") return { code: "succeeded.settlement_pending", ...owed };
  const dueAt = settlement.batchSince + around.batchEveryS;
  return { code: "succeeded.settlement_batched", ...owed, dueAt };
}

/** Where the money of a payment that succeeded is now. What still asks for somebody comes before what was given back. */
export function settlementSituation(
  facts: PaymentFacts,
  around: Surroundings,
  due: Money,
): Succeeded {
  const { capture, settlement } = facts;
  if (capture === null) return { code: "succeeded.orphaned", due, received: null };
  const received = tokenMoney(capture, around);
  if (capture.status === "orphaned") return { code: "succeeded.orphaned", due, received };
  const refunded = refundSituation(facts, { due, received });
  if (facts.flow === "direct")
    return refunded ?? { code: "succeeded.direct", due, received, txId: capture.txId };
  const open = settlement !== null && settlement.state !== "final";
  const chain = chainOf(capture.asset);
  const since = silentSince(facts, chain, around);
  const onlyWaits = open ? settlement.state !== "blocked" : capture.status === "confirmed";
  if (onlyWaits && since !== false) {
    const network = networkName(chain, around);
    return { code: "succeeded.settlement_network_silent", due, received, network, since };
  }
  if (open) {
    const settles = tokenMoney(settlement, around);
    return waitingSettlement(settlement, { due, received, settles }, around);
  }
  if (refunded !== null) return refunded;
  if (settlement === null)
    return capture.status === "confirmed"
      ? { code: "succeeded.waiting_for_finality", due, received }
      : { code: "succeeded.nothing_to_settle", due, received };
  const settles = tokenMoney(settlement, around);
  return { code: "succeeded.settled", due, received, settles, txId: settlement.txId ?? "" };
}
