import { expect, test } from "vitest";
import { type EventStages, type EventTerms, eventPayload, NO_STAGES } from "./event-payload.ts";

const AT = "2026-11-21T21:00:00.000Z";
const TERMS: EventTerms = {
  id: "pay_1",
  merchantId: "mer_1",
  live: true,
  version: 2,
  referenceId: "order-1",
  status: "succeeded",
  unit: "iso4217/USD",
  minor: 1_000n,
  flow: "intermediary",
  feeBps: 33,
  feeFixedMinor: 7n,
  failureCode: null,
  createdAt: AT,
  expiresAt: AT,
};
const PAID: EventStages = {
  ...NO_STAGES,
  reached: { processing: AT, succeeded: AT },
  option: { asset: "eip155:1/erc20:0x01", amount: 9_999_999n, chain: "eip155:1", payer: "0x02" },
  txId: "0x03",
};
const created = { type: "created", body: { secret: "not for merchants" } };
const unit = "caip19/eip155:1/erc20:0x01";

// Guarantee: the fee an event names is the one that is taken, part by part, and with the settlement it is what was paid.
test("fee and settlement of an event add up", () => {
  const { processing, success } = eventPayload(TERMS, PAID, created);
  expect(processing).toEqual({
    processing_at: AT,
    option_amount: { unit, value: "9999999" },
    fee: {
      kind: "base_plus_percent",
      base_amount: { unit, value: "69999" },
      percent: { numerator: 33, denominator: 10_000 },
      percent_amount: { unit, value: "32999" },
      total_amount: { unit, value: "102998" },
    },
    settlement_amount: { unit, value: "9897001" },
    buyer_caip10: "eip155:1:0x02",
    chain_caip2: "eip155:1",
  });
  expect(success).toEqual({ succeeded_at: AT, tx_id: "0x03" });
});

// Guarantee: where money goes straight to the merchant no fee is named, and all of it is the merchant's.
test("the direct flow has no fee", () => {
  const payload = eventPayload({ ...TERMS, flow: "direct" }, PAID, created);
  expect(payload.processing).toMatchObject({
    fee: null,
    settlement_amount: { unit, value: "9999999" },
  });
});

// Guarantee: each end is told in its own stage and in no other, with its reason.
test.for([
  ["failed", { failed_at: AT, failure_reason: "broadcast_failed" }, null],
  [
    "cancelled",
    { cancelled_at: AT, cancellation_reason: "cancelled_by_user" },
    "cancelled_by_wallet",
  ],
  [
    "cancelled",
    { cancelled_at: AT, cancellation_reason: "cancelled_by_merchant" },
    "cancelled_by_merchant",
  ],
  ["expired", { expired_at: AT }, null],
] as const)("%s %o", ([status, stage, cancelledBy]) => {
  const terms: EventTerms = { ...TERMS, status, failureCode: "broadcast_failed" };
  const payload = eventPayload(
    terms,
    { ...NO_STAGES, reached: { [status]: AT }, cancelledBy },
    created,
  );
  const stages = ["processing", "success", "failed", "cancelled", "expired", "settled"];
  expect(payload).toMatchObject({
    ...Object.fromEntries(stages.map((name) => [name, null])),
    [status]: stage,
  });
});

// Guarantee: what brought an event about is shown where merchants need it, and nowhere else.
test("exceptions and refunds carry their subject, other events no cause", () => {
  const body = { kind: "late", tx_id: "0x04" };
  expect(eventPayload(TERMS, PAID, { type: "exception", body }).exception).toEqual(body);
  expect(eventPayload(TERMS, PAID, { type: "refund", body }).refund).toEqual(body);
  const plain = eventPayload(TERMS, PAID, created);
  expect(JSON.stringify(plain)).not.toContain("not for merchants");
  expect(plain).not.toHaveProperty("cause");
});
