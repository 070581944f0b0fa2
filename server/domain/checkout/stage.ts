import type { ExceptionKind } from "#server/domain/payment/evidence.ts";
import type { Code } from "#server/domain/payment/situation.ts";

/** Where a payment stands for its buyer; every page of theirs has one screen for each. */
export type BuyerStage =
  | "ready"
  | "submitted"
  | "confirming"
  | "slow"
  | "still_due"
  | "overpaid"
  | "succeeded"
  | "failed"
  | "expired_unpaid"
  | "expired_paid"
  | "cancelled"
  | "refunded";

/** What a stage is read from; times are Unix seconds. */
export type StageFacts = {
  code: Code;
  now: number;
  /** Null: nothing was taken from the buyer's wallet yet. */
  paid: { acceptedAt: number; etaS: number } | null;
  /** Money that came and is not the payment, as far as nobody has dealt with it. */
  open: ExceptionKind[];
  /** A transfer of the buyer's wallet was seen on its way, and has not come to anything yet. */
  isSent: boolean;
  /** Some of the money went back. */
  refunded: boolean;
};

/** Seconds past the usual time before a buyer is told that it takes long; at least as long again as usual. */
const PATIENCE_S = 20;

/** Situations in which somebody has to look, or the chain has to come back, whatever the time. */
const STUCK: ReadonlySet<Code> = new Set<Code>([
  "processing.network_silent",
  "processing.fee_above_limit",
  "processing.no_gas_money",
  "processing.refused_once",
  "processing.refused_for_good",
  "processing.vanished",
  "processing.deadline_near",
  "processing.deadline_over",
]);

const OVER: readonly ExceptionKind[] = ["over", "double"];
/** Money taken back by a reorganisation, or sent by us, did not come from this buyer now. */
const NO_ARRIVAL: readonly ExceptionKind[] = ["orphaned", "unknown_outflow"];

/** Seconds from acceptance after which a payment is slow. */
export const slowAfterS = (etaS: number): number => Math.max(2 * etaS, etaS + PATIENCE_S);

const isSlow = ({ now, paid }: StageFacts): boolean =>
  paid !== null && now > paid.acceptedAt + slowAfterS(paid.etaS);

/** Money of the wrong amount comes before anything else that is to be said while a payment is open. */
function ofWrongAmount({ open }: StageFacts): BuyerStage | null {
  if (open.some((kind) => OVER.includes(kind))) return "overpaid";
  // Another token than any that was offered pays nothing either.
  if (open.includes("short") || open.includes("wrong_token")) return "still_due";
  return null;
}

function whileOpen(facts: StageFacts): BuyerStage {
  const { code } = facts;
  if (code === "requires_action.push_known" || code === "requires_action.push_claimed")
    return isSlow(facts) ? "slow" : "submitted";
  // Its window is over, and a transfer may still be on its way.
  if (code === "requires_action.push_awaited") return "slow";
  const wrong = ofWrongAmount(facts);
  if (wrong !== null) return wrong;
  return code === "requires_action.window_over" || code === "requires_action.close_overdue"
    ? "expired_unpaid"
    : "ready";
}

function whileProcessing(facts: StageFacts): BuyerStage {
  if (STUCK.has(facts.code) || isSlow(facts)) return "slow";
  return facts.code === "processing.confirming" ? "confirming" : "submitted";
}

/** The one stage these facts make; total, since every status is one of six. */
export function buyerStage(facts: StageFacts): BuyerStage {
  const { code, open, isSent, refunded } = facts;
  if (code.startsWith("requires_action.")) return whileOpen(facts);
  if (code.startsWith("processing.")) return whileProcessing(facts);
  if (code.startsWith("succeeded.")) {
    if (refunded) return "refunded";
    return open.some((kind) => OVER.includes(kind)) ? "overpaid" : "succeeded";
  }
  // However a payment closed: who sent money to it is told about the money first.
  if (isSent || open.some((kind) => !NO_ARRIVAL.includes(kind))) return "expired_paid";
  if (code.startsWith("expired.")) return "expired_unpaid";
  return code.startsWith("cancelled.") ? "cancelled" : "failed";
}
