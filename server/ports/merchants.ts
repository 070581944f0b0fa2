/** What a partner decides about one of its merchants; fees are the operator's. */
export type MerchantSettings = {
  name: string;
  /** Null on merchants an operator made without one. */
  email: string | null;
  iconUrl: string | null;
  flow: "intermediary" | "direct";
  settlementSchedule: "instant" | "batched";
  collectWhen: "never" | "above" | "always";
  /** US cents; counts only for `above`. */
  collectAboveCents: number;
  proveOwnership: boolean;
};

/** What a partner asks for; members left out stay as they are, or get their default. */
export type MerchantChange = {
  [Member in Exclude<keyof MerchantSettings, "collectAboveCents">]?:
    | MerchantSettings[Member]
    | undefined;
} & { collectAboveCents?: number | null | undefined };

/** A merchant as its partner manages it, read fresh; deleted ones included. */
export type MerchantRecord = MerchantSettings & {
  id: string;
  partnerId: string;
  environment: "test" | "live";
  status: "active" | "inactive" | "suspended" | "deleted";
  feeBps: number;
  feeFixedCents: number;
  createdAt: Date;
};

/** Where money in one asset goes: CAIP-19 and CAIP-10, both canonical. */
export type Destination = { id: string; asset: string; destination: string };

/** A place in a sorted list: the sort key of the row before it as a whole number, and that row's id. */
export type Position = { key: string; id: string };

/** One page of a list; `next` is null on the last one. */
export type Page<T> = { rows: T[]; next: Position | null };

export type MerchantFilter = {
  partnerId: string;
  environment: "test" | "live";
  /** The only merchant to be seen; null: all of the partner's. */
  merchantId: string | null;
  /** Null: every status but deleted. */
  status: "active" | "inactive" | "suspended" | null;
  /** Part of the name or id, whatever the case; null: no search. */
  search: string | null;
};

/** Reads for the management of merchants; newest first. */
export type MerchantReads = {
  merchantRecord(id: string): Promise<MerchantRecord | null>;
  merchantPage(
    filter: MerchantFilter,
    after: Position | null,
    limit: number,
  ): Promise<Page<MerchantRecord> & { total: number }>;
  /** By asset. */
  destinationsOf(merchantId: string): Promise<Destination[]>;
};

/** Changes to merchants inside a transaction. */
export type MerchantTx = {
  /** Locks the row against other changes, not against new payments; null: no such merchant. */
  lockMerchant(id: string): Promise<MerchantRecord | null>;
  /** Inserts it, or returns the row of that id that an unanswered commit left. */
  insertMerchant(
    merchant: MerchantSettings & Pick<MerchantRecord, "id" | "partnerId" | "environment">,
  ): Promise<MerchantRecord>;
  /** Writes the settings, as they are to be from now on, of a locked merchant. */
  updateMerchant(id: string, settings: MerchantSettings): Promise<void>;
  markMerchantDeleted(id: string): Promise<void>;
  /** Returns the assets that have another destination already; the caller then gives the transaction up. */
  insertDestinations(merchantId: string, destinations: Destination[]): Promise<string[]>;
  /** Null: the merchant has no such destination. */
  destination(merchantId: string, id: string): Promise<Destination | null>;
  setDestination(merchantId: string, id: string, destination: string): Promise<void>;
  /** False: the merchant has no such destination. */
  deleteDestination(merchantId: string, id: string): Promise<boolean>;
};
