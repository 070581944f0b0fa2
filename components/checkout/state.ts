import type { CheckoutView } from "#server/contract/checkout.ts";
import type { BuyerStage } from "#server/domain/checkout/stage.ts";
import { isSending, isSent, type Step, type StepAt } from "./flow.ts";

/** The 28 screens, in the order of the design; a screen's number is its place here, from 1. */
export const STATES = [
  "loading",
  "ready",
  "connecting",
  "finding",
  "options",
  "no_option",
  "information",
  "information_rejected",
  "approval",
  "approval_waiting",
  "in_wallet",
  "refused",
  "quote_changed",
  "nearly_expired",
  "submitted",
  "confirming",
  "slow",
  "still_due",
  "overpaid",
  "succeeded",
  "failed",
  "expired_unpaid",
  "expired_paid",
  "cancelled",
  "not_possible",
  "offline",
  "refunded",
  "unknown",
] as const;
export type StateName = (typeof STATES)[number];

/** What is on the screen, with what it shows beside the payment itself. */
export type Screen =
  | { state: "loading" | "not_possible" | "offline" | "unknown" }
  | { state: "ready"; step: StepAt<"idle"> }
  | { state: "connecting"; step: StepAt<"connecting"> }
  | { state: "finding"; step: StepAt<"finding"> }
  | { state: "options"; step: StepAt<"choosing"> }
  | { state: "no_option"; step: StepAt<"choosing"> }
  | { state: "information" | "information_rejected"; step: StepAt<"information"> }
  | { state: "approval"; step: StepAt<"approval"> }
  | { state: "approval_waiting"; step: StepAt<"approved"> }
  | { state: "in_wallet"; step: StepAt<"asking" | "handing_in" | "unsure"> }
  | { state: "refused"; step: StepAt<"refused"> }
  | { state: "quote_changed"; step: StepAt<"requoted"> }
  | { state: "nearly_expired"; step: StepAt<"idle" | "choosing"> }
  | { state: Exclude<BuyerStage, "ready"> };

/** Everything a screen depends on. `nowMs` is the server's time, as this page reckons it. */
export type Circumstances = {
  /** Null: not read yet. `missing`: there is no such payment. */
  view: CheckoutView | "missing" | null;
  step: Step;
  offline: boolean;
  /** Whether the last form was sent back. */
  rejected: boolean;
  nowMs: number;
};

/** Seconds until the payment closes, never below 0. */
export const secondsLeft = (view: CheckoutView, nowMs: number): number =>
  Math.max(0, view.expiresAt - Math.floor(nowMs / 1000));

/** The clock stays quiet for three quarters of the time, so that nobody is hurried into an error. */
export const inLastQuarter = (view: CheckoutView, nowMs: number): boolean =>
  secondsLeft(view, nowMs) * 4 <= view.expiresAt - view.createdAt;

/** Whether the payment may be on its way already: then the clock of this page must not end it. */
const mayHaveLeft = (step: Step): boolean =>
  ["handing_in", "handed_in", "sent_late", "unsure", "blocked"].includes(step.at) ||
  isSending(step);

/** Whether nothing of a payment changes any more: it ended, and no money is on its way to it. */
export const isOver = (view: CheckoutView): boolean =>
  view.isFinal && !(view.stage === "expired_paid" && view.arrivals.length === 0);

/** Whether a payment ended and took no money. */
export const tookNothing = (stage: BuyerStage): boolean =>
  stage === "cancelled" || stage === "expired_unpaid" || stage === "failed";

function openScreen(view: CheckoutView, { step, rejected, nowMs }: Circumstances): Screen {
  const closing = inLastQuarter(view, nowMs);
  switch (step.at) {
    case "idle":
      return closing ? { state: "nearly_expired", step } : { state: "ready", step };
    case "connecting":
      return { state: "connecting", step };
    case "finding":
      return { state: "finding", step };
    case "choosing":
      if (step.found.options.length === 0) return { state: "no_option", step };
      return closing ? { state: "nearly_expired", step } : { state: "options", step };
    case "information":
      return { state: rejected ? "information_rejected" : "information", step };
    case "approval":
      return { state: "approval", step };
    case "approved":
      return { state: "approval_waiting", step };
    case "asking":
    case "handing_in":
    case "unsure":
      return { state: "in_wallet", step };
    case "sent_late":
      return { state: "submitted" };
    case "refused":
      return { state: "refused", step };
    case "requoted":
      return { state: "quote_changed", step };
    case "handed_in":
      return { state: "submitted" };
    case "blocked":
      return { state: "not_possible" };
    case "too_late":
      return { state: "expired_unpaid" };
  }
}

/**
 * Which of the 28 screens is shown. What the server says of the payment wins over what this page is doing; being offline hides
 * everything that may have changed meanwhile, and nothing that is final.
 */
export function screenOf(circumstances: Circumstances): Screen {
  const { view, step, offline, nowMs } = circumstances;
  if (view === "missing") return { state: "unknown" };
  if (view === null) return { state: offline ? "offline" : "loading" };
  if (offline && !view.isFinal) return { state: "offline" };
  // Its end says that nothing was charged, until the server has seen what this page knows of.
  if (isSent(step) && tookNothing(view.stage)) return { state: "expired_paid" };
  // Too little came: the rest of the way is that of any open payment, once the buyer goes it.
  const goesOn = view.stage === "still_due" && step.at !== "idle";
  if (view.stage !== "ready" && !goesOn) return { state: view.stage };
  if (secondsLeft(view, nowMs) === 0 && !mayHaveLeft(step)) return { state: "expired_unpaid" };
  return openScreen(view, circumstances);
}
