import type { Database } from "#server/db/client.ts";

/** Carries out one statement past every guard, to stand for time that passed or for a fault that the guards forbid. */
export async function unguarded(
  db: Database,
  statement: string,
  params: unknown[] = [],
): Promise<void> {
  const client = await db.pool.connect();
  try {
    await client.query("begin");
    await client.query("set local session_replication_role = replica");
    await client.query(statement, params);
    await client.query("commit");
  } finally {
    client.release();
  }
}

/** Lets a payment's time be over in so many seconds, now by default; what was told of it agrees, as if it had been created so. */
export const endsIn = (db: Database, paymentId: string, seconds = 0): Promise<void> =>
  unguarded(
    db,
    `with closed as (
       update payment set expires_at = date_trunc('second', clock_timestamp()) + make_interval(secs => $2)
       where id = $1 returning id, expires_at
     )
     update outbox o set payload = jsonb_set(o.payload, '{expires_at}',
       to_jsonb(to_char(closed.expires_at at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"')))
     from closed where o.payment_id = closed.id`,
    [paymentId, seconds],
  );
