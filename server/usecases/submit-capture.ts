import type { SignedTerms } from "#server/domain/option/authorization.ts";
import { failpoint } from "#server/platform/failpoint.ts";
import type { ChainPort, RevertReason, TxPlan } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { Attempt, Intent, PaymentOption } from "#server/ports/store.ts";
import { isSpent } from "./payer-budget.ts";
import { pushIntent } from "./push-intent.ts";

/** What became of one try to submit; `waiting` is found again by the sweep. */
export type SubmitOutcome =
  | { kind: "nothing_to_do" }
  | { kind: "submitted"; intentId: string }
  | { kind: "waiting"; reason: RevertReason | "in_flight" };

/** Most transactions of one signer that are signed and not mined at a time. */
export const MAX_IN_FLIGHT = 64;

/** Mined reverts one attempt may cost before only its deadline can end it. */
export const MAX_PAID_REVERTS = 2;

/** The payment's own signer, which spreads the load; while that has no gas money, the next one that has some. */
async function signerFor(chain: ChainPort, { mechanism, nonce }: SignedTerms): Promise<string> {
  const { relayers, spender, intermediary } = chain.facts;
  if (mechanism === "permit2" && spender !== null) return spender;
  const index = Number.parseInt(nonce.slice(-6), 16) % relayers.length;
  const inTurn = [...relayers.slice(index), ...relayers.slice(0, index)];
  const [own = intermediary] = inTurn;
  if (inTurn.length < 2) return own;
  // Whether or not balances can be read now, the capture goes out.
  const funded = await chain.fundedSigners(mechanism).catch(() => inTurn);
  return inTurn.find((one) => funded.includes(one)) ?? own;
}

async function reserve(
  services: Services,
  attempt: Attempt,
  option: PaymentOption,
  signer: string,
  plan: TxPlan,
): Promise<Intent | null> {
  return services.store.transaction(async (tx) => {
    const payment = await tx.lockPayment(attempt.paymentId);
    const live = await tx.liveAttempt(attempt.paymentId);
    if (payment?.status !== "processing" || live?.id !== attempt.id) return null;
    const earlier = await tx.captureIntents(attempt.id);
    const open = earlier.find(({ state }) => state !== "reverted" && state !== "superseded");
    if (open !== undefined) return open;
    return tx.reserveIntent({
      id: `capture:${attempt.id}:${earlier.length + 1}`,
      kind: "capture",
      paymentId: attempt.paymentId,
      attemptId: attempt.id,
      chain: option.chain,
      signer,
      plan,
    });
  });
}

/**
 * Submits the accepted authorization of a payment: simulates, reserves a nonce, signs, stores, commits, then sends.
 * Safe to run any number of times and by several workers at once; it never ends a payment.
 */
export async function submitCapture(services: Services, paymentId: string): Promise<SubmitOutcome> {
  const attempt = await services.store.liveAttempt(paymentId);
  const payment = await services.store.payment(paymentId);
  if (attempt === null || payment?.status !== "processing") return { kind: "nothing_to_do" };
  const option = await services.store.option(attempt.optionId);
  const chain = option === null ? undefined : services.chains.get(option.chain);
  if (option === null || chain === undefined) return { kind: "nothing_to_do" };
  const { authorization } = option;
  if (authorization.mechanism === "native") return { kind: "nothing_to_do" };
  const { lapsesAt } = attempt;
  const open = await services.store.openCaptureIntent(attempt.id);
  if (open !== null) {
    await pushIntent(services, chain, open);
    return { kind: "submitted", intentId: open.id };
  }
  // What lapses cannot be sent a second time: the chain knows its bytes.
  if (attempt.reverts >= (lapsesAt === null ? MAX_PAID_REVERTS : 1))
    return { kind: "waiting", reason: "other" };
  if (lapsesAt !== null && chain.model === "lifetimes" && (await chain.blocksLeft(lapsesAt)) < 0n)
    return { kind: "waiting", reason: "expired" };
  if (await isSpent(services, { chain: option.chain, address: option.payer }))
    return { kind: "waiting", reason: "other" };
  const signer = await signerFor(chain, authorization);
  if ((await services.store.intentsInFlight(option.chain, signer)) >= MAX_IN_FLIGHT)
    return { kind: "waiting", reason: "in_flight" };
  const plan: TxPlan = {
    kind: "capture",
    authorization,
    signature: attempt.signature,
    ...(lapsesAt === null ? {} : { lapsesAt: lapsesAt.toString() }),
  };
  const simulated = await chain.simulate(plan, signer);
  if (simulated.kind === "revert") {
    services.log.info(
      { paymentId, reason: simulated.reason, detail: simulated.detail },
      "capture would revert now",
    );
    return { kind: "waiting", reason: simulated.reason };
  }
  await failpoint("submit.before_reserve");
  const intent = await reserve(services, attempt, option, signer, plan);
  if (intent === null) return { kind: "nothing_to_do" };
  await failpoint("submit.after_reserve");
  await pushIntent(services, chain, intent, simulated.gas);
  return { kind: "submitted", intentId: intent.id };
}
