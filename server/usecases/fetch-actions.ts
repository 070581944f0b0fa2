import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import { isFinal } from "#server/domain/payment/transitions.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { PaymentOption } from "#server/ports/store.ts";
import { findPayment } from "./read-payment.ts";
import { requireClear } from "./screen-account.ts";

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
  const option = requireUsable(
    await services.store.option(input.optionId),
    payment.id,
    services.clock.now(),
  );
  if (input.data !== "")
    throw new AppError(
      "params_validation",
      "Validation error: data was not issued for this option",
    );
  await requireClear(services, { chain: option.chain, address: option.payer });
  return option.actions;
}
