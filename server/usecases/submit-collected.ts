import { type CollectLink, checkCollectToken } from "#server/domain/collect/token.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Services } from "#server/ports/services.ts";
import type { Payment } from "#server/ports/store.ts";
import { readForm, sealFields } from "./collect-data.ts";

const notOurs = () =>
  new AppError("forbidden", "This link is not valid or no longer valid: go back to the wallet");

function requireOpen(payment: Payment): void {
  if (
    payment.status === "expired" ||
    (payment.status === "requires_action" && payment.windowClosed)
  )
    throw new AppError("payment_expired", "The payment has expired");
  if (payment.status !== "requires_action")
    throw new AppError("invalid_state", `The payment is ${payment.status}`);
}

/**
 * The payment a link to the form is for. Links that were changed, swapped, made up or are too old are refused alike; who has a link
 * of ours for a payment that is over is told that, since a link's time may end with it.
 */
export async function openCollectLink(services: Services, link: CollectLink): Promise<Payment> {
  const { FLORIN_TOKEN_SECRET: secret } = services.env;
  const isOurs = (now: number) => checkCollectToken(secret, link, now);
  if (!isOurs(0)) throw notOurs();
  const payment = await services.store.payment(link.paymentId);
  if (payment === null || !payment.collectsData) throw notOurs();
  requireOpen(payment);
  if (!isOurs(services.clock.now())) throw notOurs();
  return payment;
}

/**
 * Stores a form for every account of its link, in place of what was given before for this payment. Nothing stored comes
 * back, and it counts for this payment alone until an account's own signature proves it.
 */
export async function submitCollected(
  services: Services,
  { data, ...link }: CollectLink & { data: unknown },
): Promise<void> {
  const { id } = await openCollectLink(services, link);
  const fields = readForm(services, data, "data");
  const sealed = link.accounts.map((account) => ({
    account,
    fields: sealFields(services, id, account, fields),
  }));
  await services.store.transaction(async (tx) => {
    const locked = await tx.lockPayment(id);
    if (locked === null) throw notOurs();
    requireOpen(locked);
    for (const one of sealed)
      await tx.storeCollected(id, one.account, one.fields, services.env.FLORIN_DATA_DAYS);
  });
}
