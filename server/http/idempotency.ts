import { hash } from "node:crypto";
import { AppError } from "#server/platform/app-error.ts";
import { keyReused, stillRunning } from "#server/platform/idempotency-refusals.ts";
import type { Caller } from "#server/ports/services.ts";
import type { IdempotencyClaim, StoredAnswer } from "#server/ports/store.ts";

const FORMAT = /^[\x20-\x7e]{1,255}$/;

/** JSON with members in one order: the same body however it was written down. */
export function canonicalJson(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "null";
  const members = Object.entries(value)
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonicalJson(member)}`);
  return `{${members.join(",")}}`;
}

/** What an Idempotency-Key claims: one answer for this body, from this caller, on this path. Null: no key was sent. */
export function readClaim(
  headers: Headers,
  caller: Caller & { kind: "merchant" | "partner" },
  path: string,
  body: unknown,
): IdempotencyClaim | null {
  const key = headers.get("idempotency-key");
  if (key === null) return null;
  if (!FORMAT.test(key)) {
    const message = "must be 1 to 255 printable ASCII characters";
    throw new AppError("params_validation", `Validation error: Idempotency-Key ${message}`, {
      issues: [{ path: "Idempotency-Key", field: "Idempotency-Key", message }],
    });
  }
  return {
    scope: `${caller.environment} ${caller.partnerId} ${caller.merchantId ?? "*"} ${path}`,
    key,
    fingerprint: hash("sha256", canonicalJson(body), "buffer"),
  };
}

/** The answer a claim was given before; refuses a claim for another body, and one that has no answer yet. */
export function replayOf(
  earlier: { fingerprint: Uint8Array; answer: StoredAnswer | null },
  claim: IdempotencyClaim,
): StoredAnswer {
  if (!Buffer.from(earlier.fingerprint).equals(Buffer.from(claim.fingerprint))) throw keyReused();
  if (earlier.answer === null) throw stillRunning();
  return earlier.answer;
}
