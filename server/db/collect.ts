import type { CollectStore, CollectTx, HeldData } from "#server/ports/collect.ts";
import type { Database, Query } from "./client.ts";

/** Rows one statement deletes, so that a sweep never holds many locks. */
const FORGET_BATCH = 1_000;

type HeldRow = { account: string; payment_id: string; proven: boolean; names: string[] };

const toHeld = ({ account, payment_id, proven, names }: HeldRow): HeldData => ({
  account,
  paymentId: payment_id,
  proven,
  names,
});

/** Personal data inside a transaction. */
export const collectTx = (query: Query): CollectTx => ({
  async storeCollected(paymentId, account, fields, keepDays) {
    const names = fields.map(({ name }) => name);
    await query(
      `delete from collected_field where payment_id = $1 and account = $2 and name <> all($3) and not proven`,
      [paymentId, account, names],
    );
    await query(
      `insert into collected_field (payment_id, account, name, sealed, delete_after)
       select $1, $2, f.name, f.sealed, now() + make_interval(days => $5)
       from unnest($3::text[], $4::bytea[]) as f (name, sealed)
       on conflict (payment_id, account, name) do update
         set sealed = excluded.sealed, created_at = excluded.created_at, delete_after = excluded.delete_after
         where not collected_field.proven`,
      [paymentId, account, names, fields.map(({ sealed }) => Buffer.from(sealed)), keepDays],
    );
  },
  async proveCollected(paymentId, account) {
    await query(
      `update collected_field set proven = true where payment_id = $1 and account = $2 and not proven`,
      [paymentId, account],
    );
  },
  async lookAtCollected(paymentId, { reader, reason }) {
    const looks = await query<{ account: string; names: string[] }>(
      `insert into collected_read (reader, payment_id, account, names, reason)
       select $2, payment_id, account, array_agg(name order by name), $3 from collected_field
       where payment_id = $1 group by payment_id, account order by account returning account, names`,
      [paymentId, reader, reason],
    );
    const found = [];
    for (const { account, names } of looks)
      found.push(
        ...(await query<{ account: string; name: string; sealed: Buffer }>(
          `select account, name, sealed from collected_field
           where payment_id = $1 and account = $2 and name = any($3) order by name`,
          [paymentId, account, names],
        )),
      );
    return found;
  },
});

/** Personal data outside a transaction: which is held, and the end of what is past its time. */
export const collectStore = (db: Database): CollectStore => ({
  async heldData({ id, environment }, accounts) {
    const rows = await db.query<HeldRow>(
      `select f.account, f.payment_id, f.proven, array_agg(f.name) as names
       from collected_field f join payment p on p.id = f.payment_id
       where f.account = any($1) and f.delete_after > clock_timestamp()
         and (f.payment_id = $2 or (f.proven and p.environment = $3))
       group by f.account, f.payment_id, f.proven`,
      [accounts, id, environment],
    );
    return rows.map(toHeld);
  },
  async forgetCollected() {
    for (let total = 0; ; ) {
      const gone = await db.query(
        `delete from collected_field where ctid = any(array(
           select ctid from collected_field where delete_after <= clock_timestamp() limit ${FORGET_BATCH}))
         returning 1`,
      );
      total += gone.length;
      if (gone.length < FORGET_BATCH) return total;
    }
  },
});
