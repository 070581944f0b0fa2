import type { z } from "zod";
import { fiatAmount } from "#server/contract/display.ts";
import type { listMerchantPayments, listPayments } from "#server/contract/payment-list.ts";
import type { amount } from "#server/contract/shapes.ts";
import { formatMinor } from "#server/domain/money/amount.ts";
import { currencyOfUnit } from "#server/domain/money/currencies.ts";
import { isFinal } from "#server/domain/payment/transitions.ts";
import type { Page } from "#server/ports/merchants.ts";
import type {
  ListedPayment,
  PageWanted,
  PaymentQuery,
  PaymentSort,
  PaymentTotals,
} from "#server/ports/payment-list.ts";
import type { Services } from "#server/ports/services.ts";
import { readCursor, writeCursor } from "./page-cursor.ts";
import { tokenView } from "./views.ts";

type Query = z.output<(typeof listMerchantPayments)["query"]> & {
  merchantId?: string[] | undefined;
};
type WireList = z.input<(typeof listPayments)["response"]>;
type WireRow = WireList["data"][number];

const DEFAULT_LIMIT = 50;

/** A token amount whose display leaves out what is not known. */
function shown(services: Services, asset: string, minor: bigint): z.input<typeof amount> {
  const { display, ...rest } = tokenView(services, asset, minor);
  const { assetName, assetSymbol, decimals, ...more } = display;
  const known = Object.fromEntries(Object.entries(more).filter(([, value]) => value !== null));
  return { ...rest, display: { assetName, assetSymbol, decimals, ...known } };
}

/** Basis points as per cent, without trailing zeros: 40 is `0.4`. */
const percentage = (bps: number): string =>
  formatMinor(BigInt(bps), 2).replace(/\.?0+$/, "") || "0";

type Paid = Pick<WireRow, "tokenAmount" | "buyer" | "transaction">;

function paidWith(services: Services, { option, capture }: ListedPayment): Paid {
  if (option === null) return {};
  const networkId = option.chain.slice(option.chain.indexOf(":") + 1);
  return {
    tokenAmount: shown(services, option.asset, capture?.received ?? option.amount),
    buyer: { accountCaip10: `${option.chain}:${option.payer}` },
    ...(capture === null ? {} : { transaction: { networkId, hash: capture.txHash } }),
  };
}

type Settled = Pick<WireRow, "fees" | "settlement" | "settledAt">;

function settledWith(services: Services, payment: ListedPayment): Settled {
  const { option, capture, settlement, flow, status } = payment;
  if (option === null || capture === null || settlement === null)
    return flow === "intermediary" && status === "succeeded"
      ? { settlement: { settled: false } }
      : {};
  const { amount: net, fee, txHash, settledAt } = settlement;
  const share = (capture.received * payment.feeFixedMinor) / payment.minor;
  const fees = {
    total: shown(services, option.asset, fee),
    fixed: shown(services, option.asset, share < fee ? share : fee),
    percentage: percentage(payment.feeBps),
  };
  if (txHash === null) return { fees, settlement: { settled: false } };
  return {
    fees,
    settlement: { settled: true, amount: shown(services, option.asset, net), txHash },
    ...(settledAt === null ? {} : { settledAt: settledAt.toISOString() }),
  };
}

const rowView = (services: Services, payment: ListedPayment): WireRow => ({
  paymentId: payment.id,
  merchant: payment.merchant,
  merchantId: payment.merchant.id,
  referenceId: payment.referenceId,
  status: payment.status,
  isTerminal: isFinal(payment.status),
  fiatAmount: fiatAmount(payment.unit, payment.minor),
  ...paidWith(services, payment),
  ...settledWith(services, payment),
  createdAt: payment.createdAt.toISOString(),
  lastUpdatedAt: payment.lastUpdatedAt.toISOString(),
});

const statsView = ({ revenue, payments, customers }: PaymentTotals): WireList["stats"] => ({
  totalRevenue: revenue.map(({ unit, minor }) => {
    const currency = currencyOfUnit(unit);
    return {
      amount: Number(formatMinor(minor, currency?.digits ?? 0)),
      currency: currency?.code ?? unit,
      value: minor.toString(),
    };
  }),
  totalTransactions: payments,
  totalCustomers: customers,
});

/** Which payments a query asks for. */
export const listQuery = (query: Query): PaymentQuery => ({
  merchantIds: query.merchantId,
  statuses: query.status,
  from: query.startTs,
  to: query.endTs,
  chains: query.network,
  symbols: query.token_symbol,
  reference: query.referenceId,
});

/** What a cursor says of the order it was made in. */
const orderOf = ({ by, dir }: PaymentSort): string => `${by === "date" ? "time" : by}.${dir}`;

/** Which page of them; refuses a cursor of another order. */
export function listPage(query: Query): PageWanted {
  const sort: PaymentSort = { by: query.sortBy ?? "date", dir: query.sortDir ?? "desc" };
  const after = readCursor(orderOf(sort), query.cursor);
  return { sort, after, limit: query.limit ?? DEFAULT_LIMIT };
}

/** A page as both list endpoints answer it. */
export const listView = (
  services: Services,
  { sort }: PageWanted,
  { page, totals }: { page: Page<ListedPayment>; totals: PaymentTotals },
): WireList => ({
  data: page.rows.map((payment) => rowView(services, payment)),
  nextCursor: writeCursor(orderOf(sort), page.next),
  hasMore: page.next !== null,
  stats: statsView(totals),
});
