import { addressOf, chainOf } from "#server/domain/asset/caip.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Refund, RefundView } from "#server/ports/refunds.ts";
import type { Caller, Services } from "#server/ports/services.ts";
import type { Payment } from "#server/ports/store.ts";

type MerchantCaller = Caller & { kind: "merchant" };

/** Adds the transfer the merchant's wallet is to make, if the refund waits for one. */
export function viewRefund(services: Services, refund: Refund, payment: Payment): RefundView {
  if (refund.state !== "awaiting_merchant") return { refund, transfer: null };
  const chain = services.chains.get(chainOf(refund.asset));
  const from = addressOf(payment.destinations[refund.asset] ?? "");
  const to = addressOf(refund.destination);
  return { refund, transfer: chain?.walletTransfer(refund.asset, from, to, refund.amount) ?? null };
}

async function viewAll(services: Services, refunds: Refund[]): Promise<RefundView[]> {
  const payments = await Promise.all(
    refunds.map(({ paymentId }) => services.store.payment(paymentId)),
  );
  return refunds.flatMap((refund, index) => {
    const payment = payments[index];
    return payment == null ? [] : [viewRefund(services, refund, payment)];
  });
}

/** One of the caller's own refunds; a foreign one and a missing one are refused alike. */
export async function readRefund(
  services: Services,
  caller: MerchantCaller,
  id: string,
): Promise<RefundView> {
  const refund = await services.store.refund(id);
  const own = refund?.merchantId === caller.merchantId && refund.environment === caller.environment;
  const [found] = own ? await viewAll(services, [refund]) : [];
  if (found === undefined) throw new AppError("not_found", "Refund not found");
  return found;
}

/** The caller's refunds, newest first; `nextCursor` is null on the last page. */
export async function listRefunds(
  services: Services,
  caller: MerchantCaller,
  page: { paymentId: string | null; cursor: string | null; limit: number },
): Promise<{ refunds: RefundView[]; nextCursor: string | null }> {
  const { merchantId, environment } = caller;
  const found = await services.store.refunds(merchantId, environment, {
    ...page,
    limit: page.limit + 1,
  });
  if (found === null) throw new AppError("invalid_params", "cursor: names no refund");
  const shown = found.slice(0, page.limit);
  return {
    refunds: await viewAll(services, shown),
    nextCursor: found.length > page.limit ? (shown.at(-1)?.id ?? null) : null,
  };
}
