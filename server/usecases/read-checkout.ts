import { chainOf } from "#server/domain/asset/caip.ts";
import { type BuyerStage, buyerStage } from "#server/domain/checkout/stage.ts";
import { etaSeconds } from "#server/domain/option/eta.ts";
import { readSituation } from "#server/domain/payment/read-situation.ts";
import type { Code } from "#server/domain/payment/situation.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { CheckoutFacts } from "#server/ports/checkout.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Payment } from "#server/ports/store.ts";
import { ownSurroundings } from "./explain-payment.ts";
import { findPayment } from "./read-payment.ts";

/** A payment as its buyer's pages show it; `etaS` is null while nothing pays it. */
export type Checkout = {
  payment: Payment;
  facts: CheckoutFacts;
  stage: BuyerStage;
  code: Code;
  etaS: number | null;
};

/** How often a payment is read again when it moved between the reads of one answer. */
const TRIES = 3;

/** Usual seconds from acceptance to success of what pays. */
function etaOf({ chains }: Services, { paid }: CheckoutFacts): number | null {
  if (paid === null) return null;
  const facts = chains.get(chainOf(paid.asset))?.facts;
  return facts === undefined ? 0 : etaSeconds(paid.depth, facts.blockTimeMs, facts.tagBlocks);
}

/** Where a payment stands for its buyer, all of it of the same version of the payment. */
export async function readCheckout(
  services: Services,
  caller: Caller,
  id: string,
): Promise<Checkout> {
  const around = ownSurroundings(services);
  for (let attempt = 1; ; attempt++) {
    const payment = await findPayment(services, caller, id);
    const [facts, why] = await Promise.all([
      services.store.checkoutFacts(id),
      services.store.explainFacts(id),
    ]);
    if (facts === null || why === null)
      throw new AppError("payment_not_found", "Payment not found");
    const torn = facts.version !== payment.version || why.version !== payment.version;
    if (torn && attempt < TRIES) continue;
    const { code } = readSituation(why, around);
    const etaS = etaOf(services, facts);
    const stage = buyerStage({
      code,
      now: why.now,
      paid: facts.paid === null ? null : { acceptedAt: facts.paid.acceptedAt, etaS: etaS ?? 0 },
      open: facts.arrivals.filter(({ open }) => open).map(({ kind }) => kind),
      isSent: facts.isSent && facts.arrivals.length === 0,
      refunded: facts.refunds.some(({ state }) => state === "succeeded"),
    });
    return { payment, facts, stage, code, etaS };
  }
}
