import type { Tx } from "#server/ports/store.ts";
import type { Query } from "./client.ts";
import { type IntentRow, toIntent } from "./rows.ts";

/** How many headers are kept below the head to find a common ancestor; deeper reorganisations stop the scan. */
const KEPT_BLOCKS = 2048;

async function recordArrivals(
  query: Query,
  chain: string,
  block: Parameters<Tx["recordBlock"]>[1],
  transfers: Parameters<Tx["recordBlock"]>[2],
): Promise<void> {
  for (const t of transfers)
    await query(
      `insert into movement (chain, block_number, block_hash, block_time, tx_hash, log_index, asset, payer,
         recipient, amount_minor, auth_nonce, tag) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
       on conflict (chain, block_hash, tx_hash, log_index) do update
         set state = case when movement.state = 'orphaned' then 'seen' else movement.state end`,
      [
        chain,
        block.number,
        block.hash,
        block.time,
        t.txHash,
        t.logIndex,
        t.asset,
        t.payer,
        t.recipient,
        t.amount.toString(),
        t.authNonce,
        t.tag,
      ],
    );
}

async function recordBlock(
  query: Query,
  chain: string,
  block: Parameters<Tx["recordBlock"]>[1],
  transfers: Parameters<Tx["recordBlock"]>[2],
): Promise<boolean> {
  // Two scanners of one chain: the row lock lets one through, the parent check stops the other.
  const moved = await query(
    `update chain_cursor set scanned_number = $2, scanned_hash = $3, updated_at = clock_timestamp()
     where chain = $1 and scanned_number = $2 - 1 and scanned_hash = $4 returning chain`,
    [chain, block.number, block.hash, block.parent],
  );
  if (moved.length === 0) return false;
  await query(
    `insert into chain_block (chain, number, hash, parent, time) values ($1, $2, $3, $4, $5)
     on conflict (chain, number) do update set hash = excluded.hash, parent = excluded.parent, time = excluded.time`,
    [chain, block.number, block.hash, block.parent, block.time],
  );
  if (block.number % 256n === 0n)
    await query(`delete from chain_block where chain = $1 and number < $2`, [
      chain,
      block.number - BigInt(KEPT_BLOCKS),
    ]);
  await recordArrivals(query, chain, block, transfers);
  return true;
}

/** The part of a transaction that concerns intents, stored transactions and the scan cursor. */
export const chainTx = (
  query: Query,
): Pick<
  Tx,
  | "captureIntents"
  | "reserveIntent"
  | "insertTx"
  | "setIntent"
  | "bookRevert"
  | "recordBlock"
  | "recordArrivals"
  | "setHeads"
  | "rewind"
  | "initCursor"
> => ({
  async captureIntents(attemptId) {
    const rows = await query<IntentRow>(
      `select * from chain_intent where attempt_id = $1 and kind = 'capture' order by nonce`,
      [attemptId],
    );
    return rows.map(toIntent);
  },
  async reserveIntent(i) {
    const rows = await query<IntentRow>(
      `select * from reserve_intent($1, $2, $3, $4, $5, $6, $7)`,
      [i.id, i.kind, i.paymentId, i.attemptId, i.chain, i.signer, JSON.stringify(i.plan)],
    );
    if (rows[0] === undefined) throw new Error(`intent ${i.id} was not reserved`);
    return toIntent(rows[0]);
  },
  async insertTx(tx) {
    const stored = await query(
      `with made as (
         insert into chain_tx (hash, chain, intent_id, role, raw, max_fee, max_priority_fee, gas, lapses_at, replaces)
         values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) on conflict do nothing returning hash)
       select hash from made union all select hash from chain_tx where chain = $2 and hash = $1 and intent_id = $3`,
      [
        tx.hash,
        tx.chain,
        tx.intentId,
        tx.role,
        Buffer.from(tx.raw),
        tx.fees.maxFee.toString(),
        tx.fees.maxPriorityFee.toString(),
        tx.gas.toString(),
        tx.lapsesAt,
        tx.replaces,
      ],
    );
    return stored.length > 0;
  },
  async setIntent(id, patch) {
    const rows = await query(
      `update chain_intent set state = coalesce($2, state),
         mined_hash = case when $8 then $3 else mined_hash end,
         mined_block = case when $8 then $4 else mined_block end,
         mined_block_hash = case when $8 then $5 else mined_block_hash end,
         gas_cost = case when $8 then $6 else gas_cost end,
         broadcast_at = case when $7 then coalesce(broadcast_at, clock_timestamp()) else broadcast_at end
       where id = $1 and (state not in ('final', 'reverted', 'superseded')
         or (state = 'reverted' and gas_cost is null and $2 = 'superseded')) returning id`,
      [
        id,
        patch.state ?? null,
        patch.minedHash ?? null,
        patch.minedBlock ?? null,
        patch.minedBlockHash ?? null,
        patch.gasCost?.toString() ?? null,
        patch.broadcastNow ?? false,
        "minedHash" in patch,
      ],
    );
    return rows.length > 0;
  },
  async bookRevert(intentId, { hash, blockNumber, blockHash, gasCost }) {
    await query(
      `update chain_intent set mined_hash = $2, mined_block = $3, mined_block_hash = $4, gas_cost = $5
       where id = $1 and state = 'reverted' and gas_cost is null`,
      [intentId, hash, blockNumber, blockHash, gasCost.toString()],
    );
  },
  recordBlock: (chain, block, transfers) => recordBlock(query, chain, block, transfers),
  recordArrivals: (chain, block, transfers) => recordArrivals(query, chain, block, transfers),
  async setHeads(chain, scanned, { latest, safe, finalized, finalizedTime }) {
    const rows = await query(
      `update chain_cursor set latest_number = $2, safe_number = $3, finalized_number = greatest(finalized_number, $4),
         finalized_time = greatest(finalized_time, $5), updated_at = clock_timestamp()
       where chain = $1 and scanned_number = $6 and scanned_hash = $7 returning chain`,
      [chain, latest, safe, finalized, finalizedTime, scanned.number, scanned.hash],
    );
    return rows.length > 0;
  },
  async rewind(chain, scanned, to) {
    const unmoved = await query(
      `select chain from chain_cursor where chain = $1 and scanned_number = $2 and scanned_hash = $3 for update`,
      [chain, scanned.number, scanned.hash],
    );
    if (unmoved.length === 0) return false;
    await query(`delete from chain_block where chain = $1 and number > $2`, [chain, to.number]);
    await query(
      `update movement set state = 'orphaned' where chain = $1 and block_number > $2 and state <> 'orphaned'`,
      [chain, to.number],
    );
    await query(`update chain_cursor set scanned_number = $2, scanned_hash = $3 where chain = $1`, [
      chain,
      to.number,
      to.hash,
    ]);
    return true;
  },
  async initCursor(chain, block) {
    await query(
      `insert into chain_cursor (chain, scanned_number, scanned_hash, latest_number, safe_number, finalized_number, finalized_time)
       values ($1, $2, $3, $2, 0, 0, 0) on conflict do nothing`,
      [chain, block.number, block.hash],
    );
    await query(
      `insert into chain_block (chain, number, hash, parent, time) values ($1, $2, $3, $4, $5) on conflict do nothing`,
      [chain, block.number, block.hash, block.parent, block.time],
    );
  },
});
