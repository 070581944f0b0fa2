import { accountId } from "#server/domain/asset/caip.ts";
import type { PaymentStatus } from "#server/domain/payment/state.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Payment } from "#server/ports/store.ts";
import { findPayment } from "./read-payment.ts";

/** What a wallet may know about a payment; `buyer` is the CAIP-10 account whose results were accepted. */
export type PaymentDescription = {
  status: PaymentStatus;
  unit: string;
  minor: bigint;
  expiresAt: number;
  merchant: { name: string; iconUrl: string | null };
  buyer: string | null;
};

/** Describes a payment that was already found. */
export async function describeFound(
  services: Services,
  payment: Payment,
): Promise<PaymentDescription> {
  const merchant = await services.store.merchant(payment.merchantId);
  const option = payment.optionId === null ? null : await services.store.option(payment.optionId);
  return {
    status: payment.status,
    unit: payment.unit,
    minor: payment.minor,
    expiresAt: payment.expiresAt,
    merchant: { name: merchant?.name ?? "", iconUrl: merchant?.iconUrl ?? null },
    buyer: option === null ? null : accountId({ chain: option.chain, address: option.payer }),
  };
}

/** The gateway's plain read. */
export const describePayment = async (
  services: Services,
  caller: Caller,
  id: string,
): Promise<PaymentDescription> => describeFound(services, await findPayment(services, caller, id));
