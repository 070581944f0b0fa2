/** An amount of one asset as a page shows it: `value` in minor units, `display` in plain digits (`12.5`). */
export type ShownAmount = { value: string; decimals: number; display: string; symbol: string };

/** Money on a chain as a page names it: token and network together. */
export type ShownMoney = ShownAmount & { asset: string; network: string; iconUrl: string | null };

/** One transaction a page links to; `url` null: no explorer is configured for the chain. */
export type ShownTx = { id: string; url: string | null };

/** Where a payment stands, in the words the pages of a buyer share; one for each screen that does not depend on the wallet. */
export type BuyerStage =
  | "ready"
  | "submitted"
  | "confirming"
  | "slow"
  | "still_due"
  | "overpaid"
  | "succeeded"
  | "failed"
  | "expired_unpaid"
  | "expired_paid"
  | "cancelled"
  | "refunded";

/** Everything a buyer's page may know of a payment; nothing in it is secret from who holds the link. */
export type CheckoutView = {
  id: string;
  stage: BuyerStage;
  status: "requires_action" | "processing" | "succeeded" | "failed" | "expired" | "cancelled";
  isFinal: boolean;
  failureCode: string | null;
  /** Changes with anything a page shows; a long poll waits for another one. */
  version: string;
  merchant: { name: string; iconUrl: string | null; accent: string | null };
  /** The merchant's own price; `value` in minor units of `currency`. */
  amount: { value: string; decimals: number; display: string; currency: string };
  reference: string;
  description: string | null;
  /** Unix seconds. */
  createdAt: number;
  expiresAt: number;
  /** Unix milliseconds, when this view was made: pages count by it and never by their own clock. */
  serverNow: number;
  /** Null: redirecting is disabled. */
  redirect: { successUrl: string; errorUrl: string } | null;
  sandbox: boolean;
  /** Set once a buyer's signature or transfer was accepted; `tx` once one is known, `receivedAt` once it is on chain. */
  paid: {
    money: ShownMoney;
    payer: string;
    recipient: string;
    tx: ShownTx | null;
    receivedAt: number | null;
    /** Usual seconds from acceptance to success. */
    etaS: number;
    /** Unix seconds when it was accepted. */
    acceptedAt: number;
  } | null;
  /** Arrivals that are not the payment itself: short, over, late, double, wrong token. */
  arrivals: {
    kind: "short" | "over" | "late" | "double" | "wrong_token" | "orphaned" | "other";
    received: ShownMoney;
    due: ShownMoney | null;
    tx: ShownTx;
  }[];
  refunds: {
    state: string;
    money: ShownMoney;
    to: string;
    tx: ShownTx | null;
    at: number;
  }[];
  /** Who ended it: `merchant` or `buyer`; null: not cancelled. */
  cancelledBy: "merchant" | "buyer" | null;
};
