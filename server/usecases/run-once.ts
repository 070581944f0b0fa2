import { AppError } from "#server/platform/app-error.ts";
import type { Services } from "#server/ports/services.ts";
import type { IdempotencyClaim, StoredAnswer, Tx } from "#server/ports/store.ts";

/** The refusal of a key that was used for something else. */
export const keyReused = (): AppError =>
  new AppError(
    "idempotency_conflict",
    "This Idempotency-Key was used with another body: use a new key for a new request",
  );

/** Runs `work` in one transaction, once for each claim; the answer of the first run is everybody's. */
export async function runOnce(
  services: Services,
  claim: IdempotencyClaim | null,
  work: (tx: Tx) => Promise<StoredAnswer>,
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  const outcome = await services.store.once(claim, work);
  if (outcome.kind === "conflict") throw keyReused();
  if (outcome.kind === "busy")
    throw new AppError("idempotency_conflict", "The same request is still running: try again", {
      retryAfterS: 1,
    });
  return { answer: outcome.answer, replayed: outcome.kind === "replay" };
}
