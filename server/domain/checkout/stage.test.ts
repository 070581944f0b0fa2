import { expect, test } from "vitest";
import type { ExceptionKind } from "#server/domain/payment/evidence.ts";
import { TEXTS } from "#server/domain/payment/explain.ts";
import type { Code } from "#server/domain/payment/situation.ts";
import { type BuyerStage, buyerStage, type StageFacts, slowAfterS } from "./stage.ts";

const NOW = 1_000_000;
const paid = (agoS: number, etaS = 5) => ({ acceptedAt: NOW - agoS, etaS });
const stage = (code: Code, more: Partial<StageFacts> = {}): BuyerStage =>
  buyerStage({ code, now: NOW, paid: null, open: [], isSent: false, refunded: false, ...more });

// Guarantee: each situation of an undisturbed payment has one screen, by its code alone.
test("undisturbed payments", () => {
  const stages = Object.fromEntries(
    (Object.keys(TEXTS) as Code[]).map((code) => [code, stage(code, { paid: paid(1) })]),
  );
  const of = (wanted: BuyerStage) => Object.keys(stages).filter((code) => stages[code] === wanted);
  expect(of("ready")).toEqual([
    "requires_action.not_opened",
    "requires_action.options_served",
    "requires_action.window_closing",
    "requires_action.push_handed_out",
  ]);
  expect(of("confirming")).toEqual(["processing.confirming"]);
  expect(of("slow").toSorted()).toEqual([
    "processing.deadline_near",
    "processing.deadline_over",
    "processing.fee_above_limit",
    "processing.network_silent",
    "processing.no_gas_money",
    "processing.refused_for_good",
    "processing.refused_once",
    "processing.vanished",
    "requires_action.push_awaited",
  ]);
  const others = Object.entries(stages).filter(
    ([code]) => !code.startsWith("requires_action.") && !code.startsWith("processing."),
  );
  for (const [code, found] of others) {
    const status = code.split(".")[0] ?? "";
    expect([code, found]).toEqual([code, status === "expired" ? "expired_unpaid" : status]);
  }
  expect(of("still_due")).toEqual([]);
  expect(of("overpaid")).toEqual([]);
  expect(of("refunded")).toEqual([]);
});

// Guarantee: a payment is slow only once it took twice its usual time, and never less than 20 s longer.
test("slow", () => {
  expect(slowAfterS(1)).toBe(21);
  expect(slowAfterS(60)).toBe(120);
  for (const code of [
    "processing.sent",
    "processing.confirming",
    "requires_action.push_known",
    "requires_action.push_claimed",
  ] as const) {
    expect(stage(code, { paid: paid(25) }), code).not.toBe("slow");
    expect(stage(code, { paid: paid(26) }), code).toBe("slow");
  }
  expect(stage("processing.sent", { paid: null })).toBe("submitted");
});

// Guarantee: money that is not the payment changes the screen as long as nobody has dealt with it, and moves no status.
test.for([
  ["requires_action.options_served", "short", "still_due"],
  ["requires_action.options_served", "wrong_token", "still_due"],
  ["requires_action.options_served", "over", "overpaid"],
  ["requires_action.options_served", "late", "ready"],
  ["requires_action.window_over", "short", "still_due"],
  ["succeeded.settled", "double", "overpaid"],
  ["succeeded.settled", "over", "overpaid"],
  ["succeeded.settled", "orphaned", "succeeded"],
  ["succeeded.orphaned", "orphaned", "succeeded"],
  ["expired.paid_late", "late", "expired_paid"],
  ["expired.paid_inexactly", "short", "expired_paid"],
  ["expired.unpaid", "orphaned", "expired_unpaid"],
  ["cancelled.by_merchant", "late", "expired_paid"],
  ["cancelled.by_merchant", "orphaned", "cancelled"],
  ["failed.declined", "late", "expired_paid"],
  ["failed.declined", "unknown_outflow", "failed"],
  ["processing.sent", "short", "submitted"],
] as [Code, ExceptionKind, BuyerStage][])("%s with %s money is %s", ([code, kind, wanted]) => {
  expect(stage(code, { open: [kind] })).toBe(wanted);
});

// Guarantee: a refund is shown after success and nowhere else.
test("refunds", () => {
  expect(stage("succeeded.refunded_partly", { refunded: true })).toBe("refunded");
  expect(stage("succeeded.settled", { refunded: true, open: ["double"] })).toBe("refunded");
  expect(stage("failed.declined", { refunded: true })).toBe("failed");
});

// Guarantee: who sent the money while the payment closed is never told that nothing was charged, whether or not it has arrived.
test("sent while it closed", () => {
  for (const code of ["cancelled.by_merchant", "expired.unpaid", "failed.declined"] as const)
    expect(stage(code, { isSent: true }), code).toBe("expired_paid");
  expect(stage("requires_action.options_served", { isSent: true })).toBe("ready");
});
