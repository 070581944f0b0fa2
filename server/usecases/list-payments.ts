import type { Page } from "#server/ports/merchants.ts";
import type {
  ListedPayment,
  PageWanted,
  PaymentFilter,
  PaymentQuery,
  PaymentTotals,
} from "#server/ports/payment-list.ts";
import type { Caller, Services } from "#server/ports/services.ts";

/** The tokens of this environment with these symbols, whatever the case. */
function assetsOf(services: Services, caller: Caller, symbols: string[]): string[] {
  const wanted = new Set(symbols.map((symbol) => symbol.toLowerCase()));
  return [...services.chains.values()]
    .filter(({ facts }) => facts.environment === caller.environment)
    .flatMap(({ facts }) => facts.registered)
    .filter(({ symbol }) => wanted.has(symbol.toLowerCase()))
    .map(({ asset }) => asset);
}

/** The merchants a caller asks about, of those its key is for; null: all of the partner's. */
function merchantsOf(
  caller: Caller & { kind: "merchant" | "partner" },
  wanted: string[] | undefined,
): string[] | null {
  const only = caller.merchantId;
  if (only === null) return wanted ?? null;
  return wanted === undefined || wanted.includes(only) ? [only] : [];
}

/** A page of the payments a caller may see, deleted merchants' among them, and sums over all of them. */
export async function listPayments(
  services: Services,
  caller: Caller & { kind: "merchant" | "partner" },
  query: PaymentQuery,
  wanted: PageWanted,
): Promise<{ page: Page<ListedPayment>; totals: PaymentTotals }> {
  const filter: PaymentFilter = {
    partnerId: caller.partnerId,
    environment: caller.environment,
    merchantIds: merchantsOf(caller, query.merchantIds),
    statuses: query.statuses ?? null,
    from: query.from ?? null,
    to: query.to ?? null,
    chains: query.chains ?? null,
    assets: query.symbols === undefined ? null : assetsOf(services, caller, query.symbols),
    reference: query.reference ?? null,
  };
  const [page, totals] = await Promise.all([
    services.store.paymentPage(filter, wanted.sort, wanted.after, wanted.limit),
    services.store.paymentTotals(filter),
  ]);
  return { page, totals };
}
