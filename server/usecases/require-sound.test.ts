import { expect, test } from "vitest";
import { AppError } from "#server/platform/app-error.ts";
import type { SignatureCheck } from "#server/ports/chain.ts";
import { requireSound } from "./require-sound.ts";

/** Status and code of the refusal of a check; null: it is none. */
function refusal(check: SignatureCheck): [number | undefined, string] | null {
  try {
    requireSound(check);
    return null;
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return [error.status, error.code];
  }
}

// Guarantee: what was signed for a time that is over is told as an offer that ended, and not as a bad signature; a used nonce is the chain's to judge.
test("refusals of what was signed", () => {
  const reverts = (reason: "expired" | "nonce_used" | "insufficient_balance") =>
    ({ kind: "would_revert", reason, detail: "" }) as const;
  expect(refusal({ kind: "valid" })).toBeNull();
  expect(refusal(reverts("nonce_used"))).toBeNull();
  expect(refusal(reverts("expired"))?.[1]).toBe("quote_expired");
  expect(refusal(reverts("insufficient_balance"))).toEqual([422, "params_validation"]);
  expect(refusal({ kind: "invalid", reason: "signer" } as SignatureCheck)).toEqual([
    422,
    "params_validation",
  ]);
});
