import fc from "fast-check";
import { expect, test } from "vitest";
import {
  AROUND,
  CHAIN,
  EMPTY,
  NOW,
  OPTION,
  type Patch,
  paid,
  REACHED,
  stray,
  succeeded,
  TX,
} from "#server/testing/explain-cases.ts";
import type { ExceptionKind } from "./evidence.ts";
import { type Explanation, explain, TEXTS } from "./explain.ts";
import type { RefundState } from "./facts.ts";
import { readNotes, readSituation } from "./read-situation.ts";
import { type FailureCode, PAYMENT_EVENT_TYPES, PAYMENT_STATUSES } from "./state.ts";
import { NOTES } from "./texts/notes.ts";
import { ACTORS } from "./texts/text.ts";
import { HAPPENINGS, tellTimeline } from "./timeline.ts";

function explained(patch: Patch): Explanation {
  const facts = { ...EMPTY, ...patch };
  const situation = readSituation(facts, AROUND);
  return explain(situation, readNotes(facts, AROUND, situation));
}

/** What every line for people must be: whole sentences, with every figure filled in. */
function expectWords(line: { sentence: string; nextStep: string; actor: string }) {
  for (const text of [line.sentence, line.nextStep]) {
    expect(text).toMatch(/^[A-Z0-9].*\.$/);
    expect(text).not.toMatch(/undefined|null|NaN|\[object|\(\)| {2}|an error occurred/i);
  }
  expect(ACTORS).toContain(line.actor);
}

// Guarantee: every case has words of its own, and the database can be in a state that leads to it.
test.for(Object.entries(REACHED))("%s is reached and has words", ([code, patch]) => {
  const line = explained(patch);
  expect(line.code).toBe(code);
  expectWords(line);
});

// Guarantee: no two cases are told in the same words, and there is no text without a case.
test("each case is told apart", () => {
  const sentences = Object.values(REACHED).map((patch) => explained(patch).sentence);
  expect(new Set(sentences).size).toBe(sentences.length);
  expect(Object.keys(TEXTS).toSorted()).toEqual(Object.keys(REACHED).toSorted());
});

const FAILURE_CODES: Record<FailureCode, true> = {
  declined_user: true,
  internal_error: true,
  authorization_expired: true,
  broadcast_failed: true,
};
const KINDS: Record<ExceptionKind, true> = {
  late: true,
  short: true,
  over: true,
  double: true,
  wrong_token: true,
  unattributed: true,
  orphaned: true,
  unknown_outflow: true,
};
const REFUNDS: Record<RefundState, true> = {
  pending: true,
  awaiting_merchant: true,
  succeeded: true,
  failed: true,
};
const names = <K extends string>(record: Record<K, true>) => Object.keys(record) as K[];

// Guarantee: any status with any cause and any failure code has a sentence of that status.
test("all pairs of status and reason have words", () => {
  const causes = [...PAYMENT_EVENT_TYPES, null];
  for (const status of PAYMENT_STATUSES)
    for (const type of causes)
      for (const failureCode of [...names(FAILURE_CODES), null]) {
        const line = explained({
          ...succeeded(),
          status,
          failureCode,
          cause: type === null ? null : { type, reason: null },
        });
        expect(line.code.startsWith(`${status}.`)).toBe(true);
        expectWords(line);
      }
});

// Guarantee: whatever combination of facts there is, explaining never throws and never changes the status.
test("explaining is total", () => {
  const patches = fc.constantFrom(...Object.values(REACHED));
  const parts = fc.array(patches, { maxLength: 4 });
  fc.assert(
    fc.property(
      parts,
      fc.constantFrom(...PAYMENT_STATUSES),
      fc.nat(4_000),
      (list, status, late) => {
        const patch = Object.assign({}, ...list, { status, now: NOW + late });
        const line = explained(patch);
        expect(line.code.startsWith(`${status}.`)).toBe(true);
        expectWords(line);
      },
    ),
  );
});

// Guarantee: money beside the payment has a line of its own, and nobody is told at the same time that nothing came.
test("open exceptions and refunds add a line each", () => {
  for (const status of PAYMENT_STATUSES) {
    const exceptions = names(KINDS).map((kind) => stray(kind));
    const refunds = names(REFUNDS).map((state) => ({ ...paid, state }));
    const line = explained({ status, exceptions, refunds });
    expect(line.notes.map(({ code }) => code)).toEqual(Object.keys(NOTES));
    expect(line.sentence).not.toContain("Nothing was charged");
    for (const note of line.notes) {
      expectWords(note);
      expect(note.sentence).toMatch(/12\.500000 USDC on Local chain/);
    }
  }
  expect(explained({ exceptions: [stray("late", false)] }).notes).toEqual([]);
});

// Guarantee: a person reads the amounts, the network and the time that decide.
test("sentences name amount, network and time", () => {
  expect(explained({ optionsServed: 1 })).toMatchObject({
    sentence:
      "A wallet was offered 1 way to pay 12.50 USD and has not answered yet. Nothing was charged.",
    actor: "buyer",
    nextStep: "Approve one of them in the wallet before 2027-01-15 08:14:00 UTC.",
  });
  expect(explained(REACHED["processing.confirming"]).sentence).toContain("2 of 6 confirmations");
  const tag = { ...OPTION, depth: { tag: "safe" as const } };
  expect(explained({ ...REACHED["processing.confirming"], option: tag }).sentence).toContain(
    "once the network calls its block safe",
  );
  expect(explained(REACHED["succeeded.settled"]).sentence).toBe(
    "The buyer paid 12.500000 USDC on Local chain, and the shop received 12.450000 USDC on Local chain.",
  );
  const unknown = {
    asset: `${CHAIN}/erc20:0x99`,
    minor: 5n,
    status: "finalized" as const,
    txId: TX,
  };
  expect(explained(succeeded({ capture: unknown, flow: "direct" })).sentence).toContain(
    `5 units of ${unknown.asset} on Local chain`,
  );
});

// Guarantee: nobody is told to wait while payouts are stopped or the key that sends cannot pay, and the key to fund is named.
test("what stands still is not said to be on its way", () => {
  const [sent, unfunded] = [
    REACHED["succeeded.settlement_sent"],
    REACHED["succeeded.settlement_no_gas_money"],
  ];
  const { settlement } = sent;
  if (settlement == null) throw new Error("no settlement");
  const held = explained({ ...sent, settlement: { ...settlement, hold: { reason: "a look" } } });
  expect(held).toMatchObject({ code: "succeeded.settlement_held", actor: "operator" });
  for (const patch of [unfunded, REACHED["processing.no_gas_money"]])
    expect(explained(patch)).toMatchObject({
      actor: "operator",
      nextStep: expect.stringMatching(/^Fund 0x5{40} on Local chain; /),
    });
});

// Guarantee: everything a timeline can tell of has words.
test("each kind of entry has words", () => {
  const data = { txId: TX, chain: CHAIN, block: 7, purpose: "capture", options: 2, reason: "x" };
  const rows = [...HAPPENINGS, ...PAYMENT_EVENT_TYPES].map((kind) => ({
    at: NOW,
    kind,
    amount: paid,
    data,
  }));
  for (const { text } of tellTimeline(rows, AROUND)) {
    expect(text).toMatch(/^[A-Z0-9]/);
    expect(text).not.toMatch(/undefined|null|NaN/);
  }
});
