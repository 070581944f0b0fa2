import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Refund } from "#server/ports/refunds.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Payment } from "#server/ports/store.ts";

type MerchantCaller = Caller & { kind: "merchant" };

/** The transfer the merchant's wallet is to make; null unless the refund waits for it. */
export function transferOf(
  services: Services,
  refund: Refund,
  payment: Payment,
): WalletRpcAction["data"] | null {
  if (refund.state !== "awaiting_merchant") return null;
  const chain = services.chains.get(refund.asset.slice(0, refund.asset.indexOf("/")));
  const last = (account: string) => account.slice(account.lastIndexOf(":") + 1);
  const from = last(payment.destinations[refund.asset] ?? "");
  return chain?.walletTransfer(refund.asset, from, last(refund.destination), refund.amount) ?? null;
}

async function withPayments(services: Services, refunds: Refund[]) {
  const payments = await Promise.all(
    refunds.map(({ paymentId }) => services.store.payment(paymentId)),
  );
  return refunds.flatMap((refund, index) => {
    const payment = payments[index];
    return payment == null ? [] : [{ refund, payment }];
  });
}

/** One of the caller's own refunds; a foreign one and a missing one are refused alike. */
export async function readRefund(
  services: Services,
  caller: MerchantCaller,
  id: string,
): Promise<{ refund: Refund; payment: Payment }> {
  const refund = await services.store.refund(id);
  const own = refund?.merchantId === caller.merchantId && refund.environment === caller.environment;
  const [found] = own ? await withPayments(services, [refund]) : [];
  if (found === undefined) throw new AppError("not_found", "Refund not found");
  return found;
}

/** The caller's refunds, newest first; `nextCursor` is null on the last page. */
export async function listRefunds(
  services: Services,
  caller: MerchantCaller,
  page: { paymentId: string | null; cursor: string | null; limit: number },
): Promise<{ refunds: { refund: Refund; payment: Payment }[]; nextCursor: string | null }> {
  const { merchantId, environment } = caller;
  const found = await services.store.refunds(merchantId, environment, {
    ...page,
    limit: page.limit + 1,
  });
  if (found === null) throw new AppError("invalid_params", "cursor: names no refund");
  const shown = found.slice(0, page.limit);
  return {
    refunds: await withPayments(services, shown),
    nextCursor: found.length > page.limit ? (shown.at(-1)?.id ?? null) : null,
  };
}
