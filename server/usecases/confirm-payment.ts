import { createHash } from "node:crypto";
import { isTransfer, type SignedTerms } from "#server/domain/option/authorization.ts";
import { stillHolds } from "#server/domain/option/quote.ts";
import {
  alignResults,
  MAX_SIGNATURE_BYTES,
  oversizedAt,
  type Result,
} from "#server/domain/option/results.ts";
import { AppError } from "#server/platform/app-error.ts";
import { failpoint } from "#server/platform/failpoint.ts";
import { newId } from "#server/platform/ids.ts";
import { type ChainPort, ChainUnavailable } from "#server/ports/chain.ts";
import { SUBMIT_CAPTURE } from "#server/ports/jobs.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Payment, PaymentOption } from "#server/ports/store.ts";
import { claimPush, endMisaligned } from "./claim-push.ts";
import { acceptCollected, type GivenData, requireCollected } from "./collect-data.ts";
import { requireBuilt } from "./confirm-built.ts";
import { requireProof } from "./confirm-proof.ts";
import { requireUsable } from "./fetch-actions.ts";
import { requireBudget } from "./payer-budget.ts";
import { requireUnlocked } from "./push-lock.ts";
import { quoteOption } from "./quote-option.ts";
import { findPayment } from "./read-payment.ts";
import { requireSound } from "./require-sound.ts";
import { requireClear } from "./screen-account.ts";

export type ConfirmInput = { optionId: string; results: Result[]; collectedData: unknown };

/**
 * Whether a confirm needs no work: it repeats the option that was accepted or that ended the payment.
 * Throws for an option that comes too late or while another one is being worked on.
 */
function alreadyDecided(payment: Payment, optionId: string): boolean {
  if (payment.status === "requires_action" && !payment.windowClosed) return false;
  if (payment.optionId === optionId) return true;
  if (payment.status === "expired" || payment.status === "requires_action")
    throw new AppError("payment_expired", "The payment has expired");
  throw new AppError("invalid_state", `The payment is ${payment.status}`);
}

/** Refuses an offer that the market has left behind by more than the tolerance, or whose token left its peg. */
async function requireFairPrice(
  services: Services,
  payment: Payment,
  option: PaymentOption,
  chain: ChainPort,
): Promise<void> {
  const { chain: caip2, tokens } = chain.facts;
  if (tokens.length === 0) throw new ChainUnavailable(`${caip2} is not verified`);
  const token = tokens.find(({ asset }) => asset === option.asset);
  const now = token === undefined ? null : await quoteOption(services, payment, token);
  if (now === null || !stillHolds(option.amount, now.amount))
    throw new AppError("quote_expired", "The price has moved: ask for the options again");
}

/** Refuses a signature that would cost more gas than a capture may before anybody looked at it. */
function requireShort(outputs: string[]): void {
  const at = oversizedAt(outputs);
  if (at === -1) return;
  const message = `must be at most ${MAX_SIGNATURE_BYTES} bytes`;
  throw new AppError("params_validation", `Validation error: a signature ${message}`, {
    status: 422,
    issues: [{ path: `results.${at}`, field: "results", message }],
  });
}

/** What a buyer handed in for an option, checked: what is submitted, and how long that can land. */
type Signed = { signature: string; lapsesAt: bigint | null };

/** Checks the last output of an option against its terms; throws where it is not what was asked for. */
async function checkOutput(
  services: Services,
  chain: ChainPort,
  option: PaymentOption,
  terms: SignedTerms,
  { output, hasCode }: { output: string; hasCode: boolean },
): Promise<Signed> {
  if (isTransfer(terms)) return requireBuilt(services, option, terms, output);
  requireSound(
    await chain.checkSignature(terms, output, {
      payerHasCode: hasCode,
      allowancePending: option.actions.some(({ data }) => data.method === "eth_sendTransaction"),
    }),
  );
  return { signature: output, lapsesAt: null };
}

/** Locks the payment to this option and hands it to the worker, in one transaction. */
async function accept(
  services: Services,
  payment: Payment,
  option: PaymentOption,
  signed: Signed & { proof: string | null },
  { results, given }: { results: Result[]; given: GivenData },
): Promise<void> {
  const resultsDigest = createHash("sha256").update(JSON.stringify(results)).digest("hex");
  await services.store.transaction(async (tx) => {
    const locked = await tx.lockPayment(payment.id);
    if (locked === null) throw new AppError("payment_not_found", "Payment not found");
    if (alreadyDecided(locked, option.id)) return;
    await requireUnlocked(tx, payment.id, option.id);
    const changed = await tx.change(locked, {
      type: "confirm_accepted",
      body: { optionId: option.id, chain: option.chain, asset: option.asset, payer: option.payer },
      optionId: option.id,
    });
    if (changed.kind === "refused")
      throw new AppError("payment_expired", "The payment has expired");
    if (!(await tx.claimAuthorization(option)))
      throw new AppError("invalid_state", "This authorization belongs to another payment");
    const payer = { chain: option.chain, address: option.payer };
    await acceptCollected(tx, services, payment, payer, given);
    await tx.insertAttempt({
      id: newId("attempt"),
      paymentId: payment.id,
      optionId: option.id,
      resultsDigest,
      ...signed,
    });
    await tx.sendJob(SUBMIT_CAPTURE, { paymentId: payment.id });
    await failpoint("confirm.before_commit");
  });
  await failpoint("confirm.after_commit");
}

const repeats = (payment: Payment, optionId: string): boolean =>
  payment.status !== "requires_action" && payment.optionId === optionId;

/** Whether a confirm of this option is answered with where the payment stands, whatever else it says; never for a payment that is not the caller's to see. */
export async function isRepeatedConfirm(
  services: Services,
  caller: Caller,
  id: string,
  optionId: string,
): Promise<boolean> {
  try {
    return repeats(await findPayment(services, caller, id), optionId);
  } catch (error) {
    if (error instanceof AppError && error.code === "payment_not_found") return false;
    throw error;
  }
}

/**
 * Takes a wallet's results for an option. Returns once they are stored and handed to the worker, or at once when they
 * were before. Results that cannot belong to the actions end the payment; a signature that does not verify changes nothing.
 */
export async function confirmPayment(
  services: Services,
  caller: Caller,
  id: string,
  input: ConfirmInput,
): Promise<void> {
  const payment = await findPayment(services, caller, id);
  if (repeats(payment, input.optionId)) return;
  const found = await services.store.option(input.optionId);
  if (
    found?.mechanism === "native" &&
    found.paymentId === payment.id &&
    (await services.store.pushServed(found.id))
  )
    return claimPush(services, payment, found, input.results);
  if (alreadyDecided(payment, input.optionId)) return;
  const option = requireUsable(found, payment.id, services.clock.now());
  const { authorization } = option;
  if (authorization.mechanism === "native")
    throw new AppError("params_validation", "Validation error: fetch the option's actions first");
  const chain = services.chains.get(option.chain);
  if (chain === undefined) throw new ChainUnavailable(`${option.chain} is not configured`);
  const payer = { chain: option.chain, address: option.payer };
  await requireClear(services, payer);
  await requireBudget(services, payer);
  const given = await requireCollected(services, payment, payer, input.collectedData);
  const facts = await chain.payerFacts(option.payer, [option.asset]);
  const aligned = alignResults(option.actions, input.results, facts.hasCode);
  if (aligned.kind === "misaligned") {
    await endMisaligned(services, payment.id, option.id, aligned.reason);
    return;
  }
  requireShort(aligned.outputs);
  const proof = await requireProof(chain, option, aligned.outputs, facts.hasCode);
  await requireFairPrice(services, payment, option, chain);
  const signed = await checkOutput(services, chain, option, authorization, {
    output: aligned.outputs.at(-1) ?? "",
    hasCode: facts.hasCode,
  });
  await failpoint("confirm.checked");
  await accept(services, payment, option, { ...signed, proof }, { results: input.results, given });
}
