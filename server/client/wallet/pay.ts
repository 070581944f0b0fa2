import { awaitOutcome, outcomeOfRefusal, type WaitSettings } from "./await-outcome.ts";
import type { CollectedData, Output, PaymentClient } from "./client.ts";
import { type DataNeed, dataNeed } from "./collect-data.ts";
import {
  broadcasts,
  type ExecutionContext,
  type Executor,
  type Executors,
  executorOf,
  isDeclined,
  isExecutable,
  MaybeSent,
} from "./executors.ts";
import { createExpiryWatch, type ExpiryWatch } from "./expiry-watch.ts";
import { GatewayError } from "./gateway-error.ts";
import type { NoOptionReason, Outcome } from "./outcome.ts";
import type { PaymentDetails, PaymentOption, Standing, WalletRpc } from "./shapes.ts";
import type { Submission } from "./submission.ts";
import { stopIfAborted } from "./timers.ts";

/** What the wallet did about a data request. */
export type DataAnswer =
  /** The page reported `IC_COMPLETE`: the service has the data. */
  | { kind: "submitted" }
  /** The wallet's own form; sent with the confirm. */
  | { kind: "fields"; fields: CollectedData["fields"] }
  | { kind: "declined" };

/** Steps of the flow, for a wallet that shows them. */
export type Progress =
  | { kind: "options"; payment: PaymentDetails; options: PaymentOption[] }
  | { kind: "option"; option: PaymentOption }
  | { kind: "action_started"; action: WalletRpc; index: number; total: number }
  | { kind: "action_done"; action: WalletRpc; index: number; total: number; output: Output }
  | { kind: "confirming" }
  | { kind: "standing"; standing: Standing }
  | { kind: "trouble"; trouble: GatewayError };

/** Everything a wallet hands in to pay; only the first four are needed. */
export type PaySettings = {
  client: PaymentClient;
  /** CAIP-10; all the user has. */
  accounts: string[];
  executors: Executors;
  /** Gets the options this wallet can execute, never none; null: the user left. */
  chooseOption: (
    options: PaymentOption[],
    payment: PaymentDetails,
  ) => Promise<PaymentOption | null> | PaymentOption | null;
  /** Without it, an option that needs data ends as `data_needed`. */
  collectData?: (need: {
    option: PaymentOption;
    url: string;
    schema: unknown;
  }) => Promise<DataAnswer>;
  /** What this and `onProgress` throw is dropped: a display must not keep a payment from being handed in. */
  onExpiryWarning?: (secondsLeft: number) => void;
  /** Seconds left at which to warn; 120 and 10 by default. */
  warnAtSeconds?: readonly number[];
  onProgress?: (progress: Progress) => void;
  pollBy?: WaitSettings["pollBy"];
  /** Longest hold of one call while waiting for the end; 20 s by default. */
  maxPollMs?: number;
  /** Longest wait for the end; 10 minutes by default. */
  timeoutMs?: number;
  /** Aborting rejects with the signal's reason; what was submitted by then stays submitted, and a transfer the wallet broadcast is told to the service before. */
  signal?: AbortSignal;
};

/** What it takes to follow a payment. */
export type WatchSettings = Pick<
  PaySettings,
  "client" | "onProgress" | "pollBy" | "maxPollMs" | "timeoutMs" | "signal"
>;

const WARN_AT_SECONDS = [120, 10];
const MAX_POLL_MS = 20_000;
const TIMEOUT_MS = 10 * 60_000;

/** A step's fruit, or the outcome that ends the flow there. */
type Step<T> = { kind: "go"; value: T } | { kind: "end"; outcome: Outcome };

const go = <T>(value: T): Step<T> => ({ kind: "go", value });
const end = (outcome: Outcome): Step<never> => ({ kind: "end", outcome });
const noOption = (reason: NoOptionReason): Step<never> => end({ kind: "no_option", reason });

const refusedByWallet = (message: string): Outcome => ({
  kind: "refused",
  by: "wallet",
  message,
  code: null,
  requestId: null,
  issues: [],
  retryAfterMs: null,
});

/** The chosen option, and the instant (server's clock, ms) after which it must not be submitted. */
type Chosen = {
  payment: PaymentDetails;
  option: PaymentOption;
  need: DataNeed;
  deadlineMs: number;
};

/** Submission after expiry is prevented here, not left to the service. */
function endIfPast({ payment, option }: Chosen, client: PaymentClient): Step<null> {
  const nowMs = client.serverNow();
  if (nowMs >= payment.expiresAt * 1000)
    return end({ kind: "expired", startOver: "new_link", sent: null });
  if (option.expiresAt !== null && nowMs >= option.expiresAt * 1000)
    return end({ kind: "quote_expired", startOver: "same_link" });
  return go(null);
}

function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // Of what is shown nothing depends on it.
  }
}

const report = ({ onProgress }: WatchSettings, progress: Progress): void =>
  quietly(() => onProgress?.(progress));

function waitSettings(settings: WatchSettings): WaitSettings {
  const { signal } = settings;
  return {
    pollBy: settings.pollBy ?? "status",
    maxPollMs: settings.maxPollMs ?? MAX_POLL_MS,
    timeoutMs: settings.timeoutMs ?? TIMEOUT_MS,
    signal,
    onStanding: (standing) => report(settings, { kind: "standing", standing }),
    onTrouble: (trouble) => report(settings, { kind: "trouble", trouble }),
  };
}

/** An account in the one spelling to compare it by: addresses of EVM chains come in any case. */
const comparable = (caip10: string): string =>
  caip10.startsWith("eip155:") ? caip10.toLowerCase() : caip10;

/** Follows a payment to its end, or until the time is over, and pays nothing. */
export const watchPayment = (settings: WatchSettings): Promise<Outcome> =>
  awaitOutcome(settings.client, null, waitSettings(settings));

async function choose(settings: PaySettings, watch: ExpiryWatch): Promise<Step<Chosen>> {
  const { client, accounts, executors, signal } = settings;
  const answer = await client.getOptions(accounts, { includePaymentInfo: true, signal });
  const payment = answer.info ?? (await client.getPayment({ signal }));
  report(settings, { kind: "options", payment, options: answer.options });
  if (payment.status !== "requires_action") return end(await watchPayment(settings));
  watch.watch(payment.expiresAt);
  if (answer.options.length === 0) return noOption("none_offered");
  const own = new Set(accounts.map(comparable));
  const executable = answer.options.filter(
    ({ account, actions }) =>
      own.has(comparable(account)) && actions.every((action) => isExecutable(executors, action)),
  );
  if (executable.length === 0) return noOption("not_executable");
  const option = await settings.chooseOption(executable, payment);
  if (option === null) return noOption("none_chosen");
  const deadline = Math.min(payment.expiresAt, option.expiresAt ?? payment.expiresAt);
  watch.watch(deadline);
  report(settings, { kind: "option", option });
  const need = dataNeed(answer.collectData, option);
  return go({ payment, option, need, deadlineMs: deadline * 1000 });
}

/** The fields to send with the confirm; undefined where none are. */
async function collect(
  settings: PaySettings,
  { option, need }: Chosen,
): Promise<Step<CollectedData | undefined>> {
  if (need.kind !== "needed") return go(undefined);
  const { url, schema } = need;
  if (settings.collectData === undefined) return end({ kind: "data_needed", option, url, schema });
  const answer = await settings.collectData({ option, url, schema });
  if (answer.kind === "declined") return end(refusedByWallet("The form was not filled in."));
  return go(answer.kind === "fields" ? { fields: answer.fields } : undefined);
}

/** What a failed executor means; a broadcast that ended in an error may have happened all the same. */
function endOfAction(
  error: unknown,
  action: WalletRpc,
  isLast: boolean,
  outputs: Output[],
): Outcome {
  const message = error instanceof Error ? error.message : String(error);
  if (!isDeclined(error) && isLast && broadcasts(action))
    return { kind: "unknown", lastStatus: null, message, transactions: [], submission: null };
  const done = outputs.length === 0 ? "" : ` (${outputs.length} earlier actions were executed)`;
  return refusedByWallet(`${action.method}: ${message}${done}`);
}

/** Runs one action: its output, or the outcome that ends the flow. A transfer that may be out counts as one that is. */
async function runAction(
  run: Executor,
  action: WalletRpc,
  context: ExecutionContext,
  outputs: Output[],
): Promise<Step<Output>> {
  const isLast = context.index === context.total - 1;
  try {
    return go(await run(action.params, context));
  } catch (error) {
    if (error instanceof MaybeSent && isLast) return go(error.hash);
    stopIfAborted(context.signal);
    return end(endOfAction(error, action, isLast, outputs));
  }
}

/** Executes the actions one after the other; `outputs[i]` belongs to `actions[i]`. */
async function execute(
  settings: PaySettings,
  chosen: Chosen,
  actions: WalletRpc[],
): Promise<Step<Output[]>> {
  const { client, executors, signal } = settings;
  const total = actions.length;
  // Looked up before the first one runs: an approval without its signature is gas for nothing.
  const bound = actions.map((action) => ({ action, run: executorOf(executors, action) }));
  const outputs: Output[] = [];
  if (bound.some(({ run }) => run === null)) return noOption("not_executable");
  for (const [index, { action, run }] of bound.entries()) {
    stopIfAborted(signal);
    const past = endIfPast(chosen, client);
    if (past.kind === "end") return past;
    if (run === null) return noOption("not_executable");
    report(settings, { kind: "action_started", action, index, total });
    const { chainId } = action;
    const context = { chainId, account: chosen.option.account, index, total, signal };
    const ran = await runAction(run, action, context, outputs);
    if (ran.kind === "end") return ran;
    outputs.push(ran.value);
    report(settings, { kind: "action_done", action, index, total, output: ran.value });
  }
  return go(outputs);
}

/** What to confirm with these outputs, which are those of `actions`. */
function submissionOf(
  chosen: Chosen,
  actions: WalletRpc[],
  outputs: Output[],
  collectedData: CollectedData | undefined,
): Submission {
  const last = actions.at(-1);
  return {
    option: chosen.option,
    outputs,
    ...(collectedData === undefined ? {} : { collectedData }),
    transactions: outputs.filter((output, index): output is string => {
      const action = actions[index];
      return typeof output === "string" && action !== undefined && broadcasts(action);
    }),
    moneyMayHaveMoved: last !== undefined && broadcasts(last),
    deadlineMs: chosen.deadlineMs,
  };
}

/** A call that failed before anything was submitted. */
function outcomeOfTrouble(error: GatewayError): Outcome {
  if (error.kind === "refused") return outcomeOfRefusal(error);
  return { kind: "unavailable", message: error.message, status: error.status };
}

/**
 * Pays: options, the user's choice, data where the option needs it, the actions in order, confirm, and
 * the wait for the end. Expected ends are outcomes; it throws only what executors and callbacks leave no
 * name for, and the signal's reason. Paying the same link again after any outcome is safe except
 * after `processing` and `unknown`: those are watched, by `watchPayment`, until they are known.
 */
export async function pay(settings: PaySettings): Promise<Outcome> {
  const { client, signal } = settings;
  const watch = createExpiryWatch({
    timers: client.timers,
    serverNow: client.serverNow,
    warnAtSeconds: settings.warnAtSeconds ?? WARN_AT_SECONDS,
    onWarning: (secondsLeft) => quietly(() => settings.onExpiryWarning?.(secondsLeft)),
  });
  try {
    const chosen = await choose(settings, watch);
    if (chosen.kind === "end") return chosen.outcome;
    const collected = await collect(settings, chosen.value);
    if (collected.kind === "end") return collected.outcome;
    const beforeFetch = endIfPast(chosen.value, client);
    if (beforeFetch.kind === "end") return beforeFetch.outcome;
    const actions = await client.fetchActions(chosen.value.option, { signal });
    const executed = await execute(settings, chosen.value, actions);
    if (executed.kind === "end") return executed.outcome;
    const submission = submissionOf(chosen.value, actions, executed.value, collected.value);
    const beforeConfirm = endIfPast(chosen.value, client);
    if (beforeConfirm.kind === "end" && !submission.moneyMayHaveMoved) return beforeConfirm.outcome;
    watch.stop();
    report(settings, { kind: "confirming" });
    return await awaitOutcome(client, submission, waitSettings(settings));
  } catch (error) {
    if (error instanceof GatewayError) return outcomeOfTrouble(error);
    throw error;
  } finally {
    watch.stop();
  }
}
