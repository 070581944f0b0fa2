import type { DepthRule, ExceptionKind } from "#server/domain/payment/evidence.ts";
import type {
  AssetAmount,
  CaptureIntent,
  ChosenOption,
  PaymentFacts,
  RefundState,
  SettlementFacts,
} from "#server/domain/payment/facts.ts";
import type { FailureCode, PaymentStatus } from "#server/domain/payment/state.ts";

/** As SQL gives them: whole numbers that may be large are text. */
type Text<T> = {
  [K in keyof T]: T[K] extends bigint ? string : T[K] extends bigint | null ? string | null : T[K];
};
type Amount = Text<AssetAmount>;
type TxState = NonNullable<NonNullable<PaymentFacts["push"]>["tx"]>;
type CaptureStatus = NonNullable<PaymentFacts["capture"]>["status"];

/** The one row the facts come in. */
export type FactsRow = {
  now: number;
  status: PaymentStatus;
  version: number;
  flow: "intermediary" | "direct";
  amount_unit: string;
  amount_minor: string;
  created_at: number;
  expires_at: number;
  failure_code: FailureCode | null;
  cause: PaymentFacts["cause"];
  options: number;
  push: (Amount & { creditedUntil: number; tx: TxState | null }) | null;
  option:
    | (Amount & { chain: string; approves: boolean; deadline: number; depth: DepthRule })
    | null;
  attempt: { reverts: number; payerReverts: number } | null;
  intent: Text<CaptureIntent> | null;
  arrival: { txId: string; block: string } | null;
  chain: {
    chain: string;
    latest: string;
    safe: string;
    finalized: string;
    heardAt: number;
  } | null;
  in_flight: number;
  capture: (Amount & { status: CaptureStatus; txId: string }) | null;
  settlement: Text<SettlementFacts> | null;
  refunds: (Amount & { state: RefundState })[];
  exceptions: (Amount & { kind: ExceptionKind; txId: string; open: boolean })[];
};

/** The same with its amount as a whole number. */
const withMinor = <T extends { minor: string }>(row: T): Omit<T, "minor"> & { minor: bigint } => ({
  ...row,
  minor: BigInt(row.minor),
});
const orNull = <T, R>(value: T | null, to: (value: T) => R): R | null =>
  value === null ? null : to(value);

const toChosen = (row: NonNullable<FactsRow["option"]>): ChosenOption => withMinor(row);

export const toFacts = (row: FactsRow): PaymentFacts => ({
  now: row.now,
  status: row.status,
  version: row.version,
  flow: row.flow,
  unit: row.amount_unit,
  minor: BigInt(row.amount_minor),
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  failureCode: row.failure_code,
  cause: row.cause,
  optionsServed: row.options,
  push: orNull(row.push, withMinor),
  option: orNull(row.option, toChosen),
  attempt: row.attempt,
  intent: orNull(row.intent, (intent) => ({
    ...intent,
    minedBlock: orNull(intent.minedBlock, BigInt),
  })),
  arrival: orNull(row.arrival, ({ txId, block }) => ({ txId, block: BigInt(block) })),
  chain: orNull(row.chain, (chain) => ({
    ...chain,
    latest: BigInt(chain.latest),
    safe: BigInt(chain.safe),
    finalized: BigInt(chain.finalized),
  })),
  inFlight: row.in_flight,
  capture: orNull(row.capture, withMinor),
  settlement: orNull(row.settlement, withMinor),
  refunds: row.refunds.map(withMinor),
  exceptions: row.exceptions.map(withMinor),
});
