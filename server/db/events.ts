import type { EventReads, EventTx } from "#server/ports/events.ts";
import type { Database, Query } from "./client.ts";
import {
  type AttemptRow,
  DELIVERY_COLUMNS,
  type DeliveryRow,
  ENDPOINT_COLUMNS,
  type EndpointRow,
  EVENT_COLUMNS,
  type EventRow,
  toDelivery,
  toDeliveryAttempt,
  toEndpoint,
  toEvent,
} from "./event-rows.ts";

const oneEndpoint = (rows: EndpointRow[]) => (rows[0] === undefined ? null : toEndpoint(rows[0]));

/** What endpoints read of events and deliveries. */
export const eventReads = ({ query }: Database): EventReads => ({
  async events(merchantId, { after, limit, topic, paymentId }) {
    const rows = await query<EventRow>(
      `select ${EVENT_COLUMNS} from outbox o join merchant m on m.id = o.merchant_id
       where o.merchant_id = $1 and o.number > $2 and ($3::text is null or o.topic = $3)
         and ($4::text is null or o.payment_id = $4)
       order by o.number limit $5`,
      [merchantId, after, topic, paymentId, limit],
    );
    return rows.map(toEvent);
  },
  async webhookEndpoints(merchantId) {
    const rows = await query<EndpointRow>(
      `select ${ENDPOINT_COLUMNS} from webhook_endpoint where merchant_id = $1 and state <> 'deleted'
       order by created_at, id`,
      [merchantId],
    );
    return rows.map(toEndpoint);
  },
  async webhookEndpoint(merchantId, id) {
    return oneEndpoint(
      await query<EndpointRow>(
        `select ${ENDPOINT_COLUMNS} from webhook_endpoint
         where merchant_id = $1 and id = $2 and state <> 'deleted'`,
        [merchantId, id],
      ),
    );
  },
  async deliveries(merchantId, endpointId, { cursor, limit, state }) {
    const known = await query(
      `select 1 from webhook_delivery where id = $1 and endpoint_id = $2 and merchant_id = $3`,
      [cursor, endpointId, merchantId],
    );
    if (cursor !== null && known.length === 0) return null;
    const rows = await query<DeliveryRow>(
      `select ${DELIVERY_COLUMNS} from webhook_delivery d join outbox o on o.event_id = d.event_id
       where d.merchant_id = $1 and d.endpoint_id = $2 and ($3::text is null or d.state = $3)
         and ($4::text is null or (d.created_at, d.id) < (select created_at, id from webhook_delivery where id = $4))
       order by d.created_at desc, d.id desc limit $5`,
      [merchantId, endpointId, state, cursor, limit],
    );
    return rows.map(toDelivery);
  },
  async delivery(merchantId, id) {
    const [row] = await query<DeliveryRow>(
      `select ${DELIVERY_COLUMNS} from webhook_delivery d join outbox o on o.event_id = d.event_id
       where d.merchant_id = $1 and d.id = $2`,
      [merchantId, id],
    );
    if (row === undefined) return null;
    const attempts = await query<AttemptRow>(
      `select * from webhook_attempt where delivery_id = $1 order by number`,
      [id],
    );
    return { delivery: toDelivery(row), attempts: attempts.map(toDeliveryAttempt) };
  },
});

async function redeliver(
  query: Query,
  merchantId: string,
  deliveryId: string,
  fresh: { id: string; cause: string },
): ReturnType<EventTx["redeliver"]> {
  const [old] = await query<{ endpoint_id: string; event_id: string; state: string }>(
    `select d.endpoint_id, d.event_id, e.state from webhook_delivery d
     join webhook_endpoint e on e.id = d.endpoint_id where d.merchant_id = $1 and d.id = $2 for share of e`,
    [merchantId, deliveryId],
  );
  if (old === undefined) return null;
  if (old.state !== "enabled") return "unreachable";
  const [row] = await query<DeliveryRow>(
    `with d as (
       insert into webhook_delivery (id, endpoint_id, merchant_id, event_id, cause, due_at)
       values ($1, $2, $3, $4, $5, clock_timestamp()) returning *)
     select ${DELIVERY_COLUMNS} from d join outbox o on o.event_id = d.event_id`,
    [fresh.id, old.endpoint_id, merchantId, old.event_id, fresh.cause],
  );
  return row === undefined ? null : toDelivery(row);
}

/** The part of a transaction that concerns webhook endpoints. */
export const eventTx = (query: Query): EventTx => ({
  async insertWebhookEndpoint(e, most) {
    // Counted under a lock: two calls at once do not both take the last place.
    await query(`select 1 from merchant where id = $1 for no key update`, [e.merchantId]);
    return oneEndpoint(
      await query<EndpointRow>(
        `insert into webhook_endpoint (id, merchant_id, environment, url, description, topics, secret)
         select $1, $2, $3, $4, $5, $6, $7
         where (select count(*) from webhook_endpoint where merchant_id = $2 and state <> 'deleted') < $8
         returning ${ENDPOINT_COLUMNS}`,
        [
          e.id,
          e.merchantId,
          e.environment,
          e.url,
          e.description,
          e.topics,
          Buffer.from(e.secret),
          most,
        ],
      ),
    );
  },
  async changeWebhookEndpoint(merchantId, id, { url, description, topics, state }) {
    return oneEndpoint(
      await query<EndpointRow>(
        `update webhook_endpoint set url = coalesce($3, url), topics = coalesce($5, topics),
           description = case when $6 then $4 else description end, state = coalesce($7, state)
         where merchant_id = $1 and id = $2 and state <> 'deleted' returning ${ENDPOINT_COLUMNS}`,
        [
          merchantId,
          id,
          url ?? null,
          description ?? null,
          topics ?? null,
          description !== undefined,
          state ?? null,
        ],
      ),
    );
  },
  async rotateWebhookSecret(merchantId, id, secret, oldForS) {
    return oneEndpoint(
      await query<EndpointRow>(
        `update webhook_endpoint set old_secret = secret, secret = $3,
           old_until = clock_timestamp() + make_interval(secs => $4)
         where merchant_id = $1 and id = $2 and state <> 'deleted' returning ${ENDPOINT_COLUMNS}`,
        [merchantId, id, Buffer.from(secret), oldForS],
      ),
    );
  },
  async deleteWebhookEndpoint(merchantId, id) {
    const rows = await query(
      `update webhook_endpoint set state = 'deleted' where merchant_id = $1 and id = $2 returning 1`,
      [merchantId, id],
    );
    if (rows.length === 0) return false;
    await query(
      `update webhook_delivery set state = 'failed', due_at = null, ended_at = clock_timestamp()
       where endpoint_id = $1 and state = 'pending'`,
      [id],
    );
    return true;
  },
  redeliver: (merchantId, deliveryId, fresh) => redeliver(query, merchantId, deliveryId, fresh),
});
