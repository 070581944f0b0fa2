import type { BuiltStore, BuiltStoreTx } from "#server/ports/built.ts";
import type { BuiltTx } from "#server/ports/chain.ts";
import type { Database, Query } from "./client.ts";

type ServedRow = { message: string; blockhash: string; lapses_at: string };

const toBuilt = ({ message, blockhash, lapses_at }: ServedRow): BuiltTx => ({
  message,
  blockhash,
  lapsesAt: BigInt(lapses_at),
});

const SERVED = `select message, blockhash, lapses_at from served_tx where option_id = $1
  order by lapses_at desc, created_at desc`;

/** The part of a transaction that concerns made transactions, and chains that are read by accounts. */
export const builtTx = (query: Query): Omit<BuiltStoreTx, "recordArrivals"> => ({
  async newestServed(optionId) {
    const [row] = await query<ServedRow>(`${SERVED} limit 1`, [optionId]);
    return row === undefined ? null : toBuilt(row);
  },
  async insertServed(optionId, { message, blockhash, lapsesAt }) {
    await query(
      `insert into served_tx (option_id, blockhash, message, lapses_at) values ($1, $2, $3, $4)
       on conflict do nothing`,
      [optionId, blockhash, message, lapsesAt],
    );
  },
  async moveCursor(chain, from, to) {
    const moved = await query(
      `update chain_cursor set scanned_number = $3, scanned_hash = $4, updated_at = clock_timestamp()
       where chain = $1 and scanned_number = $2 returning chain`,
      [chain, from, to.number, to.hash],
    );
    return moved.length > 0;
  },
  async orphanMovements(chain, upTo, ids) {
    await query(`select chain from chain_cursor where chain = $1 for update`, [chain]);
    await query(
      `update movement set state = 'orphaned' where id = any($3)
         and exists (select 1 from chain_cursor where chain = $1 and scanned_number = $2)`,
      [chain, upTo, ids],
    );
  },
});

/** Reads and sweeps of made transactions. */
export const builtReads = (db: Database): BuiltStore => ({
  async servedTxs(optionId) {
    return (await db.query<ServedRow>(SERVED, [optionId])).map(toBuilt);
  },
  async unsentAttempts(chain, limit) {
    const rows = await db.query<{ id: string; payment_id: string; lapses_at: string }>(
      `select a.id, a.payment_id, a.lapses_at from attempt a
       join payment p on p.id = a.payment_id and p.status = 'processing'
       join payment_option o on o.id = a.option_id and o.chain = $1
       where a.state = 'live' and a.lapses_at is not null and not exists (
         select 1 from chain_intent i join chain_tx t on t.intent_id = i.id
         where i.attempt_id = a.id and i.kind = 'capture' and i.state not in ('superseded', 'reverted'))
       order by a.created_at limit $2`,
      [chain, limit],
    );
    return rows.map((row) => ({
      id: row.id,
      paymentId: row.payment_id,
      lapsesAt: BigInt(row.lapses_at),
    }));
  },
  async unsettledArrivals(chain, from, to) {
    const rows = await db.query<{ id: string; tx_hash: string; block_number: string }>(
      `select id, tx_hash, block_number from movement
       where chain = $1 and block_number > $2 and block_number <= $3 and state in ('seen', 'credited')`,
      [chain, from, to],
    );
    return rows.map((row) => ({
      id: BigInt(row.id),
      txHash: row.tx_hash,
      blockNumber: BigInt(row.block_number),
    }));
  },
});
