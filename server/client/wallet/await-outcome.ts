import type { PaymentClient } from "./client.ts";
import { GatewayError } from "./gateway-error.ts";
import type { Outcome } from "./outcome.ts";
import type { Standing } from "./shapes.ts";
import type { Submission } from "./submission.ts";
import { pause, stopIfAborted } from "./timers.ts";

/** How to wait; both ways of asking give the same answers. */
export type WaitSettings = {
  /** `status`: ask for the status once a confirm was answered; `confirm`: repeat the confirm, as is done too where there is no status to ask for. */
  pollBy: "status" | "confirm";
  /** Longest hold to ask the server for at each call. */
  maxPollMs: number;
  /** Longest wait in all, counted from the first confirm. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onStanding?: (standing: Standing) => void;
  /** A call gave no usable answer; the wait goes on. */
  onTrouble?: (trouble: GatewayError) => void;
};

const DEFAULT_POLL_MS = 1000;
const TROUBLE_PAUSE_MS = 2000;
/** However long a service asks to be left alone. */
const LONGEST_PAUSE_MS = 60_000;
/** 4xx answers that settle what became of a confirm that was sent before without an answer. */
const DECISIVE = new Set([400, 409, 410, 422]);

/** The transfer the wallet broadcast itself; null: none. */
const sentBy = (submission: Submission | null): string | null =>
  submission?.moneyMayHaveMoved === true ? (submission.transactions.at(-1) ?? null) : null;

function outcomeOfFinal(standing: Standing, submission: Submission | null): Outcome {
  const { status, info, failureCode } = standing;
  const earlier = submission === null;
  const sent = sentBy(submission);
  switch (status) {
    case "succeeded":
      return {
        kind: "succeeded",
        txId: info?.txId ?? null,
        paid: info?.optionAmount ?? null,
        earlier,
        sent,
      };
    case "failed":
      return { kind: "failed", failureCode, sent };
    case "expired":
      return { kind: "expired", startOver: "new_link", sent };
    case "cancelled":
      return { kind: "cancelled", sent };
    default: {
      // The service calls a status final that is none: nothing to conclude from.
      const message = `The service calls "${status}" final.`;
      const transactions = submission?.transactions ?? [];
      return { kind: "unknown", lastStatus: status, message, transactions, submission };
    }
  }
}

/** The outcome of a 4xx answer to a call that had no effect. */
export function outcomeOfRefusal(error: GatewayError): Outcome {
  if (error.status === 410) return { kind: "expired", startOver: "new_link", sent: null };
  if (error.status === 409) return { kind: "quote_expired", startOver: "same_link" };
  const { message, code, requestId, issues, retryAfterMs } = error;
  return { kind: "refused", by: "service", message, code, requestId, issues, retryAfterMs };
}

/** What is known while waiting. */
type Wait = {
  /** A confirm was answered with 200, or there is none to send. */
  acknowledged: boolean;
  /** A confirm was sent and its answer never arrived. */
  unanswered: boolean;
  /** The service will not take the confirm although something may have come of it: its reason. */
  rejection: GatewayError | null;
  pollBy: WaitSettings["pollBy"];
  standing: Standing | null;
  trouble: GatewayError | null;
};

/** A 4xx answer to a confirm: the outcome, or null when only waiting can tell. */
function judgeRefusal(error: GatewayError, submission: Submission, wait: Wait): Outcome | null {
  if (wait.acknowledged) return null;
  wait.unanswered ||= error.afterLoss;
  const isOpen = wait.unanswered && !DECISIVE.has(error.status ?? 0);
  if (!isOpen && !submission.moneyMayHaveMoved) return outcomeOfRefusal(error);
  // What is refused is not sent again, unless it only came too often; the status tells what became of it.
  if (error.status !== 429) wait.rejection = error;
  return null;
}

function outOfTime(wait: Wait, submission: Submission | null): Outcome {
  const { acknowledged, standing, trouble, rejection } = wait;
  if (acknowledged && trouble === null && standing !== null)
    return { kind: "processing", status: standing.status };
  const message = (trouble ?? rejection)?.message ?? "There was no answer in time.";
  const transactions = submission?.transactions ?? [];
  return {
    kind: "unknown",
    lastStatus: standing?.status ?? null,
    message,
    transactions,
    submission,
  };
}

function shouldConfirm(submission: Submission, wait: Wait, nowMs: number): boolean {
  if (wait.rejection !== null) return false;
  if (wait.acknowledged) return wait.pollBy === "confirm";
  return submission.moneyMayHaveMoved || nowMs < submission.deadlineMs;
}

/** Confirms. What was taken, or sent by the wallet itself, may be handed in after the deadline too. */
function handIn(
  client: PaymentClient,
  { option, outputs, collectedData, moneyMayHaveMoved, deadlineMs }: Submission,
  acknowledged: boolean,
  hold: { maxPollMs?: number; signal?: AbortSignal },
): Promise<Standing> {
  return client.confirm(option, outputs, {
    ...hold,
    ...(collectedData === undefined ? {} : { collectedData }),
    notAfterMs: moneyMayHaveMoved || acknowledged ? undefined : deadlineMs,
  });
}

/** Asks once; the outcome if that settles it, else null with `wait` brought up to date. */
async function askOnce(
  client: PaymentClient,
  submission: Submission | null,
  wait: Wait,
  settings: WaitSettings,
  hold: { maxPollMs: number; signal: AbortSignal },
): Promise<Outcome | null> {
  const confirming = submission !== null && shouldConfirm(submission, wait, client.serverNow());
  try {
    const standing = confirming
      ? await handIn(client, submission, wait.acknowledged, hold)
      : await client.getStatus(hold);
    wait.acknowledged ||= confirming;
    wait.standing = standing;
    wait.trouble = null;
    settings.onStanding?.(standing);
    return standing.isFinal ? outcomeOfFinal(standing, submission) : null;
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    wait.trouble = error;
    if (confirming && error.kind === "refused") {
      const outcome = judgeRefusal(error, submission, wait);
      if (outcome !== null) return outcome;
    }
    if (confirming && error.kind !== "refused") wait.unanswered = true;
    // Not every service has a status to ask for; a confirm that was taken can be repeated at all of them.
    if (!confirming && error.status === 404) wait.pollBy = "confirm";
    settings.onTrouble?.(error);
    return null;
  }
}

/**
 * Confirms (`submission` null: only watches) and waits for the end. A confirm without an answer is
 * repeated, which is safe, and lack of an answer never counts as a failure: it ends as `unknown`. Aborting
 * ends the wait at once, but for one call: a transfer that the wallet broadcast is still told to the service.
 */
export async function awaitOutcome(
  client: PaymentClient,
  submission: Submission | null,
  settings: WaitSettings,
): Promise<Outcome> {
  const { timers } = client;
  const endsAt = timers.now() + settings.timeoutMs;
  const stop = new AbortController();
  const onAbort = () => stop.abort(settings.signal?.reason);
  settings.signal?.addEventListener("abort", onAbort, { once: true });
  const callOff = timers.after(settings.timeoutMs, () => stop.abort());
  const wait: Wait = {
    acknowledged: submission === null,
    unanswered: false,
    rejection: null,
    standing: null,
    trouble: null,
    pollBy: settings.pollBy,
  };
  try {
    for (;;) {
      stopIfAborted(settings.signal);
      const maxPollMs = Math.max(0, Math.min(settings.maxPollMs, endsAt - timers.now()));
      const hold = { maxPollMs, signal: stop.signal };
      const outcome = await askOnce(client, submission, wait, settings, hold);
      if (outcome !== null) return outcome;
      const pollMs = wait.standing?.pollInMs ?? DEFAULT_POLL_MS;
      const { trouble } = wait;
      const askedMs = Math.min(trouble?.retryAfterMs ?? 0, LONGEST_PAUSE_MS);
      const pauseMs = trouble === null ? pollMs : Math.max(TROUBLE_PAUSE_MS, askedMs);
      await pause(timers, pauseMs, stop.signal);
    }
  } catch (error) {
    const isUntold = submission?.moneyMayHaveMoved === true && !wait.acknowledged;
    if (settings.signal?.aborted && isUntold && wait.rejection === null)
      await handIn(client, submission, false, {}).catch(() => undefined);
    stopIfAborted(settings.signal);
    if (!stop.signal.aborted) throw error;
    return outOfTime(wait, submission);
  } finally {
    callOff();
    settings.signal?.removeEventListener("abort", onAbort);
  }
}
