import { AUTHORIZATION_GRACE_S } from "#server/domain/payment/expiry.ts";
import type { PushStore, PushTx } from "#server/ports/push.ts";
import type { Movement } from "#server/ports/store.ts";
import type { Database, Query } from "./client.ts";
import type { OptionRow } from "./rows.ts";

/** Claims that lock nothing kept for one payment, the newest: a wallet claims one, or a few when it was sped up. */
const CLAIMS_KEPT = 10;

/** Last block time that still counts for an offer `f`, Unix seconds. */
const LAST_TIME = `extract(epoch from f.deadline) + ${AUTHORIZATION_GRACE_S}`;

/** The newest block of cursor `c` that is as deep as option `o` asks. */
const DEEP_ENOUGH = `case
    when o.depth ? 'confirmations' then least(c.latest_number, c.scanned_number) - (o.depth ->> 'confirmations')::bigint + 1
    when o.depth ->> 'tag' = 'safe' then least(c.safe_number, c.scanned_number)
    else least(c.finalized_number, c.scanned_number) end`;

/** Whether a movement `m` is a transfer for offer `f` that is enough and in time. */
const PAYS = `m.chain = f.chain and m.tag = f.tag and m.payer = f.sender and m.recipient = f.recipient
    and m.amount_minor >= f.value and m.block_time <= ${LAST_TIME}`;

/**
 * Whether payment `p` was handed a transfer that may still be found in time: no block past its last time is deep enough yet, or
 * one was found and is about to be judged.
 */
export const AWAITS_PUSH = `exists (
  select 1 from push_offer f join payment_option o on o.id = f.option_id left join chain_cursor c on c.chain = f.chain
  where f.payment_id = p.id and (
    coalesce(c.finalized_time, 0) <= ${LAST_TIME} and not exists (
      select 1 from chain_block b where b.chain = f.chain and b.time > ${LAST_TIME} and b.number <= ${DEEP_ENOUGH})
    or exists (select 1 from movement m where ${PAYS} and m.state = 'seen')))`;

const LOCK = `select option_id from push_tx where payment_id = $1 and state in ('known', 'mined')
  order by created_at limit 1`;

const lockOf = async (query: Query, paymentId: string): Promise<string | null> =>
  (await query<{ option_id: string }>(LOCK, [paymentId]))[0]?.option_id ?? null;

/** The option that a tagged transfer of native coin is for: one it pays in full and in time before any other. */
export async function optionForTag(query: Query, m: Movement): Promise<OptionRow[]> {
  return query<OptionRow>(
    `select o.* from push_offer f join payment_option o on o.id = f.option_id
     where f.chain = $1 and f.tag = $2 and f.sender = $3 and f.recipient = $4 and o.asset = $5
     order by (f.value <= $6 and ${LAST_TIME} >= $7) desc, (f.value <= $6) desc, f.value desc, f.created_at desc limit 1`,
    [m.chain, m.tag, m.payer, m.recipient, m.asset, m.amount.toString(), m.blockTime],
  );
}

/** The part of a transaction that concerns pushes. */
export const pushTx = (query: Query): PushTx => ({
  async offerPush({ id, paymentId, chain, authorization, payer, recipient, amount, expiresAt }) {
    if (expiresAt === null) throw new Error(`option ${id} has a price and no end`);
    await query(
      `insert into push_offer (option_id, payment_id, chain, tag, sender, recipient, value, deadline)
       values ($1, $2, $3, $4, $5, $6, $7, to_timestamp($8)) on conflict do nothing`,
      [id, paymentId, chain, authorization.nonce, payer, recipient, amount.toString(), expiresAt],
    );
  },
  pushLock: (paymentId) => lockOf(query, paymentId),
  async awaitsPush(paymentId) {
    const rows = await query(`select 1 from payment p where p.id = $1 and ${AWAITS_PUSH}`, [
      paymentId,
    ]);
    return rows.length > 0;
  },
  async claimPush({ chain, hash, paymentId, optionId }, proof) {
    await query(
      `insert into push_tx (chain, hash, payment_id, option_id, proof) values ($1, $2, $3, $4, $5)
       on conflict (chain, hash, payment_id) do update set proof = coalesce(push_tx.proof, excluded.proof)`,
      [chain, hash, paymentId, optionId, proof],
    );
    await query(
      `delete from push_tx where payment_id = $1 and (chain, hash) in (
         select chain, hash from push_tx where payment_id = $1 and state in ('claimed', 'foreign')
         order by created_at desc, hash offset ${CLAIMS_KEPT})`,
      [paymentId],
    );
  },
  async endPushes(paymentId) {
    await query(
      `update push_tx set state = 'gone', updated_at = clock_timestamp()
       where payment_id = $1 and state <> 'foreign'`,
      [paymentId],
    );
  },
  async releasePush(chain, hash) {
    await query(
      `update push_tx set state = 'foreign', updated_at = clock_timestamp() where chain = $1 and hash = $2`,
      [chain, hash],
    );
  },
  async updatePush({ chain, hash, paymentId }, { state, nonce }) {
    await query(
      `update push_tx set state = $4, nonce = coalesce($5, nonce), updated_at = clock_timestamp()
       where chain = $1 and hash = $2 and payment_id = $3`,
      [chain, hash, paymentId, state, nonce],
    );
  },
  async setPush({ chain, hash, paymentId, optionId }, { state, nonce }) {
    await query(
      `insert into push_tx (chain, hash, payment_id, option_id, state, nonce) values ($1, $2, $3, $4, $5, $6)
       on conflict (chain, hash, payment_id) do update set option_id = excluded.option_id, state = excluded.state,
         nonce = coalesce(excluded.nonce, push_tx.nonce), updated_at = clock_timestamp()
       where excluded.state = 'mined' or push_tx.state not in ('mined', 'foreign')`,
      [chain, hash, paymentId, optionId, state, nonce],
    );
  },
});

type PushRow = {
  chain: string;
  hash: string;
  payment_id: string;
  option_id: string;
  sender: string;
  recipient: string;
  value: string;
  tag: string;
};

/** Reads and sweeps of pushes. */
export const pushReads = (db: Database): PushStore => ({
  async pushServed(optionId) {
    return (await db.query(`select 1 from push_offer where option_id = $1`, [optionId])).length > 0;
  },
  pushLock: (paymentId) => lockOf(db.query, paymentId),
  async pushMined(chain, hash, paymentId) {
    const rows = await db.query(
      `select 1 from push_tx where chain = $1 and hash = $2 and payment_id = $3 and state = 'mined'`,
      [chain, hash, paymentId],
    );
    return rows.length > 0;
  },
  async paymentOfTag(chain, tag) {
    const rows = await db.query<{ payment_id: string }>(
      `select payment_id from push_offer where chain = $1 and tag = $2 limit 1`,
      [chain, tag],
    );
    return rows[0]?.payment_id ?? null;
  },
  async pushesToFollow(chain, limit) {
    const rows = await db.query<PushRow>(
      `select t.chain, t.hash, t.payment_id, t.option_id, f.sender, f.recipient, f.value, f.tag from push_tx t
       join push_offer f on f.option_id = t.option_id join payment p on p.id = t.payment_id
       where t.chain = $1 and (p.status in ('requires_action', 'processing')
           or t.state = 'known' and t.created_at > clock_timestamp() - interval '1 hour') and (
         t.state = 'known'
         or t.state = 'claimed' and clock_timestamp() - t.updated_at
           >= least(interval '1 minute', (clock_timestamp() - t.created_at) / 10)
         or t.state = 'mined' and not exists (
           select 1 from movement m where m.chain = t.chain and m.tx_hash = t.hash and m.state <> 'orphaned'))
       order by t.updated_at limit $2`,
      [chain, limit],
    );
    return rows.map((row) => ({
      chain: row.chain,
      hash: row.hash,
      paymentId: row.payment_id,
      optionId: row.option_id,
      payer: row.sender,
      recipient: row.recipient,
      amount: BigInt(row.value),
      tag: row.tag,
    }));
  },
  async lostPushes(chain, limit) {
    const rows = await db.query<{ payment_id: string; sender: string; nonce: string }>(
      `select t.payment_id, f.sender, max(t.nonce) as nonce from payment p
       join payment_option o on o.id = p.option_id and o.chain = $1 and o.mechanism = 'native'
       join push_tx t on t.payment_id = p.id and t.chain = $1 and t.nonce is not null and t.state <> 'gone'
       join push_offer f on f.option_id = t.option_id
       where p.status = 'processing' and not exists (
         select 1 from movement m where m.payment_id = p.id and m.state in ('seen', 'credited'))
       group by t.payment_id, f.sender order by t.payment_id limit $2`,
      [chain, limit],
    );
    return rows.map(({ payment_id, sender, nonce }) => ({
      paymentId: payment_id,
      sender,
      nonce: BigInt(nonce),
    }));
  },
  async hasPushArrival(paymentId) {
    const rows = await db.query(
      `select 1 from push_offer f join movement m on m.chain = f.chain and m.tag = f.tag and m.payer = f.sender
       where f.payment_id = $1 and m.state in ('seen', 'credited') limit 1`,
      [paymentId],
    );
    return rows.length > 0;
  },
});
