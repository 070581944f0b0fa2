import { expect, test } from "vitest";
import { isCrowded, isTransient } from "./transaction.ts";

const refusal = (code: string) => Object.assign(new Error("refused"), { code });
const isOutage = (error: unknown) => isTransient(error) || isCrowded(error);

// Guarantee: a database that lets nobody in is an outage (503); asking again at once would change nothing.
test.for(["28P01", "28000", "3D000", "55000", "08001", "08004", "08P01"])("%s", (code) => {
  expect([isOutage(refusal(code)), isTransient(refusal(code))]).toEqual([true, false]);
});

// Guarantee: a connection that broke is an outage too, and the same work may be tried again.
test.for(["08006", "08003", "57P01", "40001", "ECONNREFUSED"])("%s", (code) => {
  expect([isOutage(refusal(code)), isTransient(refusal(code))]).toEqual([true, true]);
});

// Guarantee: what a statement did wrong is nobody's outage.
test.for(["23505", "42P01", "42501", "22P02"])("%s", (code) => {
  expect(isOutage(refusal(code))).toBe(false);
});
