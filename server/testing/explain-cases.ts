import type { ExceptionKind } from "#server/domain/payment/evidence.ts";
import type { PaymentFacts } from "#server/domain/payment/facts.ts";
import type { Code } from "#server/domain/payment/situation.ts";
import type { FailureCode, PaymentEventType } from "#server/domain/payment/state.ts";
import type { Surroundings } from "#server/domain/payment/surroundings.ts";

/** Unix seconds of every case. */
export const NOW = 1_800_000_000;
export const CHAIN = "eip155:31337";
const ASSET = `${CHAIN}/erc20:0x01`;
export const TX = `0x${"7".repeat(64)}`;

/** A server with one chain and one token. */
export const AROUND: Surroundings = {
  token: (asset) =>
    asset === ASSET ? { symbol: "USDC", decimals: 6, network: "Local chain" } : null,
  chain: (caip2) =>
    caip2 === CHAIN ? { name: "Local chain", pollMs: 1_000, stuckAfterS: 20 } : null,
  maxInFlight: 64,
  maxReverts: 2,
  maxPayerReverts: 4,
  batchEveryS: 3_600,
};

/** What the buyer paid in every case. */
export const paid = { asset: ASSET, minor: 12_500_000n };
/** A payment nobody has touched. */
export const EMPTY: PaymentFacts = {
  now: NOW,
  status: "requires_action",
  version: 0,
  flow: "intermediary",
  unit: "iso4217/USD",
  minor: 1_250n,
  createdAt: NOW - 60,
  expiresAt: NOW + 840,
  failureCode: null,
  cause: null,
  optionsServed: 0,
  push: null,
  option: null,
  attempt: null,
  intent: null,
  arrival: null,
  chain: { chain: CHAIN, latest: 100n, safe: 60n, finalized: 25n, heardAt: NOW },
  inFlight: 0,
  capture: null,
  settlement: null,
  refunds: [],
  exceptions: [],
};

/** What differs from an untouched payment. */
export type Patch = Partial<PaymentFacts>;
export const OPTION: NonNullable<PaymentFacts["option"]> = {
  ...paid,
  chain: CHAIN,
  approves: false,
  deadline: NOW + 1_000,
  depth: { confirmations: 6 },
};
const INTENT: NonNullable<PaymentFacts["intent"]> = {
  state: "broadcast",
  txId: TX,
  minedBlock: null,
  firstTxAt: NOW - 5,
  newestTxAt: NOW - 5,
  ahead: 0,
  gasShort: null,
};
const GAS_SHORT = { signer: `0x${"5".repeat(40)}`, chain: CHAIN };
const SETTLEMENT: NonNullable<PaymentFacts["settlement"]> = {
  asset: ASSET,
  minor: 12_450_000n,
  state: "pending",
  schedule: "instant",
  detail: null,
  txId: null,
  hold: null,
  gasShort: null,
  batchSince: NOW,
};

const PUSH: NonNullable<PaymentFacts["push"]> = { ...paid, creditedUntil: NOW + 1_200, tx: null };
const pushed = (push: Partial<typeof PUSH> = {}, patch: Patch = {}): Patch => ({
  push: { ...PUSH, ...push },
  ...patch,
});
const processing = (patch: Patch = {}): Patch => ({
  status: "processing",
  option: OPTION,
  attempt: { reverts: 0, payerReverts: 0 },
  ...patch,
});
export const succeeded = (patch: Patch = {}): Patch => ({
  status: "succeeded",
  option: OPTION,
  capture: { ...paid, status: "finalized", txId: TX },
  ...patch,
});
const settling = (settlement: Partial<typeof SETTLEMENT>): Patch =>
  succeeded({ settlement: { ...SETTLEMENT, ...settlement } });
const refunded = (minor: bigint): Patch =>
  succeeded({
    settlement: { ...SETTLEMENT, state: "final", txId: TX },
    refunds: [{ asset: ASSET, minor, state: "succeeded" }],
  });
const failed = (type: PaymentEventType | null, failureCode: FailureCode | null): Patch => ({
  status: "failed",
  failureCode,
  cause: type === null ? null : { type, reason: "2 results for 1 actions" },
});
export const stray = (kind: ExceptionKind, open = true) => ({ ...paid, kind, txId: TX, open });

/** What the database must say for each case; a case nobody can reach does not compile into this table. */
export const REACHED: Record<Code, Patch> = {
  "requires_action.not_opened": {},
  "requires_action.options_served": { optionsServed: 3 },
  "requires_action.window_closing": { optionsServed: 1, expiresAt: NOW + 15 },
  "requires_action.window_over": { expiresAt: NOW - 1 },
  "requires_action.close_overdue": { expiresAt: NOW - 600 },
  "requires_action.push_handed_out": pushed(),
  "requires_action.push_claimed": pushed({ tx: { txId: TX, state: "claimed" } }),
  "requires_action.push_known": pushed({ tx: { txId: TX, state: "known" } }),
  "requires_action.push_awaited": pushed({}, { expiresAt: NOW - 600 }),
  "processing.accepted": processing(),
  "processing.waiting_for_allowance": processing({ option: { ...OPTION, approves: true } }),
  "processing.queued": processing({ intent: { ...INTENT, ahead: 2 } }),
  "processing.being_sent": processing({ intent: { ...INTENT, state: "signed" } }),
  "processing.sent": processing({ intent: INTENT }),
  "processing.fee_too_low": processing({ intent: { ...INTENT, firstTxAt: NOW - 30 } }),
  "processing.fee_above_limit": processing({
    intent: { ...INTENT, firstTxAt: NOW - 90, newestTxAt: NOW - 70 },
  }),
  "processing.no_gas_money": processing({
    option: { ...OPTION, deadline: NOW + 60 },
    intent: { ...INTENT, ahead: 2, newestTxAt: NOW - 70, gasShort: GAS_SHORT },
  }),
  "processing.confirming": processing({ intent: { ...INTENT, state: "mined", minedBlock: 99n } }),
  "processing.refused_once": processing({ attempt: { reverts: 1, payerReverts: 1 } }),
  "processing.refused_for_good": processing({ attempt: { reverts: 2, payerReverts: 2 } }),
  "processing.vanished": processing({ attempt: null }),
  "processing.deadline_near": processing({ option: { ...OPTION, deadline: NOW + 60 } }),
  "processing.deadline_over": processing({ option: { ...OPTION, deadline: NOW - 1 } }),
  "processing.network_silent": processing({ chain: null }),
  "succeeded.waiting_for_finality": succeeded({
    capture: { ...paid, status: "confirmed", txId: TX },
  }),
  "succeeded.settlement_pending": settling({}),
  "succeeded.settlement_batched": settling({ schedule: "batched" }),
  "succeeded.settlement_held": settling({ hold: { reason: "looked at" } }),
  "succeeded.settlement_blocked": settling({ state: "blocked", detail: "it would revert" }),
  "succeeded.settlement_sent": settling({ state: "sent" }),
  "succeeded.settlement_no_gas_money": settling({ state: "sent", gasShort: GAS_SHORT }),
  "succeeded.settlement_network_silent": { ...settling({ state: "sent" }), chain: null },
  "succeeded.settled": settling({ state: "final", txId: TX }),
  "succeeded.nothing_to_settle": succeeded(),
  "succeeded.direct": succeeded({ flow: "direct" }),
  "succeeded.refunded_partly": refunded(1_000_000n),
  "succeeded.refunded_wholly": refunded(12_500_000n),
  "succeeded.orphaned": succeeded({ capture: { ...paid, status: "orphaned", txId: TX } }),
  "failed.declined": failed(null, "declined_user"),
  "failed.misaligned": failed("results_misaligned", null),
  "failed.authorization_expired": failed("authorization_expired", "authorization_expired"),
  "failed.authorization_cancelled": failed("authorization_cancelled", "broadcast_failed"),
  "failed.authorization_misused": failed("authorization_misused", "broadcast_failed"),
  "failed.broadcast_failed": failed(null, "broadcast_failed"),
  "failed.internal_error": failed(null, "internal_error"),
  "expired.unpaid": { status: "expired" },
  "expired.paid_late": { status: "expired", exceptions: [stray("late")] },
  "expired.paid_inexactly": { status: "expired", exceptions: [stray("short")] },
  "expired.stray_money_resolved": { status: "expired", exceptions: [stray("late", false)] },
  "cancelled.by_merchant": {
    status: "cancelled",
    cause: { type: "cancelled_by_merchant", reason: null },
  },
  "cancelled.by_wallet": {
    status: "cancelled",
    cause: { type: "cancelled_by_wallet", reason: null },
  },
};
