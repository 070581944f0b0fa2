import { inWords } from "../in-words.ts";
import type { NoteCode, NoteOf } from "../situation.ts";
import type { Text } from "./text.ts";

const DECIDE = () => "Decide whether to return it or to accept it as payment.";

/** What is said of stray money and of refunds: a kind without a text does not compile. */
export const NOTES: { [C in NoteCode]: Text<NoteOf<C>> } = {
  "exception.late": {
    sentence: (n) => `${inWords(n.money)} was received after the payment had ended.`,
    actor: "merchant",
    nextStep: DECIDE,
  },
  "exception.short": {
    sentence: (n) => `${inWords(n.money)} was received, which is less than was due.`,
    actor: "merchant",
    nextStep: DECIDE,
  },
  "exception.over": {
    sentence: (n) => `${inWords(n.money)} was received, which is more than was due.`,
    actor: "merchant",
    nextStep: DECIDE,
  },
  "exception.double": {
    sentence: (n) => `${inWords(n.money)} was received although the payment had been paid already.`,
    actor: "merchant",
    nextStep: () => "Return it to the buyer.",
  },
  "exception.wrong_token": {
    sentence: (n) => `${inWords(n.money)} was received, which is not the token that was asked for.`,
    actor: "merchant",
    nextStep: DECIDE,
  },
  "exception.unattributed": {
    sentence: (n) =>
      `${inWords(n.money)} was received from the same account without the buyer's approval of this payment.`,
    actor: "merchant",
    nextStep: DECIDE,
  },
  "exception.orphaned": {
    sentence: (n) =>
      `The network took back the transfer of ${inWords(n.money)}; it counts again once it returns.`,
    actor: "operator",
    nextStep: () =>
      "Watch whether the transfer returns before anything is delivered or paid out; if it never does, close the record (npm run exceptions).",
  },
  "exception.unknown_outflow": {
    sentence: (n) =>
      `${inWords(n.money)} left an account of the service without the service having sent it.`,
    actor: "operator",
    nextStep: () =>
      "Treat the sending key as stolen: stop payouts and replace it, then close the record (npm run exceptions).",
  },
  "refund.pending": {
    sentence: (n) => `${inWords(n.refunded)} is being returned to the buyer.`,
    actor: "service",
    nextStep: () => "Wait: it goes on by itself.",
  },
  "refund.awaiting_merchant": {
    sentence: (n) =>
      `${inWords(n.refunded)} will be returned to the buyer once the shop's own wallet has sent it.`,
    actor: "merchant",
    nextStep: () => "Send the prepared transfer from the shop's wallet.",
  },
  "refund.succeeded": {
    sentence: (n) => `${inWords(n.refunded)} was returned to the buyer.`,
    actor: "nobody",
    nextStep: () => "Nothing is left to do.",
  },
  "refund.failed": {
    sentence: (n) => `${inWords(n.refunded)} could not be returned to the buyer.`,
    actor: "merchant",
    nextStep: () => "Try the refund again, or return the money in another way.",
  },
};
