import { alignResults, hashesIn, type Result } from "#server/domain/option/results.ts";
import { AppError } from "#server/platform/app-error.ts";
import { failpoint } from "#server/platform/failpoint.ts";
import { ChainUnavailable } from "#server/ports/chain.ts";
import type { Push } from "#server/ports/push.ts";
import type { Services } from "#server/ports/services.ts";
import type { Payment, PaymentOption } from "#server/ports/store.ts";
import { requireProof } from "./confirm-proof.ts";
import { lookUpPush } from "./follow-pushes.ts";
import { requireClear } from "./screen-account.ts";

/** Ends a payment whose results cannot be those of its actions; never while a transaction that pays it is known to a node. */
export async function endMisaligned(
  services: Services,
  paymentId: string,
  optionId: string,
  reason: string,
): Promise<void> {
  await services.store.transaction(async (tx) => {
    const locked = await tx.lockPayment(paymentId);
    if (locked === null || locked.status !== "requires_action") return;
    if ((await tx.pushLock(paymentId)) !== null) return;
    await tx.change(locked, { type: "results_misaligned", body: { reason, optionId }, optionId });
  });
}

/**
 * Refuses a claim while another option holds the payment, or has ended it. Another offer of native coin to the same account is no
 * other option: one transfer can be meant for either.
 */
async function requireOwn(
  services: Services,
  payment: Payment,
  option: PaymentOption,
): Promise<void> {
  const holder = payment.optionId ?? (await services.store.pushLock(payment.id));
  if (holder === null || holder === option.id) return;
  const other = await services.store.option(holder);
  if (other?.mechanism === "native" && other.payer === option.payer) return;
  throw new AppError("invalid_state", `The payment is ${payment.status}, by another option`);
}

/** Reads the results of a push: the hash, and the proof where one was asked for. Null: they are not its results. */
async function readClaim(services: Services, option: PaymentOption, results: Result[]) {
  const asksProof = option.actions.length > 1;
  const chain = services.chains.get(option.chain);
  if (chain === undefined) throw new ChainUnavailable(`${option.chain} is not configured`);
  const hasCode = asksProof ? (await chain.payerFacts(option.payer, [])).hasCode : false;
  const aligned = alignResults(option.actions, results, hasCode);
  if (aligned.kind === "misaligned") return aligned;
  const proof = await requireProof(chain, option, aligned.outputs, hasCode);
  return { kind: "claim" as const, hash: aligned.outputs.at(-1) ?? "", proof };
}

/** A claim of this option's transfer, with what it must look like to pay. */
function claimOf(payment: Payment, option: PaymentOption, hash: string): Push {
  const { id: optionId, chain, payer, recipient, amount, authorization } = option;
  const { nonce: tag } = authorization;
  return { chain, hash, paymentId: payment.id, optionId, payer, recipient, amount, tag };
}

/**
 * Stores those of the claimed transactions that a node knows to pay, before anything else is judged: whatever is wrong with the
 * results around a hash, its money is on its way. Returns their hashes.
 */
async function holdKnown(
  services: Services,
  payment: Payment,
  option: PaymentOption,
  results: Result[],
): Promise<string[]> {
  const claims = hashesIn(results).map((hash) => claimOf(payment, option, hash));
  const looked = await Promise.all(
    claims.map(async (push) => ({ push, found: await lookUp(services, push) })),
  );
  const known = looked.filter(({ found }) => found.state === "known");
  if (known.length === 0) return [];
  await failpoint("claim.before_commit");
  await services.store.transaction(async (tx) => {
    await tx.lockPayment(payment.id);
    for (const { push, found } of known) await tx.setPush(push, found);
  });
  await failpoint("claim.after_commit");
  return known.map(({ push }) => push.hash);
}

/** What a node says of a claim just made; "claimed", as of one it does not know, where it gives no answer: the worker asks again. */
async function lookUp({ chains, log }: Services, push: Push): ReturnType<typeof lookUpPush> {
  try {
    const chain = chains.get(push.chain);
    if (chain !== undefined) return await lookUpPush(chain, push);
  } catch (error) {
    const { paymentId, hash: txId } = push;
    log.warn({ paymentId, txId, err: error }, "a claimed transaction was not looked up");
  }
  return { state: "claimed", nonce: null };
}

/**
 * Takes the results of an option whose transfer the buyer's wallet sends. They are a claim, and only the chain says whether money
 * moved; so no deadline counts here, and what is over stays as it is. A transaction that a node knows to pay holds the payment when
 * this returns; what no node knows yet is looked up again by the worker.
 */
export async function claimPush(
  services: Services,
  payment: Payment,
  option: PaymentOption,
  results: Result[],
): Promise<void> {
  await requireOwn(services, payment, option);
  if (payment.status === "processing" || payment.status === "succeeded") return;
  const isOpen = payment.status === "requires_action";
  if (isOpen) await requireClear(services, { chain: option.chain, address: option.payer });
  const known = await holdKnown(services, payment, option, results);
  const read = await readClaim(services, option, results);
  if (read.kind === "misaligned") {
    if (known.length === 0) await endMisaligned(services, payment.id, option.id, read.reason);
    return;
  }
  // Who sent the money while the payment closed is told about the money: that is kept where a node knows of it.
  if (!isOpen && !known.includes(read.hash)) return;
  await failpoint("claim.before_commit");
  await services.store.transaction(async (tx) => {
    await tx.lockPayment(payment.id);
    await tx.claimPush(claimOf(payment, option, read.hash), read.proof);
  });
  await failpoint("claim.after_commit");
}
