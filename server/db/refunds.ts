import { newId } from "#server/platform/ids.ts";
import type { NewRefund, Refund, RefundStore, RefundTx } from "#server/ports/refunds.ts";
import type { Database, Query } from "./client.ts";
import { writeOutbox } from "./payment-tx.ts";
import { PAYMENT_COLUMNS, type PaymentRow, type SettlementRow, toPayment } from "./rows.ts";

type RefundRow = {
  id: string;
  payment_id: string;
  merchant_id: string;
  environment: "test" | "live";
  asset: string;
  amount: string;
  destination: string;
  kind: Refund["kind"];
  state: Refund["state"];
  reason: string | null;
  detail: string | null;
  intent_id: string | null;
  tx_ref: string | null;
  from_block: string | null;
  created_at: Date;
  funded: boolean;
};

/** The ledger is the one place that says whether money was set aside for a refund. */
const FUNDED = `(exists (select 1 from ledger_tx t where t.reason = 'refund.reserve' and t.subject = r.id)
  and not exists (select 1 from ledger_tx t where t.reason = 'refund.release' and t.subject = r.id))`;
const COLUMNS = `r.*, ${FUNDED} as funded`;
const CHAIN = `split_part(r.asset, '/', 1)`;

const toRefund = (row: RefundRow): Refund => ({
  id: row.id,
  paymentId: row.payment_id,
  merchantId: row.merchant_id,
  environment: row.environment,
  asset: row.asset,
  amount: BigInt(row.amount),
  destination: row.destination,
  kind: row.kind,
  state: row.state,
  reason: row.reason,
  detail: row.detail,
  intentId: row.intent_id,
  txHash: row.tx_ref,
  fromBlock: row.from_block === null ? null : BigInt(row.from_block),
  createdAt: Math.floor(row.created_at.getTime() / 1000),
  funded: row.funded,
});

async function insertRefund(query: Query, r: NewRefund): Promise<Refund> {
  const rows = await query<RefundRow>(
    `insert into refund as r (id, payment_id, merchant_id, environment, asset, amount, destination, kind, state, reason,
       detail, tx_ref, from_block, created_at, ended_at)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, clock_timestamp(),
       case when $9 in ('succeeded', 'failed') then clock_timestamp() end)
     returning r.*, false as funded`,
    [
      r.id,
      r.paymentId,
      r.merchantId,
      r.environment,
      r.asset,
      r.amount.toString(),
      r.destination,
      r.kind,
      r.state,
      r.reason,
      r.detail,
      r.txHash,
      r.fromBlock,
    ],
  );
  if (rows[0] === undefined) throw new Error("refund was not stored");
  return toRefund(rows[0]);
}

async function setRefund(
  query: Query,
  id: string,
  patch: Parameters<RefundTx["setRefund"]>[1],
): Promise<Refund | null> {
  const rows = await query<RefundRow>(
    `update refund r set state = coalesce($2, state), intent_id = coalesce($3, intent_id),
       tx_ref = coalesce($4, tx_ref), log_index = coalesce($5, log_index), from_block = coalesce($6, from_block),
       detail = coalesce($7, detail),
       ended_at = case when $2 in ('succeeded', 'failed') then clock_timestamp() else ended_at end
     where id = $1 and state not in ('succeeded', 'failed') and ($5::int is null or not exists (
       select 1 from refund o where o.tx_ref = $4 and o.asset = r.asset and o.id <> r.id
         and (o.log_index = $5 or (o.kind = 'record' and o.amount = r.amount and o.destination = r.destination))))
     returning ${COLUMNS}`,
    [
      id,
      patch.state ?? null,
      patch.intentId ?? null,
      patch.txHash ?? null,
      patch.logIndex ?? null,
      patch.fromBlock ?? null,
      patch.detail ?? null,
    ],
  );
  return rows[0] === undefined ? null : toRefund(rows[0]);
}

async function announceRefund(
  query: Query,
  refund: Refund,
  topic: Parameters<RefundTx["announceRefund"]>[1],
): Promise<void> {
  const payments = await query<PaymentRow>(
    `select ${PAYMENT_COLUMNS} from payment where id = $1 for update`,
    [refund.paymentId],
  );
  if (payments[0] === undefined) return;
  await writeOutbox(query, {
    payment: toPayment(payments[0]),
    topic,
    dedupe: `refund:${refund.id}:${topic}`,
    cause: {
      type: "refund",
      body: {
        refund_id: refund.id,
        refund_status: refund.state,
        kind: refund.kind,
        amount: { unit: `caip19/${refund.asset}`, value: refund.amount.toString() },
        destination: refund.destination,
        tx_id: refund.txHash,
        detail: refund.detail,
      },
    },
  });
}

/** The part of a transaction that concerns refunds. */
export const refundTx = (query: Query): RefundTx => ({
  async refundsOf(paymentId) {
    const rows = await query<RefundRow>(
      `select ${COLUMNS} from refund r where payment_id = $1 order by created_at, id`,
      [paymentId],
    );
    return rows.map(toRefund);
  },
  async hasRefunded({ txHash, asset, amount, destination }) {
    const rows = await query(
      `select 1 from refund where tx_ref = $1 and asset = $2 and amount = $3 and destination = $4
         and state = 'succeeded' limit 1`,
      [txHash, asset, amount.toString(), destination],
    );
    return rows.length > 0;
  },
  insertRefund: (refund) => insertRefund(query, refund),
  setRefund: (id, patch) => setRefund(query, id, patch),
  announceRefund: (refund, topic) => announceRefund(query, refund, topic),
  async lockSettlement(paymentId) {
    const [row] = await query<SettlementRow>(
      `select * from settlement where payment_id = $1 and state in ('pending', 'blocked') for update`,
      [paymentId],
    );
    return row === undefined
      ? null
      : { id: row.id, amount: BigInt(row.amount), fee: BigInt(row.fee) };
  },
  async resizeSettlement(id, amount) {
    const rows = await query<SettlementRow>(
      `select * from settlement where id = $1 and state in ('pending', 'blocked') for update`,
      [id],
    );
    if (rows.length === 0) return false;
    // The old row leaves the index of live settlements before the new one enters it.
    await query(`update settlement set state = 'superseded' where id = $1`, [id]);
    if (amount === 0n) return true;
    await query(
      `insert into settlement (id, payment_id, capture_id, merchant_id, asset, destination, amount, fee, schedule,
         state, detail, created_at)
       select $2, payment_id, capture_id, merchant_id, asset, destination, $3, fee, schedule, $4, detail, created_at
       from settlement where id = $1`,
      [id, newId("settlement"), amount.toString(), rows[0]?.state],
    );
    return true;
  },
  async moveWatch(ids, to) {
    await query(
      `update refund set from_block = $2::bigint + 1
       where id = any($1) and state = 'awaiting_merchant' and from_block <= $2`,
      [ids, to],
    );
  },
});

/** What endpoints and the chain's loop read of refunds. */
export const refundReads = (db: Database): RefundStore => ({
  async refund(id) {
    const rows = await db.query<RefundRow>(`select ${COLUMNS} from refund r where id = $1`, [id]);
    return rows[0] === undefined ? null : toRefund(rows[0]);
  },
  async refunds(merchantId, environment, { paymentId, cursor, limit }) {
    const known = await db.query(
      `select 1 from refund where id = $1 and merchant_id = $2 and environment = $3`,
      [cursor, merchantId, environment],
    );
    if (cursor !== null && known.length === 0) return null;
    const rows = await db.query<RefundRow>(
      `select ${COLUMNS} from refund r where merchant_id = $1 and environment = $2
         and ($3::text is null or payment_id = $3)
         and ($4::text is null or (created_at, id) < (select created_at, id from refund where id = $4))
       order by created_at desc, id desc limit $5`,
      [merchantId, environment, paymentId, cursor, limit],
    );
    return rows.map(toRefund);
  },
  async refundsDue(chain, limit) {
    const rows = await db.query<RefundRow>(
      `select ${COLUMNS} from refund r where state = 'pending' and intent_id is null and ${CHAIN} = $1 and ${FUNDED}
         and not exists (select 1 from settlement_hold h where h.asset in (r.asset, '*'))
       order by created_at limit $2`,
      [chain, limit],
    );
    return rows.map(toRefund);
  },
  async refundOfIntent(intentId) {
    const rows = await db.query<RefundRow>(`select ${COLUMNS} from refund r where intent_id = $1`, [
      intentId,
    ]);
    return rows[0] === undefined ? null : toRefund(rows[0]);
  },
  async refundsAwaited(chain, upTo, limit) {
    const rows = await db.query<RefundRow>(
      `select ${COLUMNS} from refund r
       where state = 'awaiting_merchant' and ${CHAIN} = $1 and from_block <= $2
       order by from_block, created_at, id limit $3`,
      [chain, upTo, limit],
    );
    return rows.map(toRefund);
  },
});
