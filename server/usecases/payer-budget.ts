import { AppError } from "#server/platform/app-error.ts";
import type { Services } from "#server/ports/services.ts";

/**
 * Mined reverts that one account's transactions may cost on a chain within a day. A contract can tell a simulation from the network, so
 * only what happened there bounds what its owner can make a relayer spend.
 */
export const MAX_PAYER_REVERTS = 4;

type Payer = { chain: string; address: string };

/** Whether no more transactions are sent for an account for now. */
export const isSpent = async ({ store }: Services, { chain, address }: Payer): Promise<boolean> =>
  (await store.payerReverts(chain, address)) >= MAX_PAYER_REVERTS;

/** Refuses what such an account hands in, before anything is promised. */
export async function requireBudget(services: Services, payer: Payer): Promise<void> {
  if (!(await isSpent(services, payer))) return;
  const message =
    "the network refused this account's transfers too often: pay from another account";
  throw new AppError("params_validation", `Validation error: ${message}`, {
    status: 422,
    issues: [{ path: "results", field: "results", message }],
  });
}
