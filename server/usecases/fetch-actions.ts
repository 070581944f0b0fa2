import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import { isTransfer, TRAITS } from "#server/domain/option/authorization.ts";
import { isFinal } from "#server/domain/payment/transitions.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { PaymentOption } from "#server/ports/store.ts";
import { requireBuildData } from "./build-data.ts";
import { requireCollected } from "./collect-data.ts";
import { requireUnlocked } from "./push-lock.ts";
import { findPayment } from "./read-payment.ts";
import { requireClear } from "./screen-account.ts";
import { serveTransaction } from "./serve-transaction.ts";

/** Refuses an option that is not this payment's, or whose quote is over. */
export function requireUsable(
  option: PaymentOption | null,
  paymentId: string,
  now: number,
): PaymentOption {
  if (option === null || option.paymentId !== paymentId)
    throw new AppError("params_validation", "Validation error: Option not found");
  if (option.expiresAt !== null && option.expiresAt <= now)
    throw new AppError("quote_expired", "The quote has expired: ask for the options again");
  return option;
}

/** Records that the option's transfer is handed out, if it still may be; from here on money can arrive without another call. */
async function handOut(services: Services, option: PaymentOption): Promise<void> {
  await services.store.transaction(async (tx) => {
    const payment = await tx.lockPayment(option.paymentId);
    if (payment?.status !== "requires_action")
      throw new AppError("invalid_state", `The payment is ${payment?.status}`);
    if (payment.windowClosed) throw new AppError("payment_expired", "The payment has expired");
    await requireUnlocked(tx, payment.id, option.id);
    await tx.offerPush(option);
  });
}

/** Empty data asks for everything; any other must have been issued for this option, where its calls come from fetch. */
function requireData(services: Services, option: PaymentOption, data: string): void {
  if (data === "") return;
  if (TRAITS[option.mechanism].calls === "fetch")
    requireBuildData(services.env.FLORIN_TOKEN_SECRET, option, data);
  else
    throw new AppError(
      "params_validation",
      "Validation error: data was not issued for this option",
    );
}

/** The actions of an option; the same ones however often it is asked while they are valid. */
export async function fetchActions(
  services: Services,
  caller: Caller,
  id: string,
  input: { optionId: string; data: string },
): Promise<WalletRpcAction[]> {
  const payment = await findPayment(services, caller, id);
  if (
    payment.status === "expired" ||
    (payment.status === "requires_action" && payment.windowClosed)
  )
    throw new AppError("payment_expired", "The payment has expired");
  if (payment.status === "processing" || isFinal(payment.status))
    throw new AppError("invalid_state", `The payment is ${payment.status}`);
  const found = await services.store.option(input.optionId);
  if (found?.paymentId === payment.id) requireData(services, found, input.data);
  const option = requireUsable(found, payment.id, services.clock.now());
  await requireUnlocked(services.store, payment.id, option.id);
  const payer = { chain: option.chain, address: option.payer };
  await requireClear(services, payer);
  if (option.mechanism === "native") {
    // Money moves without another call of ours, so this is the last moment to ask.
    await requireCollected(services, payment, payer, undefined);
    await handOut(services, option);
  }
  const { authorization } = option;
  return isTransfer(authorization)
    ? [await serveTransaction(services, option, authorization)]
    : option.actions;
}
