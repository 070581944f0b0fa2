import type { AssetAmount } from "#server/domain/payment/facts.ts";
import type {
  Arrival,
  Brand,
  CheckoutFacts,
  CheckoutReads,
  Icon,
  PaidBy,
  ReturnedMoney,
} from "#server/ports/checkout.ts";
import { batchedRead } from "./batched-read.ts";
import type { Database } from "./client.ts";

/** Unix seconds of a time, as a number. */
const unix = (time: string) => `floor(extract(epoch from ${time}))::float8`;

/**
 * One statement, so that all of it is of one moment. What pays is the accepted option; before one is, the newest claim of a
 * transfer, and once the payment is closed only one that a node knew. Its transaction is what the chain showed, else ours, else the
 * claimed one.
 */
const FACTS = `
  select p.id, p.version, p.description, m.name as merchant_name, b.accent, b.icon_digest,
    (select e.type from payment_event e where e.payment_id = p.id and e.to_s = 'cancelled' limit 1) as cancelled_by,
    paid.it as paid, coalesce(claim.state in ('known', 'mined'), false) as is_sent,
    (select coalesce(jsonb_agg(jsonb_build_object('asset', x.asset, 'minor', x.amount_minor::text, 'kind', x.kind,
       'txId', x.tx_ref, 'payer', x.payer, 'open', x.state = 'open', 'at', ${unix("x.created_at")},
       'due', (select o.amount_minor::text from payment_option o where o.payment_id = p.id and o.asset = x.asset
               order by (o.payer = x.payer) desc, o.created_at desc limit 1))
       order by x.created_at, x.id), '[]') from exception_record x where x.payment_id = p.id) as arrivals,
    (select coalesce(jsonb_agg(jsonb_build_object('asset', r.asset, 'minor', r.amount::text, 'state', r.state,
       'to', r.destination, 'txId', r.tx_ref, 'at', ${unix("coalesce(r.ended_at, r.created_at)")})
       order by r.created_at, r.id), '[]') from refund r where r.payment_id = p.id) as refunds
  from payment p join merchant m on m.id = p.merchant_id
  left join merchant_brand b on b.merchant_id = p.merchant_id
  left join lateral (
    select p.option_id where exists (select 1 from payment_event e where e.payment_id = p.id and e.to_s = 'processing')
  ) taken on true
  left join lateral (
    select t.hash, t.option_id, t.created_at, t.state from push_tx t
    where t.payment_id = p.id and (t.state in ('known', 'mined') or t.state = 'claimed' and p.status = 'requires_action')
    order by (t.state = 'claimed'), t.created_at desc limit 1) claim on true
  left join lateral (
    select jsonb_build_object('asset', o.asset, 'minor', o.amount_minor::text, 'chain', o.chain, 'payer', o.payer,
      'recipient', o.recipient, 'depth', o.depth,
      'acceptedAt', coalesce(
        (select ${unix("min(e.at)")} from payment_event e where e.payment_id = p.id and e.to_s = 'processing'),
        ${unix("coalesce(claim.created_at, o.created_at)")}),
      'isSeen', taken.option_id is not null or claim.state in ('known', 'mined'),
      'txId', coalesce(c.tx_ref, arrived.tx_hash, ours.hash, case when claim.option_id = o.id then claim.hash end),
      'receivedAt', coalesce(c.block_time, arrived.block_time)) as it
    from payment_option o
    left join lateral (
      select cap.tx_ref, mv.block_time from capture cap join movement mv on mv.id = cap.movement_id
      where cap.payment_id = p.id and cap.status <> 'orphaned' limit 1) c on true
    left join lateral (
      select mv.tx_hash, mv.block_time from movement mv
      where mv.payment_id = p.id and mv.chain = o.chain and mv.payer = o.payer and mv.state in ('seen', 'credited')
      order by mv.id desc limit 1) arrived on true
    left join lateral (
      select coalesce(i.mined_hash, (select t.hash from chain_tx t where t.intent_id = i.id
        order by t.created_at desc limit 1)) as hash
      from chain_intent i where i.payment_id = p.id and i.kind = 'capture' and i.state not in ('reverted', 'superseded')
      order by i.nonce desc limit 1) ours on true
    where o.id = coalesce(taken.option_id, claim.option_id)) paid on true
  where p.id = any($1)`;

type Amount = { asset: string; minor: string };
type Row = {
  id: string;
  version: number;
  description: string | null;
  merchant_name: string;
  accent: string | null;
  icon_digest: string | null;
  cancelled_by: string | null;
  is_sent: boolean;
  paid: (Omit<PaidBy, keyof AssetAmount> & Amount) | null;
  arrivals: (Omit<Arrival, keyof AssetAmount | "due"> & Amount & { due: string | null })[];
  refunds: (Omit<ReturnedMoney, keyof AssetAmount> & Amount)[];
};

const toBrand = (row: { accent: string | null; icon_digest: string | null }): Brand => ({
  accent: row.accent,
  iconDigest: row.icon_digest,
});

const toFacts = (row: Row): CheckoutFacts => ({
  version: row.version,
  description: row.description,
  merchantName: row.merchant_name,
  brand: toBrand(row),
  isSent: row.is_sent,
  paid: row.paid === null ? null : { ...row.paid, minor: BigInt(row.paid.minor) },
  arrivals: row.arrivals.map((one) => ({
    ...one,
    minor: BigInt(one.minor),
    due: one.due === null ? null : BigInt(one.due),
  })),
  refunds: row.refunds.map((one) => ({ ...one, minor: BigInt(one.minor) })),
  cancelledBy:
    row.cancelled_by === null
      ? null
      : row.cancelled_by === "cancelled_by_wallet"
        ? "buyer"
        : "merchant",
});

/** The reads of the buyer's pages, over PostgreSQL. */
export const checkoutReads = (db: Database): CheckoutReads => ({
  checkoutFacts: batchedRead<Row, CheckoutFacts>(
    db,
    { name: "checkout", text: FACTS, key: "id" },
    toFacts,
  ),
  async merchantIcon(merchantId) {
    const [row] = await db.query<Icon>(
      `select icon_type as type, icon as bytes, icon_digest as digest from merchant_brand
       where merchant_id = $1 and icon is not null`,
      [merchantId],
    );
    return row ?? null;
  },
  async brandOf(merchantId) {
    const [row] = await db.query<{ accent: string | null; icon_digest: string | null }>(
      `select accent, icon_digest from merchant_brand where merchant_id = $1`,
      [merchantId],
    );
    return row === undefined ? { accent: null, iconDigest: null } : toBrand(row);
  },
  async frameOrigins(paymentId, environment) {
    const [row] = await db.query<{ origins: string[] | null }>(
      `select b.frame_origins as origins from payment p left join merchant_brand b on b.merchant_id = p.merchant_id
       where p.id = $1 and p.environment = $2`,
      [paymentId, environment],
    );
    return row === undefined ? null : (row.origins ?? []);
  },
});
