import type { PaymentEventType } from "#server/domain/payment/state.ts";
import type { NonceChain } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";

const LIMIT = 200;

/**
 * Fails a payment whose authorization can never land any more, proved on finalized blocks that were all read: its deadline is
 * past and its nonce unused, or its nonce is used and no transfer of ours came with it. Nothing else ever fails a payment in processing.
 */
async function proveImpossible(
  services: Services,
  chain: NonceChain,
  paymentId: string,
): Promise<void> {
  const { store } = services;
  const payment = await store.payment(paymentId);
  const option = payment?.optionId == null ? null : await store.option(payment.optionId);
  const cursor = await store.cursor(chain.facts.chain);
  if (payment?.status !== "processing" || option === null || cursor === null) return;
  const { authorization } = option;
  // Nothing was signed: what became of a transfer is followed by its own sweep.
  if (authorization.mechanism === "native") return;
  // Read the nonce first: whatever used it before this moment is in a block the scan below must have covered.
  const state = await chain.nonceState(authorization, "finalized");
  const scanned = await store.cursor(chain.facts.chain);
  const head = await chain.head();
  if (scanned === null || scanned.scannedNumber < head.finalized.number) return;
  if (await store.hasArrival(option.chain, option.payer, authorization.nonce)) return;
  if (await store.hasTransferOf(payment.id)) return;
  const expired = scanned.finalizedTime > BigInt(authorization.deadline);
  if (state === "unused" && !expired) return;
  const type: PaymentEventType =
    state === "unused" ? "authorization_expired" : "authorization_cancelled";
  await store.transaction(async (tx) => {
    const locked = await tx.lockPayment(paymentId);
    if (locked?.status !== "processing") return;
    const attempt = await tx.liveAttempt(paymentId);
    if (attempt !== null) await tx.endAttempt(attempt.id);
    await tx.change(locked, {
      type,
      failureCode: type === "authorization_expired" ? "authorization_expired" : "broadcast_failed",
      body: {
        optionId: option.id,
        deadline: authorization.deadline,
        finalized: head.finalized.number.toString(),
      },
    });
  });
}

/** Looks at every payment on a chain that may have become impossible; `suspects` are those whose nonce looks used. */
export async function endImpossible(
  services: Services,
  chain: NonceChain,
  suspects: string[],
): Promise<void> {
  const late = await services.store.attemptsPastDeadline(chain.facts.chain, LIMIT);
  for (const paymentId of new Set([...late, ...suspects])) {
    try {
      await proveImpossible(services, chain, paymentId);
    } catch (error) {
      services.log.warn({ paymentId, err: error }, "negative proof not possible now");
    }
  }
}
