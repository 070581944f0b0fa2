import type { EntryData, TimelineRow } from "#server/domain/payment/timeline.ts";
import type { Query } from "./client.ts";

/** Most entries of one kind, so that a payment somebody plays with stays readable. */
const MOST = 200;

/** Keys of an event's body that a timeline shows; accounts are none of them. */
const EVENT_KEYS = ["optionId", "txId", "chain", "block", "reason", "deadline", "finalized"];

/** The payment's own intents, the payout it shares with others, and its refunds. */
const INTENTS = `
  own_settlement as (
    select * from settlement where payment_id = $1 and state not in ('reverted', 'superseded')
    union all
    select s.* from settlement s join payment p on p.id = $1 and s.merchant_id = p.merchant_id
    where s.payment_id = $1 and s.state in ('reverted', 'superseded')),
  own_intent as (
    select * from chain_intent where payment_id = $1
    union select i.* from chain_intent i join own_settlement s on s.intent_id = i.id
    union select i.* from chain_intent i join refund r on r.intent_id = i.id where r.payment_id = $1),
  own_capture as (
    select * from capture where payment_id = $1 and status <> 'orphaned'
    union all
    select * from capture where payment_id = $1 and status = 'orphaned'
      and chain in (select chain from payment_option where payment_id = $1)),
  own_movement as (
    select m.* from (select distinct chain, payer from payment_option where payment_id = $1) o
    join movement m on m.chain = o.chain and m.payer = o.payer and m.payment_id = $1)`;

/** Each part gives when, a rank among things of one moment, what, of how much, and what programs may read of it. */
const PARTS = [
  `select created_at, 0, 'created', null, null, '{}'::jsonb from payment where id = $1`,
  `select min(created_at), 1, 'options_served', null, null, jsonb_build_object('chain', chain, 'options', count(*))
   from payment_option where payment_id = $1 group by chain, date_trunc('second', created_at)`,
  `select f.created_at, 2, 'transfer_handed_out', o.asset, f.value::text,
     jsonb_build_object('optionId', f.option_id, 'chain', f.chain)
   from push_offer f join payment_option o on o.id = f.option_id where f.payment_id = $1`,
  `select created_at, 3, 'transfer_claimed', null, null,
     jsonb_build_object('txId', hash, 'optionId', option_id, 'chain', chain) from push_tx where payment_id = $1`,
  `select updated_at, 4, 'transfer_judged', null, null, jsonb_build_object('txId', hash, 'state', state, 'chain', chain)
   from push_tx where payment_id = $1 and state <> 'claimed'`,
  `select created_at, 5, 'results_accepted', null, null, jsonb_build_object('attemptId', id, 'optionId', option_id)
   from (select * from attempt where payment_id = $1 and state = 'live'
         union select a.* from attempt a join own_intent i on i.attempt_id = a.id and a.payment_id = $1) a`,
  `select t.created_at, 6, case when row_number() over (partition by i.id, t.role order by t.created_at, t.hash) = 1
     then 'tx_stored' else 'tx_replaced' end, null, null, jsonb_build_object('txId', t.hash, 'chain', t.chain,
     'purpose', case when t.role = 'fill' then 'fill' else i.kind end)
   from own_intent i join chain_tx t on t.intent_id = i.id`,
  `select broadcast_at, 7, 'tx_broadcast', null, null, jsonb_build_object('chain', chain, 'purpose', kind)
   from own_intent where broadcast_at is not null`,
  `select m.created_at, 8, 'transfer_seen', m.asset, m.amount_minor::text, jsonb_build_object('txId', m.tx_hash,
     'chain', m.chain, 'block', m.block_number, 'blockTime', m.block_time, 'state', m.state) from own_movement m`,
  // The row keeps no time of its own for this: the block's, where it is still kept, or that of what followed from it.
  `select greatest(i.broadcast_at, coalesce(
       (select min(m.created_at) from own_movement m where m.chain = i.chain and m.tx_hash = i.mined_hash),
       (select to_timestamp(b.time) from chain_block b
        where b.chain = i.chain and b.number = i.mined_block and b.hash = i.mined_block_hash),
       (select l.created_at from ledger_tx l where l.reason = 'gas' and l.subject = i.id || ':' || i.mined_hash),
       i.broadcast_at, i.created_at)), 9, case when i.state = 'reverted' then 'tx_reverted' else 'tx_mined' end,
     null, null, jsonb_build_object('txId', i.mined_hash, 'chain', i.chain, 'purpose',
       coalesce((select case when t.role = 'fill' then 'fill' end from chain_tx t
                 where t.chain = i.chain and t.hash = i.mined_hash), i.kind), 'block', i.mined_block)
   from own_intent i where i.mined_hash is not null`,
  `select c.created_at, 10, 'capture_recorded', c.asset, c.received::text, jsonb_build_object('txId', c.tx_ref,
     'chain', c.chain, 'block', c.block_number, 'status', c.status)
   from own_capture c`,
  `select at, 11, type, body ->> 'asset', body ->> 'amount',
     (select coalesce(jsonb_object_agg(key, value), '{}') from jsonb_each(
        case when jsonb_typeof(body) = 'object' then body else '{}' end) where key = any($2) and jsonb_typeof(value) in ('string', 'number'))
   from payment_event where payment_id = $1`,
  `select created_at, 12, 'settlement_created', asset, amount::text, jsonb_build_object('settlementId', id,
     'state', state, 'schedule', schedule, 'fee', fee::text) from own_settlement`,
  `select settled_at, 13, 'settlement_paid', asset, amount::text, jsonb_build_object('settlementId', id, 'txId', tx_ref)
   from own_settlement where settled_at is not null`,
  `select created_at, 14, 'refund_created', asset, amount::text, jsonb_build_object('refundId', id, 'state', state)
   from refund where payment_id = $1`,
  `select ended_at, 15, 'refund_ended', asset, amount::text, jsonb_build_object('refundId', id, 'state', state,
     'txId', tx_ref) from refund where payment_id = $1 and ended_at is not null`,
  `select created_at, 16, 'exception_recorded', asset, amount_minor::text, jsonb_build_object('exceptionId', id,
     'exception', kind, 'txId', tx_ref, 'chain', chain) from exception_record where payment_id = $1`,
  `select resolved_at, 17, 'exception_resolved', asset, amount_minor::text, jsonb_build_object('exceptionId', id,
     'exception', kind) from exception_record where payment_id = $1 and resolved_at is not null`,
].map(
  (part) =>
    `(select * from (${part}) part (at, rank, kind, asset, minor, data) order by at limit ${MOST})`,
);

const TIMELINE = `with ${INTENTS}
  select floor(extract(epoch from at))::float8 as at, kind, asset, minor, data from (${PARTS.join(" union all ")}) line
  order by line.at, line.rank`;

type Row = {
  at: number;
  kind: TimelineRow["kind"];
  asset: string | null;
  minor: string | null;
  data: EntryData;
};

/** What happened to a payment, oldest first. */
export async function readTimeline(
  db: { query: Query },
  paymentId: string,
): Promise<TimelineRow[]> {
  const rows = await db.query<Row>(TIMELINE, [paymentId, EVENT_KEYS]);
  return rows.map(({ at, kind, asset, minor, data }) => ({
    at,
    kind,
    amount: asset === null || minor === null ? null : { asset, minor: BigInt(minor) },
    data,
  }));
}
