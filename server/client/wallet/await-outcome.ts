import type { CollectedData, Output, PaymentClient } from "./client.ts";
import { GatewayError } from "./gateway-error.ts";
import type { Outcome } from "./outcome.ts";
import type { PaymentOption, Standing } from "./shapes.ts";
import { pause } from "./timers.ts";

/** What there is to confirm. */
export type Submission = {
  option: PaymentOption;
  outputs: Output[];
  collectedData?: CollectedData;
  /** Hashes the wallet broadcast. */
  transactions: string[];
  /** The last action was a broadcast: money may be on its way whatever the service answers. */
  moneyMayHaveMoved: boolean;
  /** After this instant (server's clock, ms) an unanswered confirm is not sent again, unless money may have moved. */
  deadlineMs: number;
};

/** How to wait; both ways of asking give the same answers. */
export type WaitSettings = {
  /** `status`: ask for the status once a confirm was answered; `confirm`: repeat the confirm. */
  pollBy: "status" | "confirm";
  /** Longest hold to ask the server for at each call. */
  maxPollMs: number;
  /** Longest wait in all, counted from the first confirm. */
  timeoutMs: number;
  signal?: AbortSignal | undefined;
  onStanding?: (standing: Standing) => void;
  /** A call went unanswered; the wait goes on. */
  onTrouble?: (trouble: GatewayError) => void;
};

const DEFAULT_POLL_MS = 1000;
const TROUBLE_PAUSE_MS = 2000;
/** 4xx answers that settle what became of a confirm that was sent before without an answer. */
const DECISIVE = new Set([400, 409, 410, 422]);

function outcomeOfFinal(standing: Standing, submission: Submission | null): Outcome {
  const { status, info, failureCode } = standing;
  const earlier = submission === null;
  switch (status) {
    case "succeeded":
      return {
        kind: "succeeded",
        txId: info?.txId ?? null,
        paid: info?.optionAmount ?? null,
        earlier,
      };
    case "failed":
      return { kind: "failed", failureCode };
    case "expired":
      return { kind: "expired", startOver: "new_link" };
    case "cancelled":
      return { kind: "cancelled" };
    default: {
      // The service calls a status final that is none: nothing to conclude from.
      const message = `The service calls "${status}" final.`;
      const transactions = submission?.transactions ?? [];
      return { kind: "unknown", lastStatus: status, message, transactions };
    }
  }
}

/** The outcome of a 4xx answer to a call that had no effect. */
export function outcomeOfRefusal(error: GatewayError): Outcome {
  if (error.status === 410) return { kind: "expired", startOver: "new_link" };
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
  /** The service will not take the confirm although money may have moved: its reason. */
  rejection: GatewayError | null;
  standing: Standing | null;
  trouble: GatewayError | null;
};

/** A 4xx answer to a confirm: the outcome, or null when only waiting can tell. */
function judgeRefusal(error: GatewayError, submission: Submission, wait: Wait): Outcome | null {
  if (wait.acknowledged) return null;
  if (submission.moneyMayHaveMoved) {
    if (error.status !== 429) wait.rejection = error;
    return null;
  }
  if (wait.unanswered && !DECISIVE.has(error.status ?? 0)) return null;
  return outcomeOfRefusal(error);
}

function outOfTime(wait: Wait, transactions: string[]): Outcome {
  const { acknowledged, standing, trouble, rejection } = wait;
  if (acknowledged && trouble === null && standing !== null)
    return { kind: "processing", status: standing.status };
  const message = (trouble ?? rejection)?.message ?? "There was no answer in time.";
  return { kind: "unknown", lastStatus: standing?.status ?? null, message, transactions };
}

function shouldConfirm(
  submission: Submission,
  wait: Wait,
  settings: WaitSettings,
  nowMs: number,
): boolean {
  if (wait.rejection !== null) return false;
  if (wait.acknowledged) return settings.pollBy === "confirm";
  return submission.moneyMayHaveMoved || nowMs < submission.deadlineMs;
}

/** Asks once; the outcome if that settles it, else null with `wait` brought up to date. */
async function askOnce(
  client: PaymentClient,
  submission: Submission | null,
  wait: Wait,
  settings: WaitSettings,
  hold: { maxPollMs: number; signal: AbortSignal },
): Promise<Outcome | null> {
  const confirming =
    submission !== null && shouldConfirm(submission, wait, settings, client.serverNow());
  try {
    const { option, outputs, collectedData } = submission ?? {};
    const standing =
      confirming && option !== undefined && outputs !== undefined
        ? await client.confirm(option, outputs, {
            ...hold,
            ...(collectedData === undefined ? {} : { collectedData }),
          })
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
    settings.onTrouble?.(error);
    return null;
  }
}

/**
 * Confirms (`submission` null: only watches) and waits for the end. A confirm without an answer is
 * repeated, which is safe, and lack of an answer never counts as a failure: it ends as `unknown`.
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
  };
  try {
    for (;;) {
      settings.signal?.throwIfAborted();
      const maxPollMs = Math.max(0, Math.min(settings.maxPollMs, endsAt - timers.now()));
      const hold = { maxPollMs, signal: stop.signal };
      const outcome = await askOnce(client, submission, wait, settings, hold);
      if (outcome !== null) return outcome;
      const pollMs = wait.standing?.pollInMs ?? DEFAULT_POLL_MS;
      await pause(timers, wait.trouble === null ? pollMs : TROUBLE_PAUSE_MS, stop.signal);
    }
  } catch (error) {
    settings.signal?.throwIfAborted();
    if (!stop.signal.aborted) throw error;
    return outOfTime(wait, submission?.transactions ?? []);
  } finally {
    callOff();
    settings.signal?.removeEventListener("abort", onAbort);
  }
}
