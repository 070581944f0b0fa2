import type { WalletRpcAction } from "#server/domain/option/actions.ts";

/** Money given back for a payment, in the asset it was paid with. Times are Unix seconds. */
export type Refund = {
  id: string;
  paymentId: string;
  merchantId: string;
  environment: "test" | "live";
  /** CAIP-19 without prefix. */
  asset: string;
  /** Minor units of the asset. */
  amount: bigint;
  /** CAIP-10 of the account that paid. */
  destination: string;
  /** `record`: done elsewhere, only noted. `execute`: transferred by Florin or by the merchant's wallet. */
  kind: "record" | "execute";
  state: "pending" | "awaiting_merchant" | "succeeded" | "failed";
  reason: string | null;
  /** Why it failed or waits, in words. */
  detail: string | null;
  intentId: string | null;
  txHash: string | null;
  /** First block not yet read for the merchant's transfer; null unless one is awaited. */
  fromBlock: bigint | null;
  createdAt: number;
  /** Taken out of what is owed to the merchant, and not put back. */
  funded: boolean;
};

/** A refund with the call its merchant's wallet is to make; null unless the refund waits for that. */
export type RefundView = { refund: Refund; transfer: WalletRpcAction["data"] | null };

/** A refund as it is first written. */
export type NewRefund = Omit<Refund, "intentId" | "funded" | "createdAt">;

/** What a merchant's own transfer looks like on chain. */
export type RefundEvidence = { txHash: string; logIndex: number };

/** A settlement for which nothing was sent; amounts in minor units. */
export type UnsentSettlement = { id: string; amount: bigint; fee: bigint };

/** The part of a transaction that concerns refunds; the payment's row must be locked for all of it. */
export type RefundTx = {
  /** All refunds of a payment, oldest first. */
  refundsOf(paymentId: string): Promise<Refund[]>;
  /** Whether a refund that succeeded names this transfer: the same transaction, asset, amount and destination. */
  hasRefunded(transfer: {
    txHash: string;
    asset: string;
    amount: bigint;
    destination: string;
  }): Promise<boolean>;
  insertRefund(refund: NewRefund): Promise<Refund>;
  /** Changes a refund that has not ended and returns it as it is then; null: it had ended, or the evidence was used. */
  setRefund(
    id: string,
    patch: {
      state?: Refund["state"];
      intentId?: string;
      txHash?: string;
      logIndex?: number;
      fromBlock?: bigint;
      detail?: string;
    },
  ): Promise<Refund | null>;
  /** Tells the merchant what became of a refund, once for each topic. */
  announceRefund(
    refund: Refund,
    topic: "refund.created" | "refund.succeeded" | "refund.failed",
  ): Promise<void>;
  /** The live settlement of a payment, its row locked, if nothing was sent for it; null: none, or it was sent. */
  lockSettlement(paymentId: string): Promise<UnsentSettlement | null>;
  /**
   * Replaces a settlement that was not sent by one of another amount in the same state; 0 leaves none.
   * False: it was sent meanwhile, and nothing changed.
   */
  resizeSettlement(id: string, amount: bigint): Promise<boolean>;
  /** Counts the blocks up to `to` as read for these refunds. */
  moveWatch(ids: string[], to: bigint): Promise<void>;
};

/** Refunds as endpoints and the chain's loop read them. */
export type RefundStore = {
  refund(id: string): Promise<Refund | null>;
  /** Newest first, after the refund `cursor` names; null: the cursor is none of this merchant's refunds. */
  refunds(
    merchantId: string,
    environment: "test" | "live",
    page: { paymentId: string | null; cursor: string | null; limit: number },
  ): Promise<Refund[] | null>;
  /** Funded refunds without an intent, of assets that are not on hold, oldest first. */
  refundsDue(chain: string, limit: number): Promise<Refund[]>;
  refundOfIntent(intentId: string): Promise<Refund | null>;
  /** Refunds that wait for the merchant's transfer from a block up to `upTo` on, those furthest behind first, then oldest first. */
  refundsAwaited(chain: string, upTo: bigint, limit: number): Promise<Refund[]>;
};
