import { AppError } from "#server/platform/app-error.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Payment, PaymentOption } from "#server/ports/store.ts";

/** A payment with what paid it; `info` is null unless it succeeded. */
export type PaymentView = {
  payment: Payment;
  info: { txId: string; option: PaymentOption } | null;
};

/** What reached the merchant, once the transfer is final; `unit` is `caip19/…`. */
export type SettledView = { txId: string; asset: string; amount: bigint };

const notFound = () => new AppError("payment_not_found", "Payment not found");

async function mayRead(services: Services, caller: Caller, payment: Payment): Promise<boolean> {
  if (payment.environment !== caller.environment) return false;
  if (caller.kind === "merchant") return payment.merchantId === caller.merchantId;
  const reach = caller.kind === "partner" ? caller : caller.reach;
  if (reach === "all") return true;
  if ("paymentId" in reach) return payment.id === reach.paymentId;
  if (reach.merchantId !== null) return payment.merchantId === reach.merchantId;
  const merchant = await services.store.merchant(payment.merchantId);
  return merchant?.partnerId === reach.partnerId;
}

/** The payment, if this caller may see it; a foreign one and a missing one are refused alike. */
export async function findPayment(
  services: Services,
  caller: Caller,
  id: string,
): Promise<Payment> {
  const payment = await services.store.payment(id);
  if (payment === null || !(await mayRead(services, caller, payment))) throw notFound();
  return payment;
}

async function view(services: Services, payment: Payment): Promise<PaymentView> {
  if (payment.status !== "succeeded") return { payment, info: null };
  const capture = await services.store.capture(payment.id);
  const option = capture === null ? null : await services.store.option(capture.optionId);
  return {
    payment,
    info: capture === null || option === null ? null : { txId: capture.txHash, option },
  };
}

/** Where a payment stands now. */
export const readStatus = async (
  services: Services,
  caller: Caller,
  id: string,
): Promise<PaymentView> => view(services, await findPayment(services, caller, id));

/** Full details with the settlement, which is null until its transfer is final and always null in the direct flow. */
export async function readPayment(
  services: Services,
  caller: Caller,
  id: string,
): Promise<PaymentView & { settlement: SettledView | null }> {
  const payment = await findPayment(services, caller, id);
  const seen = await view(services, payment);
  if (payment.status !== "succeeded") return { ...seen, settlement: null };
  const settlement = await services.store.settlement(id);
  return {
    ...seen,
    settlement:
      settlement?.state === "final" && settlement.txHash !== null
        ? { txId: settlement.txHash, asset: settlement.asset, amount: settlement.amount }
        : null,
  };
}

/** `readStatus`, to be called any number of times: it keeps nothing else of the request it is made for. */
export const statusReader =
  (services: Services, caller: Caller, id: string): (() => Promise<PaymentView>) =>
  () =>
    readStatus(services, caller, id);
