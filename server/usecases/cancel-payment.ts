import { AppError } from "#server/platform/app-error.ts";
import type { Services } from "#server/ports/services.ts";
import type { Payment, Tx } from "#server/ports/store.ts";
import { requireUnlocked } from "./push-lock.ts";

/** A payment that was cancelled, and when. */
export type Cancelled = { payment: Payment; at: Date };

const refuse = (state: string): AppError =>
  new AppError("invalid_state", `The payment is ${state}: it cannot be cancelled`);

/** Cancels a payment inside a transaction; refused unless it waits for its buyer and no money is under way. */
export async function cancelInside(
  tx: Tx,
  id: string,
  by: "cancelled_by_merchant" | "cancelled_by_wallet",
): Promise<Cancelled> {
  const payment = await tx.lockPayment(id);
  if (payment === null) throw new AppError("payment_not_found", "Payment not found");
  if (payment.status !== "requires_action") throw refuse(payment.status);
  if (payment.windowClosed) throw refuse("expired");
  await requireUnlocked(tx, id, null);
  const changed = await tx.change(payment, { type: by, body: {} });
  if (changed.kind === "refused") throw refuse(changed.payment.status);
  return { payment: changed.payment, at: changed.at };
}

/** Cancels a payment for its buyer. */
export const cancelForBuyer = (services: Services, id: string): Promise<Cancelled> =>
  services.store.transaction((tx) => cancelInside(tx, id, "cancelled_by_wallet"));
