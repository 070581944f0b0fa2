import { inWords, silence, timeInWords } from "../in-words.ts";
import { NOTHING, type TextsOf } from "./text.ts";

const NOTHING_TO_DO = () => "Nothing is left to do.";
const BY_ITSELF = () => "Wait: it goes on by itself.";
const NEW_PAYMENT = () => "Create a new payment if the buyer still wants to pay.";
const because = (reason: string | null): string => (reason === null ? "" : ` (${reason})`);

/** What is said of a payment that has ended. */
export const ENDED: TextsOf<"succeeded" | "failed" | "expired" | "cancelled"> = {
  "succeeded.waiting_for_finality": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}, and the shop gets its part once the network calls the transfer final.`,
    actor: "nobody",
    nextStep: BY_ITSELF,
  },
  "succeeded.settlement_pending": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}, and the service is about to send ${inWords(s.settles)} to the shop.`,
    actor: "service",
    nextStep: BY_ITSELF,
  },
  "succeeded.settlement_batched": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}, and ${inWords(s.settles)} goes to the shop together with other payments from ${timeInWords(s.dueAt)} on.`,
    actor: "service",
    nextStep: BY_ITSELF,
  },
  "succeeded.settlement_held": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}; the ${inWords(s.settles)} owed to the shop is safe, but payouts in it are stopped until an operator has looked${because(s.reason)}.`,
    actor: "operator",
    nextStep: () => "Find out why payouts were stopped, then lift the hold (npm run settlements).",
  },
  "succeeded.settlement_blocked": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}; the ${inWords(s.settles)} owed to the shop is safe, but its payout did not go through${because(s.reason)}.`,
    actor: "operator",
    nextStep: () =>
      "Make sure that the shop's account can receive it, then try the payout again (npm run settlements).",
  },
  "succeeded.settlement_sent": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}, and ${inWords(s.settles)} is on its way to the shop.`,
    actor: "nobody",
    nextStep: () => "Wait until the network calls the payout final.",
  },
  "succeeded.settlement_no_gas_money": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}; the ${inWords(s.settles)} owed to the shop is safe, but the key that sends it has too little money for the fees of ${s.network}.`,
    actor: "operator",
    nextStep: (s) => `Fund ${s.signer} on ${s.network}; the service then goes on by itself.`,
  },
  "succeeded.settlement_network_silent": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}; the payout to the shop waits, because the service ${silence(s.since, s.network)}. The money is safe.`,
    actor: "operator",
    nextStep: (s) => `Check that the worker is running and that the nodes of ${s.network} answer.`,
  },
  "succeeded.settled": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}, and the shop received ${inWords(s.settles)}.`,
    actor: "nobody",
    nextStep: NOTHING_TO_DO,
  },
  "succeeded.nothing_to_settle": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}, and no payout to the shop is left to make.`,
    actor: "nobody",
    nextStep: NOTHING_TO_DO,
  },
  "succeeded.direct": {
    sentence: (s) => `The buyer paid ${inWords(s.received)} straight to the shop's own account.`,
    actor: "nobody",
    nextStep: NOTHING_TO_DO,
  },
  "succeeded.refunded_partly": {
    sentence: (s) =>
      `The buyer paid ${inWords(s.received)}, and ${inWords(s.refunded)} of it was returned.`,
    actor: "nobody",
    nextStep: NOTHING_TO_DO,
  },
  "succeeded.refunded_wholly": {
    sentence: (s) => `The buyer paid ${inWords(s.received)}, and all of it was returned.`,
    actor: "nobody",
    nextStep: NOTHING_TO_DO,
  },
  "succeeded.orphaned": {
    sentence: (s) =>
      s.received === null
        ? `The payment of ${inWords(s.due)} succeeded, but no transfer of the network counts for it.`
        : `The payment succeeded, but the network took back the transfer of ${inWords(s.received)} afterwards; the money is with the buyer again unless the transfer returns.`,
    actor: "operator",
    nextStep: () =>
      "Watch whether the transfer returns by itself; if it does not, the shop must ask the buyer to pay again.",
  },
  "failed.declined": {
    sentence: (s) => `The buyer declined to pay ${inWords(s.due)} in the wallet. ${NOTHING}`,
    actor: "merchant",
    nextStep: NEW_PAYMENT,
  },
  "failed.misaligned": {
    sentence: (s) =>
      `The wallet handed in something that does not answer what it was asked for${because(s.reason)}, so the payment of ${inWords(s.due)} ended. ${NOTHING}`,
    actor: "merchant",
    nextStep: () =>
      "Create a new payment and have the buyer try again, with another wallet if need be.",
  },
  "failed.authorization_expired": {
    sentence: (s) =>
      `The buyer's approval of ${inWords(s.due)} lapsed before the transfer could be made, as the network proves. ${NOTHING}`,
    actor: "merchant",
    nextStep: NEW_PAYMENT,
  },
  "failed.authorization_cancelled": {
    sentence: (s) =>
      `The buyer's approval of ${inWords(s.due)} was used up or withdrawn on the network without the transfer being made. ${NOTHING}`,
    actor: "merchant",
    nextStep: NEW_PAYMENT,
  },
  "failed.authorization_misused": {
    sentence: (s) =>
      `The buyer's approval of ${inWords(s.due)} was used on the network for another amount or receiver. The shop received nothing for this payment.`,
    actor: "merchant",
    nextStep: NEW_PAYMENT,
  },
  "failed.broadcast_failed": {
    sentence: (s) =>
      `The network can no longer take the transfer for ${inWords(s.due)}. ${NOTHING}`,
    actor: "merchant",
    nextStep: NEW_PAYMENT,
  },
  "failed.internal_error": {
    sentence: (s) => `The service could not carry out the payment of ${inWords(s.due)}. ${NOTHING}`,
    actor: "operator",
    nextStep: () => "Look for this payment's id in the service's log, then create a new payment.",
  },
  "expired.unpaid": {
    sentence: (s) => `Nobody paid ${inWords(s.due)} in time. ${NOTHING}`,
    actor: "merchant",
    nextStep: NEW_PAYMENT,
  },
  "expired.paid_late": {
    sentence: (s) =>
      `The time to pay ${inWords(s.due)} was over before the money arrived; what arrived is kept apart and is not lost.`,
    actor: "merchant",
    nextStep: () => "Decide whether to return what arrived or to accept it as payment.",
  },
  "expired.paid_inexactly": {
    sentence: (s) =>
      `The time to pay ${inWords(s.due)} passed without a transfer that matches it; what arrived is kept apart and is not lost.`,
    actor: "merchant",
    nextStep: () => "Decide whether to return what arrived or to accept it as payment.",
  },
  "expired.stray_money_resolved": {
    sentence: (s) =>
      `Nobody paid ${inWords(s.due)} as asked in time; what arrived besides was dealt with.`,
    actor: "nobody",
    nextStep: NOTHING_TO_DO,
  },
  "cancelled.by_merchant": {
    sentence: (s) => `The shop cancelled the payment of ${inWords(s.due)}. ${NOTHING}`,
    actor: "nobody",
    nextStep: NEW_PAYMENT,
  },
  "cancelled.by_wallet": {
    sentence: (s) =>
      `The buyer cancelled the payment of ${inWords(s.due)} in the wallet. ${NOTHING}`,
    actor: "nobody",
    nextStep: NEW_PAYMENT,
  },
};
