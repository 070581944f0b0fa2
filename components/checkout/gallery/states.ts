import type { CheckoutView } from "#server/contract/checkout.ts";
import { type Paying, START, type Step } from "../flow.ts";
import { type Circumstances, type Screen, STATES, type StateName, screenOf } from "../state.ts";
import {
  ACCOUNTS,
  APPROVE_OPTION,
  CLOSED,
  CLOSING,
  DOUBLE_ARRIVAL,
  ETH_OPTION,
  FOUND,
  LATE_ARRIVAL,
  NONE_FOUND,
  NOW_S,
  OLD,
  OLD_PRICE,
  PAID,
  PAID_EARLY,
  PAID_OLD,
  PAYEE_ADDRESS,
  REFUND,
  SHORT_ARRIVAL,
  SIGN_OPTION,
  VIEW,
  WALLET,
} from "./fixtures.ts";

type Shown = Pick<Circumstances, "view" | "step"> & Partial<Circumstances>;

const paying = (option: Paying["option"]): Paying => ({
  wallet: WALLET,
  accounts: ACCOUNTS,
  found: FOUND,
  option,
  index: 0,
});
const view = (change: Partial<CheckoutView>): CheckoutView => ({ ...VIEW, ...change });
const open = (step: Step): Shown => ({ view: VIEW, step });
const at = (change: Partial<CheckoutView>): Shown => ({ view: view(change), step: START });
const processing = { status: "processing", paid: PAID } as const;
const final = (status: CheckoutView["status"]) => ({ status, isFinal: true }) as const;
const approve = paying({ ...APPROVE_OPTION, needsData: false });
const choosing: Step = {
  at: "choosing",
  wallet: WALLET,
  accounts: ACCOUNTS,
  found: FOUND,
  chosen: SIGN_OPTION.id,
};

/** What makes each screen appear, by the same function that decides it for a real payment. */
const SHOWN: Record<StateName, Shown> = {
  loading: { view: null, step: START },
  ready: open(START),
  connecting: open({ at: "connecting", wallet: WALLET, failed: null }),
  finding: open({ at: "finding", wallet: WALLET, accounts: ACCOUNTS, failed: false }),
  options: open(choosing),
  no_option: open({ ...choosing, found: NONE_FOUND, chosen: null }),
  information: open({ at: "information", ...paying(APPROVE_OPTION) }),
  information_rejected: {
    ...open({ at: "information", ...paying(APPROVE_OPTION) }),
    rejected: true,
  },
  approval: open({ at: "approval", ...approve }),
  approval_waiting: open({
    at: "approved",
    ...approve,
    txUrl: PAID.tx?.url ?? null,
  }),
  in_wallet: open({
    at: "asking",
    ...paying(SIGN_OPTION),
    ask: { kind: "sign", to: PAYEE_ADDRESS },
    switching: false,
    shown: true,
  }),
  refused: open({ at: "refused", ...paying(SIGN_OPTION), why: "refused", switching: false }),
  quote_changed: open({ at: "requoted", ...paying(ETH_OPTION), was: OLD_PRICE }),
  nearly_expired: {
    view: view(CLOSING),
    step: choosing,
  },
  submitted: at({
    stage: "submitted",
    ...processing,
    paid: { ...PAID, tx: null, receivedAt: null },
  }),
  confirming: at({ stage: "confirming", ...processing }),
  slow: at({ stage: "slow", ...processing, paid: PAID_EARLY }),
  still_due: at({ stage: "still_due", arrivals: [SHORT_ARRIVAL] }),
  overpaid: at({
    stage: "overpaid",
    ...final("succeeded"),
    paid: PAID,
    arrivals: [DOUBLE_ARRIVAL],
  }),
  succeeded: at({ stage: "succeeded", ...final("succeeded"), paid: PAID }),
  failed: at({
    stage: "failed",
    ...final("failed"),
    ...CLOSED,
    failureCode: "authorization_expired",
  }),
  expired_unpaid: at({
    stage: "expired_unpaid",
    ...final("expired"),
    ...CLOSED,
  }),
  expired_paid: at({
    stage: "expired_paid",
    ...final("expired"),
    ...CLOSED,
    arrivals: [LATE_ARRIVAL],
  }),
  cancelled: at({ stage: "cancelled", ...final("cancelled"), cancelledBy: "merchant" }),
  not_possible: open({ at: "blocked" }),
  offline: { ...open(choosing), offline: true },
  refunded: at({
    stage: "refunded",
    ...final("succeeded"),
    ...OLD,
    paid: PAID_OLD,
    refunds: [REFUND],
  }),
  unknown: { view: "missing", step: START },
};

/** What makes a payment of the gallery another one than usual. */
export type Variation = {
  /** Another name of the shop. */
  merchant: string | null;
  /** Whether an open payment is in its last quarter. */
  closing: boolean;
};
export const USUAL: Variation = { merchant: null, closing: false };

function varied(known: CheckoutView, { merchant, closing }: Variation): CheckoutView {
  const name = merchant ?? known.merchant.name;
  const times = closing && known.status === "requires_action" ? CLOSING : {};
  return { ...known, ...times, merchant: { ...known.merchant, name } };
}

/** What the page of a state is drawn from. */
export function galleryScreen(
  state: StateName,
  variation = USUAL,
): { screen: Screen; view: CheckoutView } {
  const shown = SHOWN[state];
  const known = shown.view === null || shown.view === "missing" ? VIEW : shown.view;
  const view = varied(known, variation);
  const screen = screenOf({
    offline: false,
    rejected: false,
    nowMs: NOW_S * 1000,
    ...shown,
    view: shown.view === known ? view : shown.view,
  });
  return { screen, view };
}

export const isState = (name: string): name is StateName =>
  (STATES as readonly string[]).includes(name);
