import type { CheckoutView } from "#server/contract/checkout.ts";
import type { StateName } from "./state.ts";
import type { WordKey, Words } from "./words.ts";

/** What the amount of a payment is to its buyer: still asked for, on its way, paid, or asked for no more. */
export type Phase = "due" | "underway" | "paid" | "over";

/** Screens that end a payment before the server's own reading of it does. */
const ENDED: readonly StateName[] = ["expired_unpaid", "expired_paid", "not_possible"];

/** The phase of a payment; `state` is the screen shown for it, which may be ahead of what the server has seen. */
export function phaseOf({ status, stage }: CheckoutView, state: StateName = stage): Phase {
  if (status === "succeeded") return "paid";
  if (status === "processing") return "underway";
  if (status !== "requires_action" || ENDED.includes(state)) return "over";
  return state === "submitted" ? "underway" : "due";
}

/** What stands over the amount. */
export const AMOUNT_LABELS: Readonly<Record<Phase, WordKey>> = {
  due: "page.pay",
  underway: "page.underway",
  paid: "page.paid",
  over: "facts.amount",
};

/** The title of the page: it says in a row of tabs whether there is still something to do. */
export function titleOf({ t, price }: Words, { merchant, amount }: CheckoutView, phase: Phase) {
  const key = { due: "page.title", paid: "page.titlePaid", underway: null, over: null } as const;
  const title = t(key[phase] ?? "page.titleDone", { merchant: merchant.name });
  return `${title} · ${price(amount)}`;
}
