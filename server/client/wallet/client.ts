import { GatewayError } from "./gateway-error.ts";
import { isPaymentId } from "./payment-link.ts";
import {
  type Action,
  cancelShape,
  fetchShape,
  type Options,
  optionsShape,
  type PaymentDetails,
  type PaymentOption,
  type PaymentStatus,
  paymentShape,
  type Standing,
  standingShape,
  type WalletRpc,
} from "./shapes.ts";
import type { Timers } from "./timers.ts";
import { createTransport, type TransportSettings } from "./transport.ts";

/** What one action gave: a signature, a transaction hash, a signed transaction; objects pass as they are. */
export type Output = string | Record<string, unknown> | unknown[];

/** Answers of a form the wallet built from the schema; values are strings, a checkbox is `"true"`. */
export type CollectedData = { fields: { id: string; value: string }[] };

/** Any call can be aborted; it then rejects with the signal's reason. */
export type Abortable = { signal?: AbortSignal | undefined };

/** How long the server may hold the answer while nothing changes; 0 or absent: not at all. */
export type LongPoll = Abortable & { maxPollMs?: number };

/** The gateway calls of one payment. Every call throws `GatewayError` when it has no usable answer. */
export type PaymentClient = {
  paymentId: string;
  getPayment: (how?: Abortable) => Promise<PaymentDetails>;
  /** `accounts` are CAIP-10; pass all the user has, to be offered all there is. */
  getOptions: (
    accounts: string[],
    how?: Abortable & { includePaymentInfo?: boolean },
  ) => Promise<Options>;
  /** All calls of an option in the order to execute them: what fetch resolves stands where it was. */
  fetchActions: (
    option: Pick<PaymentOption, "id" | "actions">,
    how?: Abortable,
  ) => Promise<WalletRpc[]>;
  /** `outputs[i]` is what the i-th action of `fetchActions` gave. Repeating it is safe. */
  confirm: (
    option: Pick<PaymentOption, "id">,
    outputs: Output[],
    how?: LongPoll & {
      collectedData?: CollectedData;
      /** The instant (server's clock, ms) from which on an unanswered confirm is not sent again. */
      notAfterMs?: number | undefined;
    },
  ) => Promise<Standing>;
  getStatus: (how?: LongPoll) => Promise<Standing>;
  /** Possible only while nothing was submitted. */
  cancel: (how?: Abortable) => Promise<{ status: PaymentStatus }>;
  /** The server's clock in milliseconds. */
  serverNow: () => number;
  timers: Timers;
};

/** Fetch may answer with something to fetch again; more rounds than this is a loop. */
const MAX_FETCH_ROUNDS = 3;

const holdQuery = ({ maxPollMs = 0 }: LongPoll) =>
  maxPollMs > 0 ? { query: { maxPollMs: String(Math.floor(maxPollMs)) }, holdMs: maxPollMs } : {};

const unsupportedAction = (what: string) =>
  new GatewayError({ kind: "unreadable", message: `This wallet cannot execute ${what}.` });

/** Replaces everything but calls by what `resolve` makes of it, in place and in order. */
async function resolveActions(
  actions: Action[],
  resolve: (data: string) => Promise<Action[]>,
  rounds = MAX_FETCH_ROUNDS,
): Promise<WalletRpc[]> {
  const calls: WalletRpc[] = [];
  for (const action of actions) {
    if (action.type === "walletRpc") calls.push(action);
    else if (action.type === "unsupported")
      throw unsupportedAction(`actions of type ${action.name}`);
    else if (rounds === 0) throw unsupportedAction("an action that never resolves");
    else calls.push(...(await resolveActions(await resolve(action.data), resolve, rounds - 1)));
  }
  return calls;
}

/** Opens one payment for a wallet; sends nothing yet. Throws `TypeError` when the id is none. */
export function openPayment(settings: TransportSettings, paymentId: string): PaymentClient {
  if (!isPaymentId(paymentId)) throw new TypeError(`"${paymentId}" is not a payment id`);
  const { call, serverNow, timers } = createTransport(settings);
  const path = `/v1/gateway/payment/${paymentId}`;

  return {
    paymentId,
    serverNow,
    timers,
    getPayment: ({ signal } = {}) => call({ method: "GET", path, answer: paymentShape, signal }),
    getOptions: (accounts, { includePaymentInfo = false, signal } = {}) =>
      call({
        method: "POST",
        path: `${path}/options`,
        ...(includePaymentInfo ? { query: { includePaymentInfo: "true" } } : {}),
        body: { accounts },
        answer: optionsShape,
        signal,
      }),
    fetchActions: (option, { signal } = {}) => {
      const resolve = async (data: string) => {
        const body = { optionId: option.id, data };
        const answer = fetchShape;
        return (await call({ method: "POST", path: `${path}/fetch`, body, answer, signal }))
          .actions;
      };
      // No actions at all means: fetch them, with nothing to show for it.
      const known =
        option.actions.length > 0 ? option.actions : [{ type: "build", data: "" } as const];
      return resolveActions(known, resolve);
    },
    confirm: (option, outputs, { collectedData, notAfterMs, signal, ...hold } = {}) =>
      call({
        method: "POST",
        path: `${path}/confirm`,
        ...holdQuery(hold),
        body: {
          optionId: option.id,
          results: outputs.map((output) => ({ type: "walletRpc", data: [output] })),
          ...(collectedData === undefined ? {} : { collectedData }),
        },
        answer: standingShape,
        notAfterMs,
        signal,
      }),
    getStatus: ({ signal, ...hold } = {}) =>
      call({
        method: "GET",
        path: `${path}/status`,
        ...holdQuery(hold),
        answer: standingShape,
        signal,
      }),
    cancel: ({ signal } = {}) =>
      call({ method: "POST", path: `${path}/cancel`, body: {}, answer: cancelShape, signal }),
  };
}
