import { parseAccount } from "#server/domain/asset/caip.ts";
import { failpoint } from "#server/platform/failpoint.ts";
import type { ChainPort, Receipt, TxPlan } from "#server/ports/chain.ts";
import type { Refund } from "#server/ports/refunds.ts";
import type { Services } from "#server/ports/services.ts";
import type { Intent, Payment, Tx } from "#server/ports/store.ts";
import { bookRefund, failRefund } from "./place-refund.ts";
import { pushIntent } from "./push-intent.ts";

const LIMIT = 200;

function planOf({ asset, amount, destination }: Refund): TxPlan {
  const to = parseAccount(destination)?.address;
  if (to === undefined) throw new Error(`${destination} is no account`);
  return { kind: "transfer", asset, to, amount: amount.toString() };
}

/** Works on a refund nobody has begun to send, with its payment locked; null: it is none such any more. */
const whileUnsent = <T>(
  services: Services,
  { id, paymentId }: Refund,
  work: (tx: Tx, payment: Payment, refund: Refund) => Promise<T>,
): Promise<T | null> =>
  services.store.transaction(async (tx) => {
    const payment = await tx.lockPayment(paymentId);
    const refund = (await tx.refundsOf(paymentId)).find((one) => one.id === id);
    if (payment === null || refund?.state !== "pending") return null;
    return refund.funded && refund.intentId === null ? work(tx, payment, refund) : null;
  });

async function executeOne(services: Services, chain: ChainPort, due: Refund): Promise<void> {
  const { intermediary } = chain.facts;
  const plan = planOf(due);
  const simulated = await chain.simulate(plan, intermediary);
  if (simulated.kind === "revert") {
    const { reason, detail } = simulated;
    services.log.error({ refundId: due.id, reason, detail }, "a refund would not go through");
    // Less money on chain than the books say: nothing of this asset moves until somebody has looked.
    if (reason === "insufficient_balance")
      await whileUnsent(services, due, (tx) =>
        tx.hold(due.asset, "the intermediary account holds less than the ledger says"),
      );
    else
      await whileUnsent(services, due, (tx, payment, refund) =>
        failRefund(tx, payment, refund, { detail: `The transfer would revert: ${reason}` }),
      );
    return;
  }
  await failpoint("refund.before_reserve");
  const intent = await whileUnsent(services, due, async (tx, payment, refund) => {
    if (await tx.isHeld(refund.asset)) return null;
    const reserved = await tx.reserveIntent({
      id: `refund:${refund.id}`,
      kind: "refund",
      paymentId: payment.id,
      attemptId: null,
      chain: chain.facts.chain,
      signer: intermediary,
      plan,
    });
    await tx.setRefund(refund.id, { intentId: reserved.id });
    return reserved;
  });
  await failpoint("refund.after_reserve");
  if (intent !== null) await pushIntent(services, chain, intent, simulated.gas);
}

/** Sends every refund whose money is set aside; each alone, so that one that fails stops no other. */
export async function executeRefunds(services: Services, chain: ChainPort): Promise<void> {
  for (const refund of await services.store.refundsDue(chain.facts.chain, LIMIT)) {
    try {
      await executeOne(services, chain, refund);
    } catch (error) {
      services.log.warn({ refundId: refund.id, err: error }, "a refund waits");
    }
  }
}

/** Ends a refund by the final receipt of its nonce. `filled`: the nonce was burnt and nothing was transferred. */
export async function finishRefund(
  services: Services,
  intent: Intent,
  receipt: Receipt,
  filled: boolean,
): Promise<void> {
  const refund = await services.store.refundOfIntent(intent.id);
  if (refund === null) return;
  await failpoint("refund.before_final");
  await services.store.transaction(async (tx) => {
    const payment = await tx.lockPayment(refund.paymentId);
    if (payment === null) return;
    if (filled || receipt.status === "reverted") {
      const detail = filled ? "The transfer would have reverted" : "The transfer reverted on chain";
      await failRefund(tx, payment, refund, {
        detail,
        ...(filled ? {} : { txHash: receipt.hash }),
      });
      return;
    }
    const done = await tx.setRefund(refund.id, { state: "succeeded", txHash: receipt.hash });
    if (done === null) return;
    await bookRefund(tx, done, receipt.hash);
    await tx.announceRefund(done, "refund.succeeded");
  });
}
