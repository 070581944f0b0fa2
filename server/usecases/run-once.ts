import { keyReused, stillRunning } from "#server/platform/idempotency-refusals.ts";
import type { Services } from "#server/ports/services.ts";
import type { IdempotencyClaim, StoredAnswer, Tx } from "#server/ports/store.ts";

/** Runs `work` in one transaction, once for each claim; the answer of the first run is everybody's. */
export async function runOnce(
  services: Services,
  claim: IdempotencyClaim | null,
  work: (tx: Tx) => Promise<StoredAnswer>,
): Promise<{ answer: StoredAnswer; replayed: boolean }> {
  const outcome = await services.store.once(claim, work);
  if (outcome.kind === "conflict") throw keyReused();
  if (outcome.kind === "busy") throw stillRunning();
  return { answer: outcome.answer, replayed: outcome.kind === "replay" };
}
