import { accountId, parseAccount } from "#server/domain/asset/caip.ts";
import type { CollectLink } from "#server/domain/collect/token.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Brand } from "#server/ports/checkout.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Merchant, Payment } from "#server/ports/store.ts";
import { collectionFor, isCollected } from "./collect-data.ts";
import { findPayment } from "./read-payment.ts";
import { openCollectLink } from "./submit-collected.ts";

/** A form with the right to hand it in; the token's expiry is Unix seconds. */
export type FormOffer = {
  payment: Payment;
  merchant: Merchant;
  brand: Brand;
  accounts: string[];
  token: string;
  given: boolean;
};

async function withMerchant(
  services: Services,
  payment: Payment,
  offer: Pick<FormOffer, "accounts" | "token" | "given">,
): Promise<FormOffer> {
  const [merchant, brand] = await Promise.all([
    services.store.merchant(payment.merchantId),
    services.store.brandOf(payment.merchantId),
  ]);
  if (merchant === null) throw new AppError("payment_not_found", "Payment not found");
  return { payment, merchant, brand, ...offer };
}

/** The form that one account (CAIP-10) owes for a payment; null: it owes none. */
export async function collectFormFor(
  services: Services,
  caller: Caller,
  id: string,
  written: string,
): Promise<FormOffer | null> {
  const payment = await findPayment(services, caller, id);
  const account = parseAccount(written);
  if (account === null)
    throw new AppError("params_validation", "Validation error: the account is malformed", {
      status: 422,
      issues: [{ path: "account", field: "account", message: "Not a CAIP-10 account" }],
    });
  const owed = (await collectionFor(services, payment, [account])).of(account);
  if (owed === null) return null;
  const token = new URL(owed.url).searchParams.get("t") ?? "";
  const offer = { accounts: [accountId(account)], token, given: false };
  return withMerchant(services, payment, offer);
}

/** The form that a link is for. Links that were changed, made up or are too old are refused alike. */
export async function openCollectForm(services: Services, link: CollectLink): Promise<FormOffer> {
  const payment = await openCollectLink(services, link);
  const { accounts, token } = link;
  const given = await isCollected(services, payment, accounts);
  return withMerchant(services, payment, { accounts, token, given });
}
