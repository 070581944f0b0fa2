import { expect, test } from "vitest";
import { mayArrive, nextStep, type Step } from "./flow.ts";
import {
  ACCOUNTS,
  APPROVE_OPTION,
  ETH_OPTION,
  FOUND,
  NOW_S,
  PAID,
  SIGN_OPTION,
  VIEW,
  WALLET,
} from "./gallery/fixtures.ts";
import { galleryScreen } from "./gallery/states.ts";
import { inLastQuarter, STATES, screenOf, secondsLeft } from "./state.ts";

const idle: Step = { at: "idle", notice: null };
const choosing: Step = {
  at: "choosing",
  wallet: WALLET,
  accounts: ACCOUNTS,
  found: FOUND,
  chosen: SIGN_OPTION.id,
};
const paying = { wallet: WALLET, accounts: ACCOUNTS, found: FOUND, option: SIGN_OPTION, index: 0 };
const shown = (step: Step, change: Partial<Parameters<typeof screenOf>[0]> = {}) =>
  screenOf({ view: VIEW, step, offline: false, rejected: false, nowMs: NOW_S * 1000, ...change })
    .state;
const afterEnd = (VIEW.expiresAt + 1) * 1000;

// Guarantee: there are 28 screens, and each can be reached.
test("every state has circumstances that lead to it", () => {
  expect(STATES).toHaveLength(28);
  for (const state of STATES) expect(galleryScreen(state).screen.state).toBe(state);
});

// Guarantee: what the server says of a payment wins over anything this page is in the middle of.
test("the server's word wins", () => {
  const view = {
    ...VIEW,
    stage: "cancelled" as const,
    status: "cancelled" as const,
    isFinal: true,
  };
  for (const step of [idle, choosing, { at: "handing_in", ...paying } as const])
    expect(shown(step, { view })).toBe("cancelled");
});

// Guarantee: being offline is said while it matters, and never takes a final screen away.
test("offline", () => {
  const done = {
    ...VIEW,
    stage: "succeeded" as const,
    status: "succeeded" as const,
    isFinal: true,
  };
  expect(shown(choosing, { offline: true })).toBe("offline");
  expect(shown(idle, { offline: true, view: { ...done, paid: PAID } })).toBe("succeeded");
  expect(shown(idle, { offline: true, view: null })).toBe("offline");
});

// Guarantee: what a wallet has sent is never hidden behind a payment that closed; what it was only asked for is.
test("sent to a closed payment", () => {
  const view = { ...VIEW, stage: "cancelled", status: "cancelled", isFinal: true } as const;
  const option = ETH_OPTION;
  expect(option.steps.at(-1)?.kind).toBe("send");
  const sent: Step = { at: "handing_in", ...paying, option };
  expect(shown(sent, { view })).toBe("expired_paid");
  expect(shown({ at: "sent_late" }, { view })).toBe("expired_paid");
  const ask = { kind: "send", to: null } as const;
  const asking = { at: "asking", ...paying, option, ask, switching: false, shown: true } as const;
  expect(shown(asking, { view })).toBe("cancelled");
  expect(mayArrive(sent)).toBe(true);
  expect(mayArrive({ at: "unsure", ...paying, option })).toBe(true);
  expect(mayArrive(asking)).toBe(true);
  for (const change of [{ shown: false }, { switching: true }, { ask: { ...ask, kind: "sign" } }])
    expect(mayArrive({ ...asking, ...change } as Step)).toBe(false);
  expect(mayArrive({ at: "handing_in", ...paying })).toBe(false);
});

// Guarantee: the page's own clock ends nothing that may be on its way, and everything else in time.
test("the clock ends only what has not left the page", () => {
  const ask = { kind: "sign", to: null } as const;
  for (const step of [
    idle,
    choosing,
    { at: "asking", ...paying, ask, switching: false, shown: true } as const,
  ])
    expect(shown(step, { nowMs: afterEnd })).toBe("expired_unpaid");
  const sending = {
    at: "asking",
    ...paying,
    ask: { kind: "send", to: null },
    switching: false,
    shown: true,
  } as const;
  for (const step of [
    sending,
    { at: "handing_in", ...paying } as const,
    { at: "unsure", ...paying } as const,
  ])
    expect(shown(step, { nowMs: afterEnd })).toBe("in_wallet");
  expect(shown({ at: "handed_in" }, { nowMs: afterEnd })).toBe("submitted");
});

// Guarantee: the clock is quiet for three quarters of the time.
test("the last quarter", () => {
  const open = VIEW.expiresAt - VIEW.createdAt;
  const at = (left: number) => (VIEW.expiresAt - left) * 1000;
  expect(inLastQuarter(VIEW, at(open / 4 + 1))).toBe(false);
  expect(inLastQuarter(VIEW, at(open / 4))).toBe(true);
  expect(secondsLeft(VIEW, afterEnd)).toBe(0);
  expect(shown(idle, { nowMs: at(10) })).toBe("nearly_expired");
  expect(shown(choosing, { nowMs: at(10) })).toBe("nearly_expired");
});

// Guarantee: too little money does not shut the way to pay the whole.
test("a payment that is still due can be paid", () => {
  const view = { ...VIEW, stage: "still_due" as const };
  expect(shown(idle, { view })).toBe("still_due");
  expect(shown(choosing, { view })).toBe("options");
});

// Guarantee: a form comes before an allowance, an allowance before the payment, and each only where it is needed.
test("the way to pay", () => {
  const pay = (option: typeof SIGN_OPTION) => nextStep(choosing, { type: "pay", option });
  expect(pay(SIGN_OPTION).at).toBe("asking");
  expect(pay(APPROVE_OPTION).at).toBe("information");
  expect(nextStep(pay(APPROVE_OPTION), { type: "information_given" }).at).toBe("approval");
  expect(nextStep(pay({ ...SIGN_OPTION, needsData: true }), { type: "information_given" }).at).toBe(
    "asking",
  );
});

// Guarantee: a refusal is no failure: the same option stands ready, and so do the others.
test("refused and tried again", () => {
  const ask = { kind: "sign", to: null } as const;
  const asking = nextStep(choosing, { type: "pay", option: SIGN_OPTION });
  const refused = nextStep(asking, { type: "refused", why: "refused", switching: false });
  expect(refused).toMatchObject({ at: "refused", option: SIGN_OPTION });
  expect(nextStep(refused, { type: "ask", index: 0, ask, switching: false, shown: true }).at).toBe(
    "asking",
  );
  expect(nextStep(refused, { type: "back" })).toEqual(choosing);
});

// Guarantee: back exists before something was handed in and never after.
test("no way back after handing in", () => {
  const handing: Step = { at: "handing_in", ...paying };
  expect(nextStep(handing, { type: "back" })).toBe(handing);
  expect(nextStep(handing, { type: "wallet_gone" })).toBe(handing);
  const done = nextStep(handing, { type: "handed_in" });
  for (const event of [
    { type: "back" },
    { type: "wallet_gone" },
    { type: "connect", wallet: WALLET },
  ] as const)
    expect(nextStep(done, event)).toBe(done);
});

// Guarantee: another amount is shown beside the old one and has to be accepted; the same amount is not asked about again.
test("a new quote", () => {
  const dearer = { ...ETH_OPTION, id: "opt_new", money: { ...ETH_OPTION.money, value: "9" } };
  const same = { ...ETH_OPTION, id: "opt_new" };
  const looking: Step = { ...choosing, chosen: ETH_OPTION.id };
  const found = (option: typeof ETH_OPTION) => ({
    options: [SIGN_OPTION, option],
    unavailable: [],
  });
  expect(nextStep(looking, { type: "found", found: found(dearer) })).toMatchObject({
    at: "requoted",
    was: ETH_OPTION.money,
    option: dearer,
  });
  expect(nextStep(looking, { type: "found", found: found(same) })).toMatchObject({
    at: "choosing",
    chosen: "opt_new",
  });
  expect(
    nextStep(looking, { type: "found", found: { options: [SIGN_OPTION], unavailable: [] } }),
  ).toMatchObject({ at: "choosing", chosen: SIGN_OPTION.id });
  const asked = nextStep(looking, { type: "pay", option: ETH_OPTION });
  expect(nextStep(asked, { type: "requoted", found: found(dearer) })).toMatchObject({
    at: "requoted",
  });
});

// Guarantee: other accounts of the wallet are looked up, and nothing of the old ones is kept.
test("the wallet shows another account", () => {
  expect(nextStep(choosing, { type: "connected", accounts: ["eip155:1:0x2"] })).toEqual({
    at: "finding",
    wallet: WALLET,
    accounts: ["eip155:1:0x2"],
    failed: false,
  });
});

// Guarantee: what comes too late for where the buyer stands changes nothing.
test("late events", () => {
  expect(nextStep(idle, { type: "connected", accounts: ACCOUNTS })).toBe(idle);
  expect(nextStep(idle, { type: "found", found: FOUND })).toBe(idle);
  const handing: Step = { at: "handing_in", ...paying };
  expect(nextStep(handing, { type: "found", found: FOUND })).toBe(handing);
});
