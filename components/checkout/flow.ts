import type { WalletFailure, WalletInfo } from "#components/wallet/kit.ts";
import type { CheckoutOption, CheckoutOptions, ShownMoney } from "#server/contract/checkout.ts";
import { isSentByWallet } from "./results.ts";

/** A wallet that gave its accounts (CAIP-10 on every network of the payment). */
type Connected = { wallet: WalletInfo; accounts: string[] };
/** What can be paid with, and which of it the buyer looks at. */
type Found = Connected & { found: CheckoutOptions };
/** One option being paid; `index` counts the steps of the option from 0. */
export type Paying = Found & { option: CheckoutOption; index: number };

/** What a wallet is being asked for; `to` is the account or contract it should name, where one is named. */
export type Ask = {
  kind: "prove" | "reset_allowance" | "approve" | "sign" | "send";
  to: string | null;
};

/** Why the server did not take what a wallet gave: it does not hold, or its time on the network was nearly over. */
export type Rejection = "signature" | "lapsed";

/** Whether it was given, and not taken. */
export const isRejection = (why: Refusal): why is Rejection =>
  why === "signature" || why === "lapsed";

/** Why nothing was asked or given; `server`: the calls of the payment could not be had. */
export type Refusal = WalletFailure | Rejection | "server";

/** Where the buyer stands before something was handed in. Nothing of it is kept by the server. */
export type Step =
  | { at: "idle"; notice: "wallet_gone" | "other_tab" | null }
  | { at: "connecting"; wallet: WalletInfo; failed: WalletFailure | null }
  | ({ at: "finding"; failed: boolean } & Connected)
  | ({ at: "choosing"; chosen: string | null } & Found)
  | ({ at: "information" } & Paying)
  | ({ at: "approval" } & Paying)
  /** `shown`: the wallet has it; before that its calls are still fetched. */
  | ({ at: "asking"; ask: Ask; switching: boolean; shown: boolean; again?: true } & Paying)
  | ({ at: "approved"; txUrl: string | null } & Paying)
  | ({ at: "handing_in" } & Paying)
  | ({ at: "unsure" } & Paying)
  | ({ at: "refused"; why: Refusal; switching: boolean } & Paying)
  | ({ at: "requoted"; was: ShownMoney } & Paying)
  /** The wallet sent the money, and the payment had closed meanwhile. */
  | { at: "sent_late" }
  | { at: "handed_in" }
  | { at: "blocked" }
  | { at: "too_late" };

export type StepAt<A extends Step["at"]> = Extract<Step, { at: A }>;

/** What happens: clicks of the buyer, answers of the wallet and of the server. */
export type FlowEvent =
  | { type: "connect"; wallet: WalletInfo }
  | { type: "connect_failed"; why: WalletFailure }
  | { type: "connected"; accounts: string[] }
  | { type: "find" }
  | { type: "find_failed" }
  | { type: "found"; found: CheckoutOptions }
  | { type: "pick"; optionId: string }
  | { type: "pay"; option: CheckoutOption }
  | { type: "information_given" }
  | { type: "ask"; index: number; ask: Ask; switching: boolean; shown: boolean }
  | { type: "approved"; index: number; txUrl: string | null }
  | { type: "refused"; why: Refusal; switching: boolean }
  | { type: "unsure" }
  | { type: "hand_in" }
  | { type: "handed_in" }
  | { type: "sent_late" }
  | { type: "requoted"; found: CheckoutOptions; why?: Rejection | undefined }
  | { type: "again"; found: CheckoutOptions; option: CheckoutOption }
  | { type: "blocked" }
  | { type: "too_late" }
  | { type: "wallet_gone" }
  | { type: "other_tab"; busy: boolean }
  | { type: "back" };

export const START: Step = { at: "idle", notice: null };

/** Whether an option asks for an allowance before the payment itself. */
export const needsApproval = (option: CheckoutOption): boolean =>
  option.steps.some(({ kind }) => kind === "approve");

/** The same asset of the same account among other options. */
export const sameWay = (options: CheckoutOption[], { account, money }: CheckoutOption) =>
  options.find((one) => one.account === account && one.money.asset === money.asset);

/** The option a newcomer to the list is shown first. */
const first = (found: CheckoutOptions) => found.options[0]?.id ?? null;

/** Where an option begins: what must be known, then what must be allowed, then the payment itself. */
function begin(paying: Paying): Step {
  const { option } = paying;
  if (option.needsData) return { at: "information", ...paying };
  if (needsApproval(option)) return { at: "approval", ...paying };
  const kind = option.steps[0]?.kind ?? "sign";
  return { at: "asking", ...paying, ask: { kind, to: null }, switching: false, shown: false };
}

function requote(from: Paying, found: CheckoutOptions, why?: Rejection): Step {
  const { wallet, accounts, option, index } = from;
  const now = sameWay(found.options, option);
  const isSame = now === undefined || now.money.value === option.money.value;
  if (isSame && why !== undefined) {
    const place = { option: now ?? option, index: now?.id === option.id ? index : 0 };
    return { at: "refused", wallet, accounts, found, ...place, why, switching: false };
  }
  if (isSame) return { at: "choosing", wallet, accounts, found, chosen: now?.id ?? first(found) };
  return { at: "requoted", wallet, accounts, found, option: now, index: 0, was: option.money };
}

/** A list that was read again while the buyer looked at it keeps the choice, and says so if its amount is another one. */
function renewed(step: StepAt<"choosing">, found: CheckoutOptions): Step {
  const old = step.found.options.find(({ id }) => id === step.chosen);
  if (old !== undefined) return requote({ ...step, option: old, index: 0 }, found);
  return { ...step, found, chosen: first(found) };
}

const connected = ({ wallet, accounts }: Connected): Connected => ({ wallet, accounts });
const paying = (step: Paying): Paying => ({
  ...connected(step),
  found: step.found,
  option: step.option,
  index: step.index,
});

/** Whether a wallet is being asked to send, and may do so at any moment. */
export const isSending = (step: Step): boolean =>
  step.at === "asking" && step.shown && step.ask.kind === "send" && !step.switching;

/** Whether the wallet has sent the money, and the server may not know of it yet. */
export const isSent = (step: Step): boolean =>
  step.at === "sent_late" || (step.at === "handing_in" && isSentByWallet(step.option));

/** Whether money may reach the payment by a wallet's own sending, whatever becomes of the payment meanwhile. */
export const mayArrive = (step: Step): boolean =>
  isSending(step) || isSent(step) || step.at === "unsure";

/** Whether what the wallet gave is on its way, and nothing on this page can take it back. */
const isOut = ({ at }: Step): boolean => at === "handing_in" || at === "sent_late";

/** Back leads to the ways to pay, and from there to the wallets; nowhere once something was handed in. */
function back(step: Step): Step {
  if (isOut(step)) return step;
  if ("option" in step) {
    const { found, option } = step;
    const chosen = found.options.some(({ id }) => id === option.id) ? option.id : first(found);
    return { at: "choosing", ...connected(step), found, chosen };
  }
  return "wallet" in step ? START : step;
}

function whileFinding(step: Step & Connected, event: FlowEvent): Step {
  switch (event.type) {
    case "connected":
      return { at: "finding", wallet: step.wallet, accounts: event.accounts, failed: false };
    case "find":
      return { at: "finding", ...connected(step), failed: false };
    case "find_failed":
      return step.at === "finding" ? { ...step, failed: true } : step;
    case "found":
      if (step.at === "choosing") return renewed(step, event.found);
      return { at: "choosing", ...connected(step), found: event.found, chosen: first(event.found) };
    default:
      return step;
  }
}

function whileChoosing(step: StepAt<"choosing">, event: FlowEvent): Step {
  if (event.type === "pick") return { ...step, chosen: event.optionId };
  if (event.type !== "pay") return whileFinding(step, event);
  return begin({ ...connected(step), found: step.found, option: event.option, index: 0 });
}

function whilePaying(step: Step & Paying, event: FlowEvent): Step {
  const same = paying(step);
  switch (event.type) {
    case "pay":
      return begin({ ...same, option: event.option, index: 0 });
    case "information_given":
      return begin({ ...same, option: { ...same.option, needsData: false } });
    case "ask":
      return {
        at: "asking",
        ...same,
        index: event.index,
        ask: event.ask,
        switching: event.switching,
        shown: event.shown,
        ...(step.at === "asking" && step.again ? { again: true } : {}),
      };
    case "approved":
      return { at: "approved", ...same, index: event.index, txUrl: event.txUrl };
    case "refused":
      return { at: "refused", ...same, why: event.why, switching: event.switching };
    case "unsure":
      return { at: "unsure", ...same };
    case "hand_in":
      return { at: "handing_in", ...same };
    case "requoted":
      return requote(same, event.found, event.why);
    case "again": {
      const anew = begin({ ...same, found: event.found, option: event.option, index: 0 });
      return anew.at === "asking" ? { ...anew, again: true } : anew;
    }
    case "found":
      return step.at === "handing_in" ? step : whileFinding(step, event);
    default:
      return step;
  }
}

/** Ends of the road; the reader of the live status takes over from here. */
function ended(event: FlowEvent): Step | null {
  switch (event.type) {
    case "handed_in":
      return { at: "handed_in" };
    case "sent_late":
      return { at: "sent_late" };
    case "blocked":
      return { at: "blocked" };
    case "too_late":
      return { at: "too_late" };
    case "wallet_gone":
      return { at: "idle", notice: "wallet_gone" };
    default:
      return null;
  }
}

/** The step after `event`; events that come too late for the step leave it as it is. */
export function nextStep(step: Step, event: FlowEvent): Step {
  if (step.at === "handed_in" || step.at === "blocked" || step.at === "too_late") return step;
  const end = ended(event);
  // A wallet that leaves while its results are on the way takes nothing back.
  if (end !== null) return end.at === "idle" && isOut(step) ? step : end;
  if (event.type === "back") return back(step);
  if (event.type === "connect") return { at: "connecting", wallet: event.wallet, failed: null };
  if (
    event.type === "other_tab" &&
    (step.at === "idle" || (step.at === "connecting" && event.busy))
  )
    return { at: "idle", notice: event.busy ? "other_tab" : null };
  if (step.at === "connecting") {
    if (event.type === "connected")
      return { at: "finding", wallet: step.wallet, accounts: event.accounts, failed: false };
    return event.type === "connect_failed" ? { ...step, failed: event.why } : step;
  }
  if ("option" in step) return whilePaying(step, event);
  if (step.at === "choosing") return whileChoosing(step, event);
  return step.at === "finding" ? whileFinding(step, event) : step;
}
