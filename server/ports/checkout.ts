import type { DepthRule, ExceptionKind } from "#server/domain/payment/evidence.ts";
import type { AssetAmount, RefundState } from "#server/domain/payment/facts.ts";

/** How a merchant's pages look; `iconDigest` names the bytes that are served, null: there are none. */
export type Brand = { accent: string | null; iconDigest: string | null };

/** The way a payment is paid, or was tried to be. Times are Unix seconds. */
export type PaidBy = AssetAmount & {
  chain: string;
  payer: string;
  recipient: string;
  depth: DepthRule;
  /** When the buyer's signature or claim was taken. */
  acceptedAt: number;
  /** False: there is only the word of who claimed it, and no node knows the transfer. */
  isSeen: boolean;
  /** Null: no transaction is known. */
  txId: string | null;
  /** Time of the block the money came in; null: in none yet. */
  receivedAt: number | null;
};

/** Money that came and is not the payment; `due` is what was asked for in the same asset, null: nothing was. */
export type Arrival = AssetAmount & {
  kind: ExceptionKind;
  txId: string;
  payer: string;
  at: number;
  open: boolean;
  due: bigint | null;
};

/** Money given back; `at` is when it ended, or was asked for. */
export type ReturnedMoney = AssetAmount & {
  state: RefundState;
  to: string;
  txId: string | null;
  at: number;
};

/** What a buyer's page shows beside the payment and its situation, read at one moment. */
export type CheckoutFacts = {
  version: number;
  description: string | null;
  merchantName: string;
  brand: Brand;
  paid: PaidBy | null;
  /** Whether a node knew a transfer by the buyer's own wallet. */
  isSent: boolean;
  arrivals: Arrival[];
  refunds: ReturnedMoney[];
  cancelledBy: "merchant" | "buyer" | null;
};

/** A merchant's icon as it is served. */
export type Icon = { type: string; bytes: Uint8Array; digest: string };

/** Reads of the buyer's pages, without locks. */
export type CheckoutReads = {
  /** Null: no such payment. */
  checkoutFacts(paymentId: string): Promise<CheckoutFacts | null>;
  /** Null: the merchant has none. */
  merchantIcon(merchantId: string): Promise<Icon | null>;
  brandOf(merchantId: string): Promise<Brand>;
  /** Origins that may frame a payment's pages; null: there is no such payment in this environment. */
  frameOrigins(paymentId: string, environment: "test" | "live"): Promise<string[] | null>;
};
