import type { CollectedData, Output } from "./client.ts";
import type { PaymentOption } from "./shapes.ts";

/** What there is to confirm. */
export type Submission = {
  option: PaymentOption;
  outputs: Output[];
  collectedData?: CollectedData;
  /** Hashes the wallet broadcast. */
  transactions: string[];
  /** The last action was a broadcast: money may be on its way whatever the service answers. */
  moneyMayHaveMoved: boolean;
  /** After this instant (server's clock, ms) an unanswered confirm is not sent again, unless money may have moved. */
  deadlineMs: number;
};
