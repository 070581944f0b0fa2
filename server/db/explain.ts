import { AUTHORIZATION_GRACE_S } from "#server/domain/payment/expiry.ts";
import type { PaymentFacts } from "#server/domain/payment/facts.ts";
import type { ExplainReads } from "#server/ports/explain.ts";
import type { Database } from "./client.ts";
import { type FactsRow, toFacts } from "./explain-rows.ts";
import { PAYER_REVERTS } from "./payer-reverts.ts";
import { readTimeline } from "./timeline.ts";

/** Unix seconds of a time, as a number. */
const unix = (time: string) => `floor(extract(epoch from ${time}))::float8`;

/** The key of an intent that waits to be mined, where it has too little money for fees. */
const GAS_SHORT = `(select jsonb_build_object('signer', n.signer, 'chain', n.chain) from signer_nonce n
  where n.chain = i.chain and n.signer = i.signer and n.gas_short_since is not null and i.state in ('signed', 'broadcast'))`;

/**
 * One statement, so that all of it is of one moment. Every part is found by an index: movements by the accounts the payment
 * was offered to, settlements and captures by their one live row.
 */
const FACTS = `
  with p as (select * from payment where id = $1),
  chosen as (select o.* from payment_option o join p on o.id = p.option_id),
  capture_row as (
    select * from capture where payment_id = $1 and status <> 'orphaned'
    union all
    select c.* from capture c where c.payment_id = $1 and c.status = 'orphaned'
      and c.chain in (select chain from chosen)),
  settled as (select * from settlement where payment_id = $1 and state not in ('reverted', 'superseded')),
  intent as (
    select * from chain_intent where payment_id = $1 and kind = 'capture' and state not in ('reverted', 'superseded')
    order by nonce desc limit 1)
select ${unix("clock_timestamp()")} as now, p.status, p.version, p.flow, p.amount_unit, p.amount_minor,
  ${unix("p.created_at")} as created_at, ${unix("p.expires_at")} as expires_at, p.failure_code,
  (select jsonb_build_object('type', e.type, 'reason', e.body ->> 'reason')
   from payment_event e where e.payment_id = p.id order by e.version desc limit 1) as cause,
  (select count(*)::int from (select 1 from payment_option o where o.payment_id = p.id limit 1000) o) as options,
  (select jsonb_build_object('asset', o.asset, 'minor', f.value::text,
     'creditedUntil', ${unix("max(f.deadline) over ()")} + $2,
     'tx', (select jsonb_build_object('txId', t.hash, 'state', t.state) from push_tx t
            where t.payment_id = p.id and t.state in ('claimed', 'known', 'mined')
            order by (t.state = 'claimed'), t.created_at desc limit 1))
   from push_offer f join payment_option o on o.id = f.option_id
   where f.payment_id = p.id order by f.created_at desc limit 1) as push,
  (select jsonb_build_object('asset', o.asset, 'minor', o.amount_minor::text, 'chain', o.chain,
     'approves', jsonb_path_exists(o.actions, '$[*].data.method ? (@ == "eth_sendTransaction")'),
     'deadline', ${unix("o.auth_deadline")}, 'depth', o.depth) from chosen o) as option,
  (select jsonb_build_object('reverts', a.reverts, 'payerReverts', (select ${PAYER_REVERTS} from chosen o)) from attempt a
   where a.payment_id = p.id and a.state = 'live' and a.signature <> '') as attempt,
  (select jsonb_build_object('state', i.state, 'txId', coalesce(i.mined_hash, t.newest), 'minedBlock', i.mined_block::text,
     'firstTxAt', ${unix("t.first_at")}, 'newestTxAt', ${unix("t.newest_at")},
     'ahead', (select count(*) from chain_intent b where b.chain = i.chain and b.signer = i.signer
               and b.nonce < i.nonce and b.state in ('signed', 'broadcast')), 'gasShort', ${GAS_SHORT})
   from intent i cross join lateral (
     select (array_agg(x.hash order by x.created_at desc))[1] as newest, min(x.created_at) as first_at,
       max(x.created_at) as newest_at from chain_tx x where x.intent_id = i.id) t) as intent,
  (select jsonb_build_object('txId', m.tx_hash, 'block', m.block_number::text) from movement m join chosen o
     on m.chain = o.chain and m.payer = o.payer
   where m.payment_id = p.id and m.state in ('seen', 'credited') order by m.id desc limit 1) as arrival,
  (select jsonb_build_object('chain', c.chain, 'latest', c.latest_number::text, 'safe', c.safe_number::text,
     'finalized', c.finalized_number::text, 'heardAt', ${unix("c.updated_at")})
   from chain_cursor c join chosen o on o.chain = c.chain) as chain,
  (select coalesce(max(n), 0)::int from (
     select count(*) as n from chain_intent i join chosen o on o.chain = i.chain
     where i.state in ('signed', 'broadcast') group by i.signer) busy) as in_flight,
  (select jsonb_build_object('asset', c.asset, 'minor', c.received::text, 'status', c.status, 'txId', c.tx_ref)
   from capture_row c order by (c.status = 'orphaned'), c.ordinal desc limit 1) as capture,
  (select jsonb_build_object('asset', s.asset, 'minor', s.amount::text, 'state', s.state, 'schedule', s.schedule,
     'detail', s.detail, 'txId', s.tx_ref,
     'gasShort', (select ${GAS_SHORT} from chain_intent i where i.id = s.intent_id),
     'hold', (select jsonb_build_object('reason', h.reason) from settlement_hold h where h.asset in (s.asset, '*') order by h.created_at limit 1),
     'batchSince', (select ${unix("min(b.created_at)")} from settlement b
       where b.state = 'pending' and b.merchant_id = s.merchant_id and b.asset = s.asset
         and b.destination = s.destination and b.schedule = s.schedule)) from settled s) as settlement,
  (select coalesce(jsonb_agg(jsonb_build_object('asset', r.asset, 'minor', r.amount::text, 'state', r.state)
     order by r.created_at), '[]') from refund r where r.payment_id = p.id) as refunds,
  (select coalesce(jsonb_agg(jsonb_build_object('asset', x.asset, 'minor', x.amount_minor::text, 'kind', x.kind,
     'txId', x.tx_ref, 'open', x.state = 'open') order by x.created_at), '[]')
   from exception_record x where x.payment_id = p.id) as exceptions
from p`;

/** What explains a payment, over PostgreSQL. */
export const explainReads = (db: Pick<Database, "query">): ExplainReads => ({
  async explainFacts(paymentId): Promise<PaymentFacts | null> {
    const rows = await db.query<FactsRow>(FACTS, [paymentId, AUTHORIZATION_GRACE_S]);
    return rows[0] === undefined ? null : toFacts(rows[0]);
  },
  timelineRows: (paymentId) => readTimeline(db, paymentId),
});
