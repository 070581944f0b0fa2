import type { Env } from "#server/platform/env.ts";
import type { Log } from "#server/platform/log.ts";
import type { ChainPort } from "./chain.ts";
import type { Clock } from "./clock.ts";
import type { PriceSource } from "./prices.ts";
import type { Screening } from "./screening.ts";
import type { Store } from "./store.ts";
import type { Wakeup } from "./wakeup.ts";
import type { WebhookSender } from "./webhook-sender.ts";

/** What use cases are handed. */
export type Services = {
  env: Pick<
    Env,
    | "FLORIN_MODE"
    | "FLORIN_MAX_PAYMENT_USD"
    | "FLORIN_MIN_PAYMENT_CENTS"
    | "FLORIN_SETTLEMENT_BATCH_S"
    | "FLORIN_TOKEN_SECRET"
    | "FLORIN_DATA_SECRET"
    | "FLORIN_DATA_DAYS"
    | "baseUrl"
    | "checkoutUrl"
    | "payHost"
  >;
  log: Log;
  clock: Clock;
  store: Store;
  /** By CAIP-2. */
  chains: Map<string, ChainPort>;
  prices: PriceSource;
  screening: Screening;
  wakeup: Wakeup;
  webhooks: WebhookSender;
};

/** Who calls, after authentication. */
export type Caller =
  | {
      kind: "merchant";
      environment: "test" | "live";
      partnerId: string;
      merchantId: string;
      keyId: string;
    }
  | {
      kind: "partner";
      environment: "test" | "live";
      partnerId: string;
      /** The one merchant this key is for; null: all of the partner's. */
      merchantId: string | null;
      keyId: string;
    }
  | {
      kind: "gateway";
      environment: "test" | "live";
      partnerId: string;
      /** A merchant key with the gateway scope reaches only its own partner's payments (or one merchant's), a page only its own. */
      reach: "all" | { partnerId: string; merchantId: string | null } | { paymentId: string };
      keyId: string;
    };
