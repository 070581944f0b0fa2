import type { PaymentStatus } from "#server/domain/payment/state.ts";
import type { Page, Position } from "./merchants.ts";

/** Which payments a list is about; null: no such filter. Times are microseconds since 1970. */
export type PaymentFilter = {
  partnerId: string;
  environment: "test" | "live";
  merchantIds: string[] | null;
  statuses: PaymentStatus[] | null;
  /** Inclusive. */
  from: string | null;
  /** Exclusive. */
  to: string | null;
  /** CAIP-2 ids of the chains paid on. */
  chains: string[] | null;
  /** CAIP-19 ids of the tokens paid with. */
  assets: string[] | null;
  /** Part of the merchant's own reference, as written. */
  reference: string | null;
};

/** `amount` compares the payments' own amounts in major units, whatever their currencies. */
export type PaymentSort = { by: "date" | "amount"; dir: "asc" | "desc" };

/** What a caller asks for; absent: no such filter. */
export type PaymentQuery = {
  merchantIds?: string[] | undefined;
  statuses?: PaymentStatus[] | undefined;
  /** Microseconds since 1970, inclusive and exclusive. */
  from?: string | undefined;
  to?: string | undefined;
  chains?: string[] | undefined;
  symbols?: string[] | undefined;
  reference?: string | undefined;
};

/** Which page of which order; `after` null: the first one. */
export type PageWanted = { sort: PaymentSort; after: Position | null; limit: number };

/** A payment as a list shows it, with whatever is known of how it was paid. */
export type ListedPayment = {
  id: string;
  status: PaymentStatus;
  merchant: { id: string; name: string; iconUrl: string | null };
  referenceId: string;
  unit: string;
  minor: bigint;
  flow: "intermediary" | "direct";
  feeBps: number;
  /** In minor units of the payment's currency. */
  feeFixedMinor: bigint;
  createdAt: Date;
  lastUpdatedAt: Date;
  /** The option that was accepted or paid; null before. */
  option: { chain: string; asset: string; payer: string; amount: bigint } | null;
  /** What arrived; null before. */
  capture: { txHash: string; received: bigint } | null;
  /** Null where nothing is owed, and always in the direct flow. `txHash` and `settledAt` are null until it is final. */
  settlement: { amount: bigint; fee: bigint; txHash: string | null; settledAt: Date | null } | null;
};

/** Sums over every payment a filter names, not over one page. */
export type PaymentTotals = {
  /** Succeeded payments only, per unit, in minor units. */
  revenue: { unit: string; minor: bigint }[];
  /** Payments of any status. */
  payments: number;
  /** Distinct accounts that paid. */
  customers: number;
};

export type PaymentListReads = {
  paymentPage(
    filter: PaymentFilter,
    sort: PaymentSort,
    after: Position | null,
    limit: number,
  ): Promise<Page<ListedPayment>>;
  paymentTotals(filter: PaymentFilter): Promise<PaymentTotals>;
};
