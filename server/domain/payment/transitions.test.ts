import fc from "fast-check";
import { expect, test } from "vitest";
import { PAYMENT_EVENT_TYPES, PAYMENT_STATUSES } from "./state.ts";
import { isFinal, transition } from "./transitions.ts";

// Written out from the API description, not read off the table.
const FINAL = new Set(["succeeded", "failed", "expired", "cancelled"]);
const ALLOWED = new Set([
  "requires_action>processing",
  "requires_action>expired",
  "requires_action>cancelled",
  "requires_action>failed",
  "processing>succeeded",
  "processing>failed",
]);
const status = fc.constantFrom(...PAYMENT_STATUSES);
const event = fc.constantFrom(...PAYMENT_EVENT_TYPES);

// Guarantee: money already decided stays decided, whatever arrives late or twice.
test("no event moves a payment out of a final status", () => {
  fc.assert(
    fc.property(status, event, (from, type) => {
      expect(isFinal(from)).toBe(FINAL.has(from));
      if (FINAL.has(from)) expect(transition(from, type)).toBeNull();
    }),
  );
});

// Guarantee: no edge exists beyond the six that are documented.
test("every edge is one of the documented ones", () => {
  fc.assert(
    fc.property(status, event, (from, type) => {
      const to = transition(from, type);
      if (to !== null) expect(ALLOWED).toContain(`${from}>${to}`);
    }),
  );
});

// Guarantee: the clock never fails a payment that was handed in.
test("a closed window does nothing to a processing payment", () => {
  expect(transition("processing", "window_closed")).toBeNull();
});

// Guarantee: a merchant never ships goods for a transfer the chain has not shown.
test("only confirmed evidence makes a payment succeed", () => {
  for (const from of PAYMENT_STATUSES)
    for (const type of PAYMENT_EVENT_TYPES)
      if (transition(from, type) === "succeeded")
        expect([from, type]).toEqual(["processing", "evidence_confirmed"]);
});
