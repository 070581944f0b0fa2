import type { AssetAmount } from "./facts.ts";
import { counted, inWords } from "./in-words.ts";
import type { PaymentEventType } from "./state.ts";
import { networkName, type Surroundings, tokenMoney } from "./surroundings.ts";

/** Everything a timeline can tell of, besides the changes of status. */
export const HAPPENINGS = [
  "created",
  "options_served",
  "transfer_handed_out",
  "transfer_claimed",
  "transfer_judged",
  "results_accepted",
  "tx_stored",
  "tx_replaced",
  "tx_broadcast",
  "tx_mined",
  "tx_reverted",
  "transfer_seen",
  "capture_recorded",
  "settlement_created",
  "settlement_paid",
  "refund_created",
  "refund_ended",
  "exception_recorded",
  "exception_resolved",
] as const;

export type Happening = (typeof HAPPENINGS)[number];

/** What a program may read of an entry: ids, hashes and figures, never a signature, an account or a raw transaction. */
export type EntryData = Record<string, string | number | null>;

/** One thing that happened, as stored; `asset` and `minor` name the amount it is about. */
export type TimelineRow = {
  /** Unix seconds. */
  at: number;
  kind: Happening | PaymentEventType;
  amount: AssetAmount | null;
  data: EntryData;
};

/** One line of a payment's history. */
export type TimelineEntry = { at: number; kind: string; text: string; data: EntryData };

/** What an entry's sentence is made from. */
type Told = { money: string; network: string; data: EntryData };

const told = (data: EntryData, name: string): string => String(data[name] ?? "");
const PURPOSES: Record<string, string> = {
  capture: "the transfer that takes the money",
  settlement: "the payout to the shop",
  refund: "the transfer back to the buyer",
  fill: "a transfer that only uses up its number",
};
/** What a transaction is for, in words. */
const purpose = ({ data }: Told): string => PURPOSES[told(data, "purpose")] ?? "a transaction";

const JUDGED: Record<string, string> = {
  claimed: "The network does not know the claimed transfer",
  known: "The network knows the transfer; the payment is locked to it",
  mined: "The transfer is in a block",
  foreign: "The claimed transfer is not this payment's",
  gone: "The claimed transfer can no longer happen",
};

const REFUND_ENDS: Record<string, string> = {
  succeeded: "was returned to the buyer",
  failed: "could not be returned to the buyer",
};

const EXCEPTIONS: Record<string, string> = {
  late: "came too late",
  short: "is less than was due",
  over: "is more than was due",
  double: "came although the payment was paid already",
  wrong_token: "is not the token that was asked for",
  unattributed: "came without the buyer's approval of this payment",
  orphaned: "was taken back by the network",
};

/** One text for each kind of entry: a kind without one does not compile. */
export const TIMELINE_TEXTS: Record<Happening | PaymentEventType, (t: Told) => string> = {
  created: () => "The shop created the payment",
  options_served: ({ data, network }) =>
    `A wallet was offered ${counted(BigInt(told(data, "options")), "way")} to pay on ${network}`,
  transfer_handed_out: ({ money }) => `A wallet was given a transfer of ${money} to send`,
  transfer_claimed: () => "The wallet said that it sent the transfer",
  transfer_judged: ({ data }) => JUDGED[told(data, "state")] ?? "The claimed transfer was checked",
  results_accepted: () => "The buyer's approval was stored",
  tx_stored: (t) => `The service signed and stored ${purpose(t)}`,
  tx_replaced: (t) => `The service signed ${purpose(t)} again with a higher fee`,
  tx_broadcast: (t) => `The service sent ${purpose(t)} to the network`,
  tx_mined: (t) => `The network took ${purpose(t)} into block ${told(t.data, "block")}`,
  tx_reverted: (t) => `The network refused ${purpose(t)} in block ${told(t.data, "block")}`,
  transfer_seen: ({ money, data }) =>
    `A transfer of ${money} was seen in block ${told(data, "block")}`,
  capture_recorded: ({ money }) => `${money} was received for the payment`,
  settlement_created: ({ money }) => `${money} is owed to the shop`,
  settlement_paid: ({ money }) => `${money} reached the shop`,
  refund_created: ({ money }) => `A refund of ${money} was asked for`,
  refund_ended: ({ money, data }) =>
    `${money} ${REFUND_ENDS[told(data, "state")] ?? "was decided on"}`,
  exception_recorded: ({ money, data }) =>
    `${money} ${EXCEPTIONS[told(data, "exception")] ?? "is not the payment"}`,
  exception_resolved: ({ money }) => `What became of ${money} was settled`,
  confirm_accepted: () => "The buyer's approval was accepted; the payment is being processed",
  evidence_seen: () => "The network showed the transfer; the payment is being processed",
  evidence_confirmed: ({ money }) =>
    `The network confirmed the transfer of ${money}; the payment succeeded`,
  window_closed: () => "The time to pay was over; the payment expired",
  cancelled_by_merchant: () => "The shop cancelled the payment",
  cancelled_by_wallet: () => "The buyer cancelled the payment",
  results_misaligned: ({ data }) =>
    `The wallet's results did not answer what it was asked for (${told(data, "reason")}); the payment failed`,
  authorization_expired: () =>
    "The network proved that the approval lapsed unused; the payment failed",
  authorization_cancelled: () =>
    "The network proved that the approval was used up without the transfer; the payment failed",
  authorization_misused: () =>
    "The approval was used for another amount or receiver; the payment failed",
};

/** Puts stored rows, oldest first, into words. */
export const tellTimeline = (rows: TimelineRow[], around: Surroundings): TimelineEntry[] =>
  rows.map(({ at, kind, amount, data }) => {
    const money = amount === null ? "an amount" : inWords(tokenMoney(amount, around));
    const network = networkName(told(data, "chain"), around);
    return { at, kind, text: TIMELINE_TEXTS[kind]({ money, network, data }), data };
  });
