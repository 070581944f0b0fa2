import { counted, inWords, progressInWords, silence, timeInWords } from "../in-words.ts";
import { NOTHING, type TextsOf } from "./text.ts";

const BY_ITSELF = () => "Wait: it goes on by itself.";
const DO_NOT_PAY_AGAIN = "Do not pay a second time.";

/** What is said of a payment that has not ended. */
export const UNDERWAY: TextsOf<"requires_action" | "processing"> = {
  "requires_action.not_opened": {
    sentence: (s) => `No wallet has been offered a way to pay ${inWords(s.due)} yet. ${NOTHING}`,
    actor: "buyer",
    nextStep: (s) => `Open the payment and choose how to pay before ${timeInWords(s.until)}.`,
  },
  "requires_action.options_served": {
    sentence: (s) =>
      `A wallet was offered ${counted(s.options, "way")} to pay ${inWords(s.due)} and has not answered yet. ${NOTHING}`,
    actor: "buyer",
    nextStep: (s) => `Approve one of them in the wallet before ${timeInWords(s.until)}.`,
  },
  "requires_action.window_closing": {
    sentence: (s) =>
      `The time to pay ${inWords(s.due)} is nearly over, and ${s.options === 0 ? "no wallet has been offered a way to pay yet" : "the wallet has not answered yet"}. ${NOTHING}`,
    actor: "buyer",
    nextStep: (s) => `Approve the payment in the wallet before ${timeInWords(s.until)}.`,
  },
  "requires_action.window_over": {
    sentence: (s) =>
      `The time to pay ${inWords(s.due)} is over, and the service is about to close the payment. ${NOTHING}`,
    actor: "service",
    nextStep: BY_ITSELF,
  },
  "requires_action.close_overdue": {
    sentence: (s) =>
      `The time to pay ${inWords(s.due)} ended at ${timeInWords(s.until)}, but the service has not closed the payment. ${NOTHING}`,
    actor: "operator",
    nextStep: () => "Check that the worker is running.",
  },
  "requires_action.push_handed_out": {
    sentence: (s) =>
      `A wallet was given a transfer of ${inWords(s.pays)} to send, and the network has not shown it yet. Nothing has been received.`,
    actor: "buyer",
    nextStep: (s) => `Send the transfer from the wallet before ${timeInWords(s.until)}.`,
  },
  "requires_action.push_claimed": {
    sentence: (s) =>
      `The wallet says that it sent ${inWords(s.pays)}, but the network does not know the transfer yet. Nothing has been received.`,
    actor: "buyer",
    nextStep: () => `Look in the wallet whether the transfer was sent. ${DO_NOT_PAY_AGAIN}`,
  },
  "requires_action.push_known": {
    sentence: (s) =>
      `The network knows the wallet's transfer of ${inWords(s.pays)} and has not confirmed it yet.`,
    actor: "nobody",
    nextStep: () => `Wait until the network has confirmed it. ${DO_NOT_PAY_AGAIN}`,
  },
  "requires_action.push_awaited": {
    sentence: (s) =>
      `The time to pay is over, but a transfer of ${inWords(s.pays)} that a wallet was given still counts until ${timeInWords(s.until)}. Nothing has been received.`,
    actor: "service",
    nextStep: () =>
      "Wait: the service closes the payment once the network shows that nothing came.",
  },
  "processing.accepted": {
    sentence: (s) =>
      `The buyer approved ${inWords(s.pays)}, and the service is about to send the transfer. Nothing was taken yet.`,
    actor: "service",
    nextStep: BY_ITSELF,
  },
  "processing.waiting_for_allowance": {
    sentence: (s) =>
      `The buyer approved ${inWords(s.pays)}, and the service waits until the network shows the wallet's permission to take it. Nothing was taken yet.`,
    actor: "buyer",
    nextStep: (s) =>
      `Confirm the permission in the wallet before ${timeInWords(s.until)}, and keep the money there.`,
  },
  "processing.queued": {
    sentence: (s) =>
      `The buyer approved ${inWords(s.pays)}, and the transfer waits behind ${counted(s.ahead, "earlier transfer")} of the service. Nothing was taken yet.`,
    actor: "service",
    nextStep: BY_ITSELF,
  },
  "processing.being_sent": {
    sentence: (s) =>
      `The buyer approved ${inWords(s.pays)}, and the service is sending the transfer to the network. Nothing was taken yet.`,
    actor: "service",
    nextStep: BY_ITSELF,
  },
  "processing.sent": {
    sentence: (s) =>
      `The transfer of ${inWords(s.pays)} was sent to the network, which has not confirmed it yet.`,
    actor: "nobody",
    nextStep: () => `Wait until the network has confirmed it. ${DO_NOT_PAY_AGAIN}`,
  },
  "processing.fee_too_low": {
    sentence: (s) =>
      `The transfer of ${inWords(s.pays)} takes longer than usual on the network, so the service sends it again with a higher fee; it can only be taken once.`,
    actor: "service",
    nextStep: () => `Wait until the network has confirmed it. ${DO_NOT_PAY_AGAIN}`,
  },
  "processing.fee_above_limit": {
    sentence: (s) =>
      `The transfer of ${inWords(s.pays)} was sent, but the network has not taken it and the service does not raise its fee any further.`,
    actor: "operator",
    nextStep: () =>
      "Check the network's fees and that the sending key has money for them. The buyer need not do anything.",
  },
  "processing.no_gas_money": {
    sentence: (s) =>
      `The buyer approved ${inWords(s.pays)}, but the key that sends the transfer has too little money for the fees of ${s.network}. It can only be taken once.`,
    actor: "operator",
    nextStep: (s) =>
      `Fund ${s.signer} on ${s.network}; the service then goes on by itself. The buyer need not do anything.`,
  },
  "processing.confirming": {
    sentence: (s) =>
      `The transfer of ${inWords(s.pays)} was seen on the network and is being confirmed: ${progressInWords(s.progress)}.`,
    actor: "nobody",
    nextStep: () => `Wait until it is confirmed. ${DO_NOT_PAY_AGAIN}`,
  },
  "processing.refused_once": {
    sentence: (s) =>
      `The network refused the transfer of ${inWords(s.pays)}, and the service tries once more. Nothing was taken.`,
    actor: "service",
    nextStep: () => "Keep the money in the wallet; the service tries by itself.",
  },
  "processing.refused_for_good": {
    sentence: (s) =>
      `The network refused transfers of this account more than once, so the one of ${inWords(s.pays)} is not sent again; the payment ends once the approval has lapsed at ${timeInWords(s.until)}. Nothing was taken.`,
    actor: "nobody",
    nextStep: () => "Wait until the payment has ended before paying in another way.",
  },
  "processing.vanished": {
    sentence: (s) =>
      `The network showed the transfer of ${inWords(s.pays)} and took it back; the service looks for it again.`,
    actor: "service",
    nextStep: () => `Wait: most such transfers come back within minutes. ${DO_NOT_PAY_AGAIN}`,
  },
  "processing.deadline_near": {
    sentence: (s) =>
      `The buyer's approval of ${inWords(s.pays)} lapses at ${timeInWords(s.until)}, and the network has not shown the transfer. Nothing was taken so far.`,
    actor: "operator",
    nextStep: () => "Check that the worker is running and that its keys have money for fees.",
  },
  "processing.deadline_over": {
    sentence: (s) =>
      `The buyer's approval of ${inWords(s.pays)} lapsed at ${timeInWords(s.until)}; the payment ends once the network proves that nothing was taken.`,
    actor: "nobody",
    nextStep: () => "Wait until the payment has ended before paying in another way.",
  },
  "processing.network_silent": {
    sentence: (s) =>
      `The buyer approved ${inWords(s.pays)}, but the service ${silence(s.since, s.network)} and cannot tell yet whether it was taken. It cannot be taken twice.`,
    actor: "operator",
    nextStep: (s) =>
      `Check that the worker is running and that the nodes of ${s.network} answer. The buyer must not pay again.`,
  },
};
