import { failpoint } from "#server/platform/failpoint.ts";
import { newId } from "#server/platform/ids.ts";
import type { EventQueue } from "#server/ports/events.ts";
import type { Database, Query } from "./client.ts";
import { EVENT_COLUMNS, type EventRow, toEvent } from "./event-rows.ts";
import { inTransaction } from "./transaction.ts";

/**
 * A column of an event's own delivery to an endpoint, null unless it is on its way there. A scalar subquery by the whole
 * key, as the `offset 0` of others, keeps the planner from scanning a queue that has grown since it last looked.
 */
const pending = (column: string, endpointId: string, eventId: string): string =>
  `select case when v.state = 'pending' then v.${column} end from webhook_delivery v
   where v.endpoint_id = ${endpointId} and v.event_id = ${eventId} and v.cause = 'dispatch'`;

type Numbered = {
  id: string;
  event_id: string;
  merchant_id: string;
  topic: string;
  payment_id: string | null;
  sequence: number;
};

/** Numbers what is committed and has none, in the order it was written; the merchant's counter makes it gap-free. */
const giveNumbers = (query: Query, limit: number): Promise<Numbered[]> =>
  query<Numbered>(
    `with batch as (
       select id, merchant_id, row_number() over (partition by merchant_id order by id) as place
       from (select id, merchant_id from outbox where number is null order by id limit $1) as first),
     counted as (
       update merchant m set event_number = m.event_number + c.found
       from (select merchant_id, count(*) as found from batch group by merchant_id) c
       where m.id = c.merchant_id returning m.id, m.event_number - c.found as before)
     update outbox o set number = counted.before + batch.place, numbered_at = clock_timestamp()
     from batch join counted on counted.id = batch.merchant_id where o.id = batch.id
     returning o.id, o.event_id, o.merchant_id, o.topic, o.payment_id, o.sequence`,
    [limit],
  );

/** Columns of what is queued, for `jsonb_to_recordset`. */
const QUEUED = `d(id text, endpoint_id text, merchant_id text, event_id text, payment_id text, sequence int)`;

/**
 * Holds the deliveries that new ones must wait for: one that ends at this moment is either over by now, or finds those
 * that wait for it. Each payment's in their order, as an attempt's end locks them.
 */
const lockEarlier = (query: Query, queued: string): Promise<unknown> =>
  query(
    `select (${pending("id", "d.endpoint_id", "earlier.event_id")} for share)
     from jsonb_to_recordset($1) as ${QUEUED} cross join lateral (
       select o.event_id from outbox o where o.payment_id = d.payment_id and o.sequence < d.sequence
       order by o.sequence offset 0) earlier`,
    [queued],
  );

async function dispatch(query: Query, numbered: Numbered[]): Promise<void> {
  // Shared locks: an endpoint deleted at this moment either gets nothing, or ends what it got.
  const endpoints = await query<{ id: string; merchant_id: string; topics: string[] }>(
    `select id, merchant_id, topics from webhook_endpoint
     where merchant_id = any($1) and state = 'enabled' order by id for share`,
    [[...new Set(numbered.map((event) => event.merchant_id))]],
  );
  const inOrder = numbered.toSorted((a, b) => Number(BigInt(a.id) - BigInt(b.id)));
  const rows = inOrder.flatMap((event) =>
    endpoints
      .filter(({ merchant_id }) => merchant_id === event.merchant_id)
      .filter(({ topics }) => topics.length === 0 || topics.includes(event.topic))
      .map(({ id }) => ({ ...event, id: newId("delivery"), endpoint_id: id })),
  );
  if (rows.length === 0) return;
  const queued = JSON.stringify(rows);
  await lockEarlier(query, queued);
  await query(
    `insert into webhook_delivery (id, endpoint_id, merchant_id, event_id, due_at)
     select d.id, d.endpoint_id, d.merchant_id, d.event_id, greatest(clock_timestamp(), (
       select max((${pending("due_at", "d.endpoint_id", "o.event_id")})) from outbox o
       where o.payment_id = d.payment_id and o.sequence < d.sequence))
     from jsonb_to_recordset($1) as ${QUEUED}
     on conflict (endpoint_id, event_id, cause) do nothing`,
    [queued],
  );
}

async function numberEvents(db: Database, limit: number): Promise<number> {
  const [some] = await db.query(`select 1 from outbox where number is null limit 1`);
  if (some === undefined) return 0;
  return inTransaction(db.pool, async (query) => {
    // One at a time, whoever holds the lease: numbers follow the order in which events were written.
    const [lock] = await query<{ held: boolean }>(
      `select pg_try_advisory_xact_lock(hashtextextended('florin:number-events', 0)) as held`,
    );
    if (lock?.held !== true) return 0;
    const numbered = await giveNumbers(query, limit);
    if (numbered.length === 0) return 0;
    await failpoint("number.before_dispatch");
    await dispatch(query, numbered);
    await failpoint("number.before_commit");
    return numbered.length;
  });
}

async function endpointsDue(query: Query, except: string[], limit: number): Promise<string[]> {
  // A step through the index for each endpoint that waits, however long its queue is.
  const rows = await query<{ endpoint_id: string }>(
    `with recursive lane as (
       (select endpoint_id, due_at from webhook_delivery where state = 'pending'
        order by endpoint_id, due_at limit 1)
       union all
       select next.endpoint_id, next.due_at from lane cross join lateral (
         select endpoint_id, due_at from webhook_delivery
         where state = 'pending' and endpoint_id > lane.endpoint_id order by endpoint_id, due_at limit 1) next)
     select lane.endpoint_id from lane join webhook_endpoint e on e.id = lane.endpoint_id and e.state = 'enabled'
     where lane.due_at <= clock_timestamp() and lane.endpoint_id <> all($1) order by lane.due_at limit $2`,
    [except, limit],
  );
  return rows.map((row) => row.endpoint_id);
}

type ClaimedRow = EventRow & {
  delivery_id: string;
  attempts: number;
  endpoint_id: string;
  url: string;
  secret: Buffer;
  old_secret: Buffer | null;
};

const CLAIM = `
  update webhook_delivery d set due_at = clock_timestamp() + make_interval(secs => $2)
  from webhook_endpoint e, outbox o join merchant m on m.id = o.merchant_id
  where d.id = (
      select w.id from webhook_delivery w join outbox x on x.event_id = w.event_id
      where w.endpoint_id = $1 and w.state = 'pending' and w.due_at <= clock_timestamp()
        and (w.cause <> 'dispatch' or (
          select count((${pending("id", "w.endpoint_id", "b.event_id")})) from outbox b
          where b.payment_id = x.payment_id and b.sequence < x.sequence) = 0)
      order by w.due_at limit 1 for update of w skip locked)
    and e.id = d.endpoint_id and e.state = 'enabled' and o.event_id = d.event_id
  returning d.id as delivery_id, d.attempts, e.id as endpoint_id, e.url, e.secret,
    case when e.old_until > clock_timestamp() then e.old_secret end as old_secret, ${EVENT_COLUMNS}`;

const claimDelivery: (query: Query) => EventQueue["claimDelivery"] =
  (query) => async (endpointId, forS) => {
    const [row] = await query<ClaimedRow>(CLAIM, [endpointId, forS]);
    if (row === undefined) return null;
    const { delivery_id: id, attempts, url, secret, old_secret: oldSecret } = row;
    return {
      id,
      attempts,
      endpoint: { id: row.endpoint_id, url, secret, oldSecret },
      event: toEvent(row),
    };
  };

/** Later events of the same payment wait with a delivery that is tried again much later, and go on once it has ended. */
const MOVE_FOLLOWERS = `
  update webhook_delivery f set due_at = case when $2::int is null then least(f.due_at, clock_timestamp())
    else clock_timestamp() + make_interval(secs => $2) end
  where f.state = 'pending' and f.id = any(array(
    select (${pending("id", "d.endpoint_id", "later.event_id")})
    from webhook_delivery d join outbox o on o.event_id = d.event_id cross join lateral (
      select l.event_id from outbox l where l.payment_id = o.payment_id and l.sequence > o.sequence
      order by l.sequence offset 0) later
    where d.id = $1 and d.cause = 'dispatch'))`;

const FINISH = `
  with noted as (
    insert into webhook_attempt (delivery_id, number, at, duration_ms, request_headers, response_status,
      response_headers, response_body, error)
    values ($1, $2, clock_timestamp() - make_interval(secs => $3::int / 1000.0), $3, $4, $5, $6, $7, $8)
    on conflict do nothing)
  update webhook_delivery set attempts = greatest(attempts, $2), state = $9,
    due_at = clock_timestamp() + make_interval(secs => $10::int),
    ended_at = case when $9 <> 'pending' then clock_timestamp() end
  where id = $1 and state = 'pending'`;

const finishAttempt: (query: Query) => EventQueue["finishAttempt"] =
  (query) =>
  async ({ id, number }, attempt, next) => {
    const afterS = next.kind === "again" ? next.afterS : null;
    await query(FINISH, [
      id,
      number,
      attempt.durationMs,
      JSON.stringify(attempt.requestHeaders),
      attempt.responseStatus,
      attempt.responseHeaders === null ? null : JSON.stringify(attempt.responseHeaders),
      attempt.responseBody,
      attempt.error,
      next.kind === "again" ? "pending" : next.kind,
      afterS,
    ]);
    // A statement of its own: it sees what was queued while the one before waited. Left out by a crash, it delays only.
    await query(MOVE_FOLLOWERS, [id, afterS]);
  };

/** The worker's side of events: numbering, and deliveries one attempt at a time. */
export const eventQueue = (db: Database): EventQueue => ({
  numberEvents: (limit) => numberEvents(db, limit),
  endpointsDue: (except, limit) => endpointsDue(db.query, except, limit),
  claimDelivery: claimDelivery(db.query),
  finishAttempt: finishAttempt(db.query),
  async releaseDelivery(id) {
    await db.query(
      `update webhook_delivery set due_at = clock_timestamp() where id = $1 and state = 'pending'`,
      [id],
    );
  },
});
