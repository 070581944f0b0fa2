import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import type { Mechanism, Terms } from "#server/domain/option/authorization.ts";
import type { DepthRule, Heads } from "#server/domain/payment/evidence.ts";
import type { FailureCode, PaymentStatus } from "#server/domain/payment/state.ts";
import type { TxPlan } from "#server/ports/chain.ts";
import type {
  Attempt,
  Capture,
  Cursor,
  Intent,
  Movement,
  Payment,
  PaymentOption,
  Settlement,
  StoredTx,
} from "#server/ports/store.ts";

type Time = Date | null;
const seconds = (time: Date): number => Math.floor(time.getTime() / 1000);
const secondsOrNull = (time: Time): number | null => (time === null ? null : seconds(time));
const bigOrNull = (value: string | null): bigint | null => (value === null ? null : BigInt(value));

export type PaymentRow = {
  id: string;
  merchant_id: string;
  environment: "test" | "live";
  status: PaymentStatus;
  version: number;
  amount_unit: string;
  amount_minor: string;
  reference_id: string;
  success_url: string | null;
  error_url: string | null;
  expires_at: Date;
  created_at: Date;
  failure_code: FailureCode | null;
  flow: "intermediary" | "direct";
  settlement_schedule: "instant" | "batched";
  fee_bps: number;
  fee_fixed_minor: string;
  destinations: Record<string, string>;
  collects_data: boolean;
  prove_ownership: boolean;
  option_id: string | null;
  window_closed: boolean;
};

/** Columns of a payment, with the database's own word on whether its window is over. */
export const PAYMENT_COLUMNS = "*, (expires_at <= clock_timestamp()) as window_closed";

export const toPayment = (row: PaymentRow): Payment => ({
  id: row.id,
  merchantId: row.merchant_id,
  environment: row.environment,
  status: row.status,
  version: row.version,
  unit: row.amount_unit,
  minor: BigInt(row.amount_minor),
  referenceId: row.reference_id,
  successUrl: row.success_url,
  errorUrl: row.error_url,
  expiresAt: seconds(row.expires_at),
  createdAt: seconds(row.created_at),
  failureCode: row.failure_code,
  flow: row.flow,
  settlementSchedule: row.settlement_schedule,
  feeBps: row.fee_bps,
  feeFixedMinor: BigInt(row.fee_fixed_minor),
  destinations: row.destinations,
  collectsData: row.collects_data,
  provesOwnership: row.prove_ownership,
  optionId: row.option_id,
  windowClosed: row.window_closed,
});

export type OptionRow = {
  id: string;
  payment_id: string;
  account: string;
  chain: string;
  asset: string;
  payer: string;
  recipient: string;
  mechanism: Mechanism;
  amount_minor: string;
  fingerprint: string;
  actions: WalletRpcAction[];
  authorization: Terms;
  auth_digest: string;
  quote: Record<string, unknown> | null;
  usd_micros: string | null;
  depth: DepthRule;
  expires_at: Time;
};

export const toOption = (row: OptionRow): PaymentOption => ({
  id: row.id,
  paymentId: row.payment_id,
  account: row.account,
  chain: row.chain,
  asset: row.asset,
  payer: row.payer,
  recipient: row.recipient,
  mechanism: row.mechanism,
  amount: BigInt(row.amount_minor),
  fingerprint: row.fingerprint,
  actions: row.actions,
  authorization: row.authorization,
  digest: row.auth_digest,
  quote: row.quote,
  usdMicros: bigOrNull(row.usd_micros),
  depth: row.depth,
  expiresAt: secondsOrNull(row.expires_at),
});

export type AttemptRow = {
  id: string;
  payment_id: string;
  option_id: string;
  results_digest: string;
  signature: string;
  proof: string | null;
  state: "live" | "ended";
  reverts: number;
  lapses_at: string | null;
};

export const toAttempt = (row: AttemptRow): Attempt => ({
  id: row.id,
  paymentId: row.payment_id,
  optionId: row.option_id,
  resultsDigest: row.results_digest,
  signature: row.signature,
  proof: row.proof,
  state: row.state,
  reverts: row.reverts,
  lapsesAt: bigOrNull(row.lapses_at),
});

export type MovementRow = {
  id: string;
  chain: string;
  block_number: string;
  block_hash: string;
  block_time: string;
  tx_hash: string;
  log_index: number;
  asset: string;
  payer: string;
  recipient: string;
  amount_minor: string;
  auth_nonce: string | null;
  tag: string | null;
  state: Movement["state"];
  payment_id: string | null;
};

export const toMovement = (row: MovementRow): Movement => ({
  id: BigInt(row.id),
  chain: row.chain,
  blockNumber: BigInt(row.block_number),
  blockHash: row.block_hash,
  blockTime: BigInt(row.block_time),
  txHash: row.tx_hash,
  logIndex: row.log_index,
  asset: row.asset,
  payer: row.payer,
  recipient: row.recipient,
  amount: BigInt(row.amount_minor),
  authNonce: row.auth_nonce,
  tag: row.tag,
  state: row.state,
  paymentId: row.payment_id,
});

export type CaptureRow = {
  id: string;
  payment_id: string;
  option_id: string;
  movement_id: string;
  chain: string;
  block_number: string;
  block_hash: string;
  tx_ref: string;
  log_index: number;
  asset: string;
  payer: string;
  recipient: string;
  received: string;
  status: Capture["status"];
  ordinal: number;
};

export const toCapture = (row: CaptureRow): Capture => ({
  id: BigInt(row.id),
  paymentId: row.payment_id,
  optionId: row.option_id,
  movementId: BigInt(row.movement_id),
  chain: row.chain,
  blockNumber: BigInt(row.block_number),
  blockHash: row.block_hash,
  txHash: row.tx_ref,
  logIndex: row.log_index,
  asset: row.asset,
  payer: row.payer,
  recipient: row.recipient,
  received: BigInt(row.received),
  status: row.status,
  ordinal: row.ordinal,
});

export type IntentRow = {
  id: string;
  kind: Intent["kind"];
  payment_id: string | null;
  attempt_id: string | null;
  chain: string;
  signer: string;
  nonce: string;
  plan: TxPlan;
  state: Intent["state"];
  mined_hash: string | null;
  mined_block: string | null;
  mined_block_hash: string | null;
  gas_cost: string | null;
  broadcast_at: Time;
  created_at: Date;
};

export const toIntent = (row: IntentRow): Intent => ({
  id: row.id,
  kind: row.kind,
  paymentId: row.payment_id,
  attemptId: row.attempt_id,
  chain: row.chain,
  signer: row.signer,
  nonce: BigInt(row.nonce),
  plan: row.plan,
  state: row.state,
  minedHash: row.mined_hash,
  minedBlock: bigOrNull(row.mined_block),
  minedBlockHash: row.mined_block_hash,
  gasCost: bigOrNull(row.gas_cost),
  broadcastAt: secondsOrNull(row.broadcast_at),
  createdAt: seconds(row.created_at),
});

export type ChainTxRow = {
  hash: string;
  chain: string;
  intent_id: string;
  role: "main" | "fill";
  raw: Buffer;
  max_fee: string;
  max_priority_fee: string;
  gas: string;
  lapses_at: string | null;
  replaces: string;
  created_at: Date;
};

export const toStoredTx = (row: ChainTxRow): StoredTx => ({
  hash: row.hash,
  chain: row.chain,
  intentId: row.intent_id,
  role: row.role,
  raw: new Uint8Array(row.raw),
  fees: { maxFee: BigInt(row.max_fee), maxPriorityFee: BigInt(row.max_priority_fee) },
  gas: BigInt(row.gas),
  lapsesAt: bigOrNull(row.lapses_at),
  replaces: row.replaces,
  createdAt: seconds(row.created_at),
});

export type SettlementRow = {
  id: string;
  payment_id: string;
  capture_id: string;
  merchant_id: string;
  asset: string;
  destination: string;
  amount: string;
  fee: string;
  schedule: "instant" | "batched";
  intent_id: string | null;
  state: Settlement["state"];
  tx_ref: string | null;
};

export const toSettlement = (row: SettlementRow): Settlement => ({
  id: row.id,
  paymentId: row.payment_id,
  captureId: BigInt(row.capture_id),
  merchantId: row.merchant_id,
  asset: row.asset,
  destination: row.destination,
  amount: BigInt(row.amount),
  fee: BigInt(row.fee),
  schedule: row.schedule,
  intentId: row.intent_id,
  state: row.state,
  txHash: row.tx_ref,
});

export type HeadsRow = { latest_number: string; safe_number: string; finalized_number: string };

export const toHeads = (row: HeadsRow): Heads => ({
  latest: BigInt(row.latest_number),
  safe: BigInt(row.safe_number),
  finalized: BigInt(row.finalized_number),
});

export type CursorRow = HeadsRow & {
  chain: string;
  scanned_number: string;
  scanned_hash: string;
  finalized_time: string;
};

export const toCursor = (row: CursorRow): Cursor => ({
  chain: row.chain,
  scannedNumber: BigInt(row.scanned_number),
  scannedHash: row.scanned_hash,
  ...toHeads(row),
  finalizedTime: BigInt(row.finalized_time),
});
