import type { ExceptionKind } from "#server/domain/payment/evidence.ts";
import { newId } from "#server/platform/ids.ts";
import type { Database, Query } from "./client.ts";
import { inTransaction } from "./transaction.ts";

export type Hold = { asset: string; reason: string; since: Date };
export type BlockedSettlement = {
  id: string;
  payment_id: string;
  asset: string;
  amount: string;
  destination: string;
  detail: string | null;
};

/** What stands still until somebody has looked: holds on assets, and settlements whose transfer was refused. */
export async function listStopped(
  db: Database,
): Promise<{ holds: Hold[]; blocked: BlockedSettlement[] }> {
  const [holds, blocked] = await Promise.all([
    db.query<Hold>(
      `select asset, reason, created_at as since from settlement_hold order by created_at`,
    ),
    db.query<BlockedSettlement>(
      `select id, payment_id, asset, amount, destination, detail from settlement where state = 'blocked' order by created_at`,
    ),
  ]);
  return { holds, blocked };
}

/** Stops payouts in an asset (CAIP-19, or `*` for all) until the hold is lifted; false: there is one already. */
export async function hold(query: Query, asset: string, reason: string): Promise<boolean> {
  const rows = await query(
    `insert into settlement_hold (asset, reason) values ($1, $2) on conflict do nothing returning asset`,
    [asset, reason],
  );
  return rows.length > 0;
}

/** Ends a hold; false: there was none on this asset. */
export async function liftHold(db: Database, asset: string): Promise<boolean> {
  const rows = await db.query(`delete from settlement_hold where asset = $1 returning asset`, [
    asset,
  ]);
  return rows.length > 0;
}

/**
 * Puts a blocked settlement up again under a new id, to the same destination; the old row stays as superseded, with whatever
 * transaction it had. Null: no such blocked settlement.
 */
export async function retrySettlement(db: Database, id: string): Promise<string | null> {
  return inTransaction(db.pool, async (query) => {
    const ended = await query(
      `update settlement set state = 'superseded' where id = $1 and state = 'blocked' returning id`,
      [id],
    );
    if (ended.length === 0) return null;
    const next = newId("settlement");
    await query(
      `insert into settlement (id, payment_id, capture_id, merchant_id, asset, destination, amount, fee, schedule)
       select $2, payment_id, capture_id, merchant_id, asset, destination, amount, fee, schedule
       from settlement where id = $1`,
      [id, next],
    );
    return next;
  });
}

/** An exception nobody has dealt with; `amount` is in minor units of `asset`. */
export type OpenException = {
  id: string;
  kind: ExceptionKind;
  payment_id: string | null;
  chain: string;
  asset: string;
  amount: string;
  tx_ref: string;
  detail: string;
  since: Date;
};

/** Every open exception, oldest first. */
export const listExceptions = (db: Database): Promise<OpenException[]> =>
  db.query<OpenException>(
    `select id, kind, payment_id, chain, asset, amount_minor as amount, tx_ref, detail, created_at as since
     from exception_record where state = 'open' order by created_at, id`,
  );

/** Closes an exception for good, with the reason; false: no such open exception. */
export async function resolveException(db: Database, id: string, why: string): Promise<boolean> {
  const rows = await db.query(
    `update exception_record set state = 'resolved', resolved_at = clock_timestamp(), resolution = $2
     where id = $1 and state = 'open' returning id`,
    [id, why],
  );
  return rows.length > 0;
}
