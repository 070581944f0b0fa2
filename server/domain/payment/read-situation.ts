import { currencyOfUnit } from "#server/domain/money/currencies.ts";
import type { DepthRule, Heads } from "./evidence.ts";
import type { ChosenOption, PaymentFacts } from "./facts.ts";
import { settlementSituation } from "./read-settlement.ts";
import type { Code, Money, Note, Progress, Situation, SituationOf } from "./situation.ts";
import type { FailureCode, PaymentEventType, PaymentStatus } from "./state.ts";
import { networkName, type Surroundings, silentSince, tokenMoney } from "./surroundings.ts";

/** Seconds before a deadline from which it is near. */
const NEAR_S = 120;
/** Longest last part of a payment's window that counts as its end; a quarter of it, if that is shorter. */
const CLOSING_S = 300;
/** Seconds a closed window may wait for the sweep that ends the payment. */
const CLOSE_WITHIN_S = 30;
/** Replacements come once per `stuckAfterS`; one that is this many times overdue was held back by its price. */
const HELD_BACK_TIMES = 3;
/** When a transaction counts as stuck on a chain that is not in the registry any more. */
const UNKNOWN_STUCK_S = 60;

type Of<S extends PaymentStatus> = SituationOf<Extract<Code, `${S}.${string}`>>;
type Failed = Extract<Code, `failed.${string}`>;
type Cancelled = Extract<Code, `cancelled.${string}`>;

const dueOf = ({ unit, minor }: PaymentFacts): Money => {
  const known = currencyOfUnit(unit);
  return { minor, decimals: known?.digits ?? 0, symbol: known?.code ?? unit, network: null };
};

/** How deep a block is under a rule; never beyond what was asked for. */
function progressOf(rule: DepthRule, block: bigint, heads: Heads): Progress {
  if ("tag" in rule) return rule;
  const have = heads.latest - block + 1n;
  const need = BigInt(rule.confirmations);
  return { have: have < 0n ? 0n : have > need ? need : have, need };
}

function pushSituation(facts: PaymentFacts, around: Surroundings): Of<"requires_action"> | null {
  if (facts.push === null) return null;
  const { tx, creditedUntil } = facts.push;
  const push = { due: dueOf(facts), pays: tokenMoney(facts.push, around) };
  if (tx !== null && tx.state !== "claimed")
    return { code: "requires_action.push_known", ...push, txId: tx.txId };
  if (facts.now >= facts.expiresAt)
    return { code: "requires_action.push_awaited", ...push, until: creditedUntil };
  if (tx !== null) return { code: "requires_action.push_claimed", ...push, txId: tx.txId };
  return { code: "requires_action.push_handed_out", ...push, until: facts.expiresAt };
}

function openSituation(facts: PaymentFacts, around: Surroundings): Of<"requires_action"> {
  const pushed = pushSituation(facts, around);
  if (pushed !== null) return pushed;
  const { now, expiresAt: until, createdAt, optionsServed: options } = facts;
  const due = dueOf(facts);
  if (now >= until)
    return now - until > CLOSE_WITHIN_S
      ? { code: "requires_action.close_overdue", due, until }
      : { code: "requires_action.window_over", due };
  if (until - now <= Math.min(CLOSING_S, (until - createdAt) / 4))
    return { code: "requires_action.window_closing", due, until, options };
  return options === 0
    ? { code: "requires_action.not_opened", due, until }
    : { code: "requires_action.options_served", due, until, options };
}

/** What the network shows of the transfer; null: nothing yet. */
function seenSituation(
  facts: PaymentFacts,
  option: ChosenOption,
  pays: Money,
): Of<"processing"> | null {
  const { arrival, intent, chain } = facts;
  const mined = intent?.state === "mined" || intent?.state === "final" ? intent : null;
  const block = arrival?.block ?? mined?.minedBlock ?? null;
  const txId = arrival?.txId ?? mined?.txId ?? null;
  if (block === null || txId === null || chain === null) return null;
  const progress = progressOf(option.depth, block, chain);
  return { code: "processing.confirming", due: dueOf(facts), pays, txId, progress };
}

/** Where our own transaction stands before it is mined; null: there is none. */
function sendingSituation(
  facts: PaymentFacts,
  option: ChosenOption,
  pays: Money,
  around: Surroundings,
): Of<"processing"> | null {
  const { intent } = facts;
  if (intent === null) return null;
  const approved = { due: dueOf(facts), pays };
  if (intent.gasShort !== null) {
    const { signer, chain } = intent.gasShort;
    return {
      code: "processing.no_gas_money",
      ...approved,
      signer,
      network: networkName(chain, around),
    };
  }
  if (intent.ahead > 0) return { code: "processing.queued", ...approved, ahead: intent.ahead };
  const { txId, firstTxAt, newestTxAt } = intent;
  if (intent.state === "signed" || txId === null || firstTxAt === null || newestTxAt === null)
    return { code: "processing.being_sent", ...approved };
  const stuck = around.chain(option.chain)?.stuckAfterS ?? UNKNOWN_STUCK_S;
  if (facts.now - newestTxAt > HELD_BACK_TIMES * stuck)
    return { code: "processing.fee_above_limit", ...approved, txId };
  if (newestTxAt > firstTxAt || facts.now - newestTxAt > stuck)
    return { code: "processing.fee_too_low", ...approved, txId };
  return { code: "processing.sent", ...approved, txId };
}

/** Why nothing was sent yet. */
function waitingSituation(
  facts: PaymentFacts,
  option: ChosenOption,
  pays: Money,
  around: Surroundings,
): Of<"processing"> {
  const approved = { due: dueOf(facts), pays };
  const until = option.deadline;
  const { reverts, payerReverts } = facts.attempt ?? { reverts: 0, payerReverts: 0 };
  if (reverts >= around.maxReverts || payerReverts >= around.maxPayerReverts)
    return { code: "processing.refused_for_good", ...approved, until };
  if (until - facts.now <= NEAR_S) return { code: "processing.deadline_near", ...approved, until };
  if (reverts > 0) return { code: "processing.refused_once", ...approved };
  if (facts.inFlight >= around.maxInFlight)
    return { code: "processing.queued", ...approved, ahead: facts.inFlight };
  if (option.approves) return { code: "processing.waiting_for_allowance", ...approved, until };
  return { code: "processing.accepted", ...approved };
}

function processingSituation(facts: PaymentFacts, around: Surroundings): Of<"processing"> {
  const due = dueOf(facts);
  const { option } = facts;
  if (option === null) return { code: "processing.vanished", due, pays: due };
  const pays = tokenMoney(option, around);
  const since = silentSince(facts, option.chain, around);
  if (since !== false) {
    const network = networkName(option.chain, around);
    return { code: "processing.network_silent", due, pays, network, since };
  }
  const seen = seenSituation(facts, option, pays);
  if (seen !== null) return seen;
  const until = option.deadline;
  if (facts.attempt === null && facts.intent === null)
    return { code: "processing.vanished", due, pays };
  if (facts.now > until) return { code: "processing.deadline_over", due, pays, until };
  const sending = sendingSituation(facts, option, pays, around);
  if (sending === null) return waitingSituation(facts, option, pays, around);
  // A key without money has one remedy, which is worth more than the hurry.
  return until - facts.now <= NEAR_S && sending.code !== "processing.no_gas_money"
    ? { code: "processing.deadline_near", due, pays, until }
    : sending;
}

const FAILED_BY_CODE: Record<FailureCode, Failed> = {
  declined_user: "failed.declined",
  internal_error: "failed.internal_error",
  authorization_expired: "failed.authorization_expired",
  broadcast_failed: "failed.broadcast_failed",
};

/** The reason each event gives for an end without success; null: it is no such end, and the failure code alone speaks. */
const ENDED_BY: Record<PaymentEventType, Failed | Cancelled | null> = {
  confirm_accepted: null,
  evidence_seen: null,
  evidence_confirmed: null,
  window_closed: null,
  cancelled_by_merchant: "cancelled.by_merchant",
  cancelled_by_wallet: "cancelled.by_wallet",
  results_misaligned: "failed.misaligned",
  authorization_expired: "failed.authorization_expired",
  authorization_cancelled: "failed.authorization_cancelled",
  authorization_misused: "failed.authorization_misused",
};

const isFailed = (code: Failed | Cancelled): code is Failed => code.startsWith("failed.");

function failedSituation(facts: PaymentFacts): Of<"failed"> {
  const due = dueOf(facts);
  const cause = facts.cause === null ? null : ENDED_BY[facts.cause.type];
  const byCode =
    facts.failureCode === null ? "failed.internal_error" : FAILED_BY_CODE[facts.failureCode];
  const code = cause !== null && isFailed(cause) ? cause : byCode;
  return code === "failed.misaligned"
    ? { code, due, reason: facts.cause?.reason ?? null }
    : { code, due };
}

function expiredCode({ exceptions }: PaymentFacts): Of<"expired">["code"] {
  if (exceptions.length === 0) return "expired.unpaid";
  if (exceptions.every(({ open }) => !open)) return "expired.stray_money_resolved";
  return exceptions.some(({ kind, open }) => open && kind === "late")
    ? "expired.paid_late"
    : "expired.paid_inexactly";
}

const READERS: { [S in PaymentStatus]: (facts: PaymentFacts, around: Surroundings) => Of<S> } = {
  requires_action: openSituation,
  processing: processingSituation,
  succeeded: (facts, around) => settlementSituation(facts, around, dueOf(facts)),
  failed: failedSituation,
  expired: (facts) => ({ code: expiredCode(facts), due: dueOf(facts) }),
  cancelled: (facts) => ({
    code:
      facts.cause !== null && ENDED_BY[facts.cause.type] === "cancelled.by_wallet"
        ? "cancelled.by_wallet"
        : "cancelled.by_merchant",
    due: dueOf(facts),
  }),
};

/** The one situation these facts make; total, since every status has a reader and every reader an answer. */
export const readSituation = (facts: PaymentFacts, around: Surroundings): Situation =>
  READERS[facts.status](facts, around);

/** What there is to say beside `situation`: a note for each open exception and for each refund it does not tell of. */
export function readNotes(facts: PaymentFacts, around: Surroundings, situation: Situation): Note[] {
  const toldOf = situation.code.startsWith("succeeded.refunded_");
  const stray = facts.exceptions
    .filter(({ open }) => open)
    .map(
      (found): Note => ({
        code: `exception.${found.kind}`,
        money: tokenMoney(found, around),
        txId: found.txId,
      }),
    );
  const refunds = facts.refunds
    .filter(({ state }) => !(toldOf && state === "succeeded"))
    .map(
      (refund): Note => ({
        code: `refund.${refund.state}`,
        refunded: tokenMoney(refund, around),
      }),
    );
  return [...stray, ...refunds];
}
