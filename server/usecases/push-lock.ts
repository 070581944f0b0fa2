import { AppError } from "#server/platform/app-error.ts";
import type { Services } from "#server/ports/services.ts";
import type { Tx } from "#server/ports/store.ts";

/**
 * The option that a transaction known to a node pays: until it is judged, no other option may be used and nobody may cancel.
 * Null: none. Inside a transaction use `tx.pushLock`, with the payment's row locked.
 */
export const pushLock = (services: Services, paymentId: string): Promise<string | null> =>
  services.store.pushLock(paymentId);

/** Refuses what must not happen while a transaction for another option than this one is on its way. */
export async function requireUnlocked(
  reader: Pick<Services["store"] | Tx, "pushLock">,
  paymentId: string,
  optionId: string | null,
): Promise<void> {
  const lock = await reader.pushLock(paymentId);
  if (lock !== null && lock !== optionId)
    throw new AppError("invalid_state", "The payment is being paid by a transfer on its way");
}
