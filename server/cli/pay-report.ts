import type { GatewayError } from "#server/client/wallet/gateway-error.ts";
import { adviceFor, type Outcome } from "#server/client/wallet/outcome.ts";
import type { Progress } from "#server/client/wallet/pay.ts";
import type { PaymentDetails, PaymentOption } from "#server/client/wallet/shapes.ts";
import { actionInWords, amountInWords, optionTable, paymentInWords } from "./pay-words.ts";
import { plain } from "./plain.ts";
import type { Sandbox } from "./sandbox-file.ts";

/** Where the payment of one command stands; `--json` prints it whole. */
export type Story = {
  paymentId: string | null;
  status: string | null;
  payment: PaymentDetails | null;
  options: PaymentOption[];
  option: PaymentOption | null;
  /** Executed actions with what they gave. */
  actions: { chainId: string; method: string; output: unknown }[];
};

/** Before anything happened. */
export const emptyStory = (): Story => ({
  paymentId: null,
  status: null,
  payment: null,
  options: [],
  option: null,
  actions: [],
});

/** Writes a step of the flow into the story. */
export function tell(story: Story, progress: Progress): void {
  switch (progress.kind) {
    case "options":
      story.payment = progress.payment;
      story.status = progress.payment.status;
      story.options = progress.options;
      break;
    case "option":
      story.option = progress.option;
      break;
    case "action_done": {
      const { chainId, method } = progress.action;
      story.actions.push({ chainId, method, output: progress.output });
      break;
    }
    case "standing":
      story.status = progress.standing.status;
      break;
    default:
      break;
  }
}

const troubleInWords = (trouble: GatewayError): string =>
  `  no usable answer (${plain(trouble.message)}), asking again until there is one`;

const outputInWords = (output: unknown): string => {
  const text = typeof output === "string" ? output : JSON.stringify(output);
  return text.length > 70 ? `${text.slice(0, 42)}…${text.slice(-8)}` : text;
};

/** The lines a step prints; `before` is the status shown last. */
export function progressInWords(
  sandbox: Sandbox,
  story: Story,
  progress: Progress,
  before: string | null,
  nowMs: number,
): string[] {
  switch (progress.kind) {
    case "options": {
      const lines = [paymentInWords(story.paymentId ?? "", progress.payment, nowMs)];
      if (progress.options.length > 0) lines.push("", optionTable(progress.options, nowMs), "");
      if (progress.payment.status === "processing")
        lines.push("It was submitted before; waiting …");
      return lines;
    }
    case "option": {
      const number = story.options.findIndex(({ id }) => id === progress.option.id) + 1;
      return [
        `Option ${number}: ${amountInWords(progress.option.amount)} from ${plain(progress.option.account)}`,
      ];
    }
    case "action_started":
      return [
        `  ${progress.index + 1}/${progress.total} ${actionInWords(sandbox, progress.action)}`,
      ];
    case "action_done":
      return [`      ${outputInWords(progress.output)}`];
    case "confirming":
      return ["Confirming …"];
    case "standing":
      return progress.standing.status === before ? [] : [`  ${progress.standing.status}`];
    case "trouble":
      return [troubleInWords(progress.trouble)];
  }
}

/** 0 paid, 2 refused, expired or nothing to pay with, 1 anything else; money on its way to a payment that ended is something else. */
export function exitCodeOf(outcome: Outcome): number {
  const { kind } = outcome;
  if (kind === "succeeded") return 0;
  if (kind === "expired") return outcome.sent === null ? 2 : 1;
  return ["refused", "quote_expired", "no_option"].includes(kind) ? 2 : 1;
}

/** What others say, as a sentence of its own. */
const sentence = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`);

/** What happened and what can be done now, in whole sentences. */
export const adviceInWords = (outcome: Outcome): string =>
  adviceFor(
    outcome.kind === "unavailable" ? { ...outcome, message: sentence(outcome.message) } : outcome,
  );

/** The last lines: how it ended and what can be done. */
export function outcomeInWords(outcome: Outcome): string[] {
  const lines = [plain(adviceInWords(outcome))];
  if (outcome.kind === "succeeded" && outcome.txId !== null)
    lines.push(`Transaction ${plain(outcome.txId)}`);
  if (outcome.kind === "refused") {
    if (outcome.code !== null) lines.push(`Code ${plain(outcome.code)}`);
    for (const { path, message } of outcome.issues) lines.push(plain(`  ${path}: ${message}`));
    if (outcome.requestId !== null) lines.push(`Request ${plain(outcome.requestId)}`);
  }
  if (outcome.kind === "data_needed") lines.push(`Form: ${plain(outcome.url)}`);
  if (outcome.kind === "failed" && outcome.failureCode !== null)
    lines.push(`Failure code ${plain(outcome.failureCode)}`);
  if (outcome.kind === "unknown") {
    lines.push(`Last trouble: ${plain(outcome.message)}`);
    for (const hash of outcome.transactions) lines.push(`Sent transaction ${plain(hash)}`);
  }
  return lines;
}
