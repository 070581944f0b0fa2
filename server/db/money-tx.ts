import { newId } from "#server/platform/ids.ts";
import type { LedgerLine, NewException, Settlement, Tx } from "#server/ports/store.ts";
import type { Query } from "./client.ts";
import { hold } from "./operator.ts";
import { writeOutbox } from "./payment-tx.ts";
import {
  type CaptureRow,
  PAYMENT_COLUMNS,
  type PaymentRow,
  type SettlementRow,
  toCapture,
  toPayment,
  toSettlement,
} from "./rows.ts";

/** A ledger account is named by what it holds: kind, asset and, for what is owed, the merchant. */
const accountOf = ({ kind, asset, merchantId }: LedgerLine): string =>
  [kind, merchantId ?? "", asset].join("|");

async function post(
  query: Query,
  reason: string,
  subject: string,
  chainRef: string | null,
  lines: LedgerLine[],
): Promise<boolean> {
  const made = await query<{ id: string }>(
    `insert into ledger_tx (reason, subject, chain_ref) values ($1, $2, $3)
     on conflict (reason, subject) do nothing returning id`,
    [reason, subject, chainRef],
  );
  const posting = made[0];
  if (posting === undefined) return false;
  // One order for everybody: two postings never wait for each other's accounts.
  const sorted = lines
    .filter(({ amount }) => amount !== 0n)
    .toSorted((a, b) => (accountOf(a) < accountOf(b) ? -1 : 1));
  for (const line of sorted) {
    const account = accountOf(line);
    await query(
      `insert into ledger_account (id, kind, asset, merchant_id) values ($1, $2, $3, $4) on conflict do nothing`,
      [account, line.kind, line.asset, line.merchantId],
    );
    await query(
      `insert into ledger_entry (tx_id, account_id, asset, amount) values ($1, $2, $3, $4)`,
      [posting.id, account, line.asset, line.amount.toString()],
    );
  }
  return true;
}

async function insertException(query: Query, found: NewException): Promise<boolean> {
  const id = newId("exception");
  const rows = await query(
    `insert into exception_record (id, kind, environment, merchant_id, payment_id, chain, tx_ref, log_index,
       block_hash, asset, payer, amount_minor, detail)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) on conflict do nothing returning id`,
    [
      id,
      found.kind,
      found.environment,
      found.merchantId,
      found.paymentId,
      found.chain,
      found.txHash,
      found.logIndex,
      found.blockHash,
      found.asset,
      found.payer,
      found.amount.toString(),
      found.detail,
    ],
  );
  if (rows.length === 0) return false;
  if (found.paymentId === null) return true;
  const payments = await query<PaymentRow>(
    `select ${PAYMENT_COLUMNS} from payment where id = $1 for update`,
    [found.paymentId],
  );
  if (payments[0] === undefined) return true;
  await writeOutbox(query, {
    payment: toPayment(payments[0]),
    topic: "payment.exception",
    dedupe: `exception:${id}`,
    cause: {
      type: "exception",
      body: {
        kind: found.kind,
        exception_id: id,
        tx_id: found.txHash,
        asset: found.asset,
        amount: found.amount.toString(),
      },
    },
  });
  return true;
}

/** Announces a settlement once; its payment row is locked for the event's sequence number. */
async function announceSettled(query: Query, settlement: Settlement): Promise<void> {
  const payments = await query<PaymentRow>(
    `select ${PAYMENT_COLUMNS} from payment where id = $1 for update`,
    [settlement.paymentId],
  );
  if (payments[0] === undefined) return;
  await writeOutbox(query, {
    payment: toPayment(payments[0]),
    topic: "payment.settled",
    dedupe: `settled:${settlement.id}`,
    cause: {
      type: "settled",
      body: {
        tx_id: settlement.txHash,
        amount: { unit: `caip19/${settlement.asset}`, value: settlement.amount.toString() },
        fee: settlement.fee.toString(),
      },
    },
  });
}

/** The part of a transaction that concerns captures, exceptions, the ledger and settlements. */
export const moneyTx = (
  query: Query,
): Pick<
  Tx,
  | "insertCapture"
  | "setCaptureStatus"
  | "captureOf"
  | "setMovement"
  | "lockMovement"
  | "insertException"
  | "resolveExceptions"
  | "post"
  | "posting"
  | "insertSettlement"
  | "lockPendingSettlements"
  | "setSettlements"
  | "hold"
  | "isHeld"
> => ({
  async insertCapture(c) {
    const rows = await query<CaptureRow>(
      `insert into capture (payment_id, option_id, movement_id, chain, block_number, block_hash, tx_ref, log_index,
         asset, payer, recipient, received, status, ordinal)
       select $1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, coalesce(max(ordinal), 0) + 1
       from capture where payment_id = $1 returning *`,
      [
        c.paymentId,
        c.optionId,
        c.movementId,
        c.chain,
        c.blockNumber,
        c.blockHash,
        c.txHash,
        c.logIndex,
        c.asset,
        c.payer,
        c.recipient,
        c.received.toString(),
        c.status,
      ],
    );
    if (rows[0] === undefined) throw new Error("capture was not stored");
    return toCapture(rows[0]);
  },
  async setCaptureStatus(id, status) {
    await query(`update capture set status = $2 where id = $1`, [id, status]);
  },
  async captureOf(paymentId) {
    const rows = await query<CaptureRow>(
      `select * from capture where payment_id = $1 and status <> 'orphaned'`,
      [paymentId],
    );
    return rows[0] === undefined ? null : toCapture(rows[0]);
  },
  async setMovement(id, state, paymentId) {
    await query(
      `update movement set state = $2, payment_id = coalesce($3, payment_id) where id = $1`,
      [id, state, paymentId],
    );
  },
  async lockMovement(id, state) {
    const rows = await query(`select id from movement where id = $1 and state = $2 for update`, [
      id,
      state,
    ]);
    return rows.length > 0;
  },
  insertException: (found) => insertException(query, found),
  async resolveExceptions(paymentId, kind, why) {
    const rows = await query(
      `update exception_record set state = 'resolved', resolved_at = clock_timestamp(), resolution = $3
       where payment_id = $1 and kind = $2 and state = 'open' returning id`,
      [paymentId, kind, why],
    );
    return rows.length;
  },
  post: (reason, subject, chainRef, lines) => post(query, reason, subject, chainRef, lines),
  async posting(reason, subject) {
    const rows = await query<{
      kind: LedgerLine["kind"];
      asset: string;
      merchant_id: string | null;
      amount: string;
    }>(
      `select a.kind, e.asset, a.merchant_id, e.amount from ledger_tx t
       join ledger_entry e on e.tx_id = t.id join ledger_account a on a.id = e.account_id
       where t.reason = $1 and t.subject = $2`,
      [reason, subject],
    );
    return rows.map((row) => ({
      kind: row.kind,
      asset: row.asset,
      merchantId: row.merchant_id,
      amount: BigInt(row.amount),
    }));
  },
  async insertSettlement(s) {
    const rows = await query(
      `insert into settlement (id, payment_id, capture_id, merchant_id, asset, destination, amount, fee, schedule)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9) on conflict do nothing returning id`,
      [
        s.id,
        s.paymentId,
        s.captureId,
        s.merchantId,
        s.asset,
        s.destination,
        s.amount.toString(),
        s.fee.toString(),
        s.schedule,
      ],
    );
    return rows.length === 1;
  },
  async lockPendingSettlements(ids) {
    const rows = await query<SettlementRow>(
      `select * from settlement where id = any($1) and state = 'pending' order by id for update`,
      [ids],
    );
    return rows.map(toSettlement);
  },
  async setSettlements(ids, { state, intentId, txHash, detail }) {
    const rows = await query<SettlementRow>(
      `update settlement set state = $2, intent_id = coalesce($3, intent_id), tx_ref = coalesce($4, tx_ref),
         detail = $5, settled_at = case when $2 = 'final' then clock_timestamp() else settled_at end
       where id = any($1) and state <> 'final' returning *`,
      [ids, state, intentId ?? null, txHash ?? null, detail ?? null],
    );
    if (state === "final")
      for (const row of rows.toSorted((a, b) => (a.payment_id < b.payment_id ? -1 : 1)))
        await announceSettled(query, toSettlement(row));
  },
  async hold(asset, reason) {
    await hold(query, asset, reason);
  },
  async isHeld(asset) {
    await query(`lock table settlement_hold in share mode`);
    const rows = await query(`select asset from settlement_hold where asset in ($1, '*')`, [asset]);
    return rows.length > 0;
  },
});
