import type { BuyerStage } from "#server/domain/checkout/stage.ts";

/** An amount of one asset as a page shows it: `value` in minor units, `display` in plain digits (`12.5`). */
export type ShownAmount = { value: string; decimals: number; display: string; symbol: string };

/** Money on a chain as a page names it: token and network together. */
export type ShownMoney = ShownAmount & { asset: string; network: string; iconUrl: string | null };

/** One transaction a page links to; `url` null: no explorer is configured for the chain. */
export type ShownTx = { id: string; url: string | null };

/** Everything a buyer's page may know of a payment; nothing in it is secret from who holds the link. */
export type CheckoutView = {
  id: string;
  stage: BuyerStage;
  /** The situation in the word every part of Florin has for it, such as `processing.sent`. */
  code: string;
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
  /** With `payment_id` in them already; null: redirecting is disabled. */
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
    /** False: the buyer's wallet named a transfer that nobody has seen yet. */
    isSeen: boolean;
  } | null;
  /** Arrivals that are not the payment itself: short, over, late, double, wrong token. */
  arrivals: {
    kind: "short" | "over" | "late" | "double" | "wrong_token" | "orphaned" | "other";
    received: ShownMoney;
    due: ShownMoney | null;
    tx: ShownTx;
    /** The account it came from. */
    from: string;
    /** Unix seconds when it was noticed. */
    at: number;
    /** The shop has dealt with it. */
    resolved: boolean;
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

/** One thing a wallet is asked for, in the order it is asked. `approve` and `send` cost the buyer a network fee. */
export type PayStep =
  /** Signs a message that proves the account is theirs; no money moves. */
  | { kind: "prove" }
  /** Takes an older allowance back first, because the token refuses to change it. */
  | { kind: "reset_allowance" }
  /** Allows the payment's contract to take at most `amount`; no money moves. */
  | { kind: "approve"; amount: ShownAmount; spender: string }
  /** Signs the payment; whoever pays the network fee, it is not the buyer. */
  | { kind: "sign" }
  /** Sends the money itself. */
  | { kind: "send" };

/** One way in which one of the given accounts can pay. */
export type CheckoutOption = {
  id: string;
  /** CAIP-10 as it was given. */
  account: string;
  /** CAIP-2. */
  chain: string;
  money: ShownMoney;
  networkIconUrl: string | null;
  /** Usual seconds until the payment has succeeded. */
  etaS: number;
  /** Unix seconds after which this is no longer offered; null: as long as the payment is open. */
  expiresAt: number | null;
  /** The account must fill in a form before this option can be used; the form is `checkout.collectForm`. */
  needsData: boolean;
  /** Known before `checkout.fetch`, which gives the calls themselves, one for each step. */
  steps: PayStep[];
  /** Who pays the network's fee for moving the money. */
  networkFee: "shop" | "buyer";
};

/** Why an account cannot pay with an asset. `network_away` and `price_away` may be over soon. */
export type UnavailableReason =
  /** The balance does not reach: `short` is what is missing. */
  | "short"
  /** The account is on a network this payment cannot be paid on. */
  | "unsupported_network"
  /** The shop takes no money in this asset. */
  | "not_accepted"
  /** The network gave no answer in time. */
  | "network_away"
  /** There is no price to be relied on. */
  | "price_away"
  /** Accounts of this kind (a contract, an account that is not set up) cannot pay with this asset. */
  | "account_kind"
  /** The account is the one the money would go to. */
  | "own_account";

/** What one of the given accounts cannot pay with, and why; `money` is what it would cost, null where that is not known. */
export type UnavailableOption = {
  account: string;
  chain: string;
  /** The name of the network, or its CAIP-2 where it is not known. */
  network: string;
  /** Null: nothing on that network. */
  symbol: string | null;
  reason: UnavailableReason;
  money: ShownMoney | null;
  /** For `short`: what the account holds, and what is missing. */
  holds: ShownAmount | null;
  short: ShownAmount | null;
};

/** What the given accounts can and cannot pay with; the cheapest to use first. */
export type CheckoutOptions = { options: CheckoutOption[]; unavailable: UnavailableOption[] };

/** A network the payment can be paid on, for a wallet that has to be told of it. */
export type CheckoutChain = {
  caip2: string;
  name: string;
  native: { name: string; symbol: string; decimals: number };
  /** An address of a node that any browser may use; null: none. */
  rpcUrl: string | null;
  explorerUrl: string | null;
  iconUrl: string | null;
  /** Symbols of what is accepted there. */
  tokens: string[];
};

/** What a refused call says: the codes of the REST API, and nothing of the inside. */
export type ApiErrorData = {
  code: string;
  status: number;
  requestId: string;
  issues: { path: string; field: string; message: string }[];
  /** Whether the same call may work later without a change. */
  retryable: boolean;
  /** Seconds to wait before that; null: no word on it. */
  retryAfterS: number | null;
};
