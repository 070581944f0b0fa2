import type { Issue } from "./gateway-error.ts";
import type { Amount, PaymentOption, PaymentStatus } from "./shapes.ts";
import type { Submission } from "./submission.ts";

/**
 * Hash of the transfer that this wallet broadcast itself; null: it broadcast none. Where the payment ended without it, the money is on
 * its way all the same: it arrives, and the shop is told.
 */
type Sent = { sent: string | null };

/** How paying ended. Everything a user can meet is a variant here; only defects and aborts throw. */
export type Outcome =
  /** `txId` is null when the service did not name it; `earlier`: it was paid before this attempt. */
  | ({ kind: "succeeded"; txId: string | null; paid: Amount | null; earlier: boolean } & Sent)
  /** Submitted and alive, but not final when the time to wait was over. */
  | { kind: "processing"; status: PaymentStatus }
  | ({ kind: "failed"; failureCode: string | null } & Sent)
  /** The payment's window closed. */
  | ({ kind: "expired"; startOver: "new_link" } & Sent)
  | ({ kind: "cancelled" } & Sent)
  /** The option's price or route is no longer valid; the payment itself may still be open. */
  | { kind: "quote_expired"; startOver: "same_link" }
  | Refused
  | { kind: "no_option"; reason: NoOptionReason }
  | { kind: "data_needed"; option: PaymentOption; url: string; schema: unknown }
  /** The service gave no usable answer before anything was submitted; `status` null: there was no answer at all. */
  | { kind: "unavailable"; message: string; status: number | null }
  /**
   * Something was submitted and nobody could say what became of it. Not a failure: paying again before
   * this is known may pay twice. `transactions` are the hashes this wallet broadcast; `submission` is what `awaitOutcome` takes to hand
   * it in once more, null where there is nothing to hand in.
   */
  | {
      kind: "unknown";
      lastStatus: PaymentStatus | null;
      message: string;
      transactions: string[];
      submission: Submission | null;
    };

/** Nothing was paid: the service (`code`, `requestId` and `issues` are its own) or the wallet said no. */
export type Refused = {
  kind: "refused";
  by: "service" | "wallet";
  message: string;
  code: string | null;
  requestId: string | null;
  issues: Issue[];
  /** Null: trying again needs a change; else the pause after which the same may work. */
  retryAfterMs: number | null;
};

/** `none_offered`: no account can pay; `not_executable`: no executor for what was asked; `none_chosen`: the user left. */
export type NoOptionReason = "none_offered" | "not_executable" | "none_chosen";

const NO_OPTION: Record<NoOptionReason, string> = {
  none_offered:
    "None of these accounts can pay: insufficient funds in the accepted assets, no supported network, or money for it is on its way already.",
  not_executable: "This wallet cannot execute what the remaining options ask for.",
  none_chosen: "No option was chosen; nothing was paid.",
};

/** What happened, and what to do where nothing was sent. */
const ENDED = {
  failed: ["The payment failed.", "Start again from the shop."],
  expired: ["The payment expired before it was paid.", "Ask the shop for a new payment link."],
  cancelled: ["The payment was cancelled.", "Start again from the shop."],
} as const;

/** The end of a payment that took nothing, to somebody who may have sent money to it. */
function adviceForEnd({ kind, sent }: { kind: keyof typeof ENDED } & Sent): string {
  const [what, startOver] = ENDED[kind];
  if (sent === null) return `${what} ${startOver}`;
  return `${what} This wallet had sent ${sent}, which did not count for it any more. The money is not lost: the shop is told when it arrives, and accepts or returns it. Do not send it again.`;
}

/** Hashes are hexadecimal on the chains whose wallets broadcast themselves. */
const isOther = (sent: string | null, txId: string | null): boolean =>
  sent !== null && txId !== null && sent.toLowerCase() !== txId.toLowerCase();

/** One plain sentence or two for the user: what happened and what can be done now. */
export function adviceFor(outcome: Outcome): string {
  switch (outcome.kind) {
    case "succeeded":
      if (isOther(outcome.sent, outcome.txId))
        return `The payment succeeded by ${outcome.txId}, and this wallet had sent ${outcome.sent}. If the wallet shows both as done, the shop has the money twice and can return it.`;
      return outcome.earlier ? "This payment was already paid." : "The payment succeeded.";
    case "processing":
      return "The payment was submitted and is still being confirmed. Do not pay again; watch it.";
    case "failed":
    case "expired":
    case "cancelled":
      return adviceForEnd(outcome);
    case "quote_expired":
      return "The price of this option expired. Open the same link again for a fresh one.";
    case "refused":
      return outcome.by === "wallet"
        ? `Nothing was paid: ${outcome.message}`
        : `The payment service refused: ${outcome.message}`;
    case "no_option":
      return NO_OPTION[outcome.reason];
    case "data_needed":
      return "The shop must know who pays. Fill in the form, then pay again.";
    case "unavailable":
      return `${outcome.message} This attempt submitted nothing; try again later.`;
    case "unknown":
      return "It is not known whether the payment went through. Do not pay again: watch the payment, and ask the shop if it stays open.";
  }
}
