import { type Check, sqlCheck } from "./check.ts";

/** After this an event without a number, or a delivery nobody tries, is stuck. */
const STUCK = "interval '120 seconds'";

/** I31: deliveries go to endpoints of the event's own merchant. */
export const DELIVERED_TO = [
  `select format('delivery %s of an event of %s goes to an endpoint of %s', d.id, o.merchant_id, e.merchant_id)
   from webhook_delivery d join outbox o on o.event_id = d.event_id join webhook_endpoint e on e.id = d.endpoint_id
   where d.merchant_id <> o.merchant_id or e.merchant_id <> o.merchant_id`,
  `select format('endpoint %s is for %s events, its merchant is %s', e.id, e.environment, m.environment)
   from webhook_endpoint e join merchant m on m.id = e.merchant_id where m.environment <> e.environment`,
];

/** I32: a merchant's numbers are 1 to n, and follow the order of each payment. */
export const NUMBERS = [
  `select format('%s: event %s has number %s, it is event %s', merchant_id, event_id, number, place)
   from (select merchant_id, event_id, number, row_number() over (partition by merchant_id order by number) as place
     from outbox where number is not null) o where number <> place`,
  `select format('%s: the counter is at %s, the last number is %s', m.id, m.event_number, coalesce(max(o.number), 0))
   from merchant m left join outbox o on o.merchant_id = m.id group by m.id
   having m.event_number <> coalesce(max(o.number), 0)`,
  `select format('%s: event %s has number %s, the one before it %s', payment_id, event_id, number, before)
   from (select payment_id, event_id, number, sequence,
     lag(number) over (partition by payment_id order by sequence) as before
     from outbox where payment_id is not null) o
   where number is not null and sequence > 1 and (before is null or before > number)`,
];

/** I32: every attempt names its event, so that a receiver knows what it has seen. */
export const NAMED = `select format('attempt %s of delivery %s names %s, its event is %s', a.number, d.id,
    coalesce(a.request_headers ->> 'webhook-id', 'nothing'), d.event_id)
  from webhook_attempt a join webhook_delivery d on d.id = a.delivery_id
  where a.request_headers ->> 'webhook-id' is distinct from d.event_id`;

/** I33: nothing a merchant is to be told gets stuck or lost. */
export const DELIVERY_CHECK: Check = sqlCheck({
  id: "I33",
  title: "every webhook is on its way, was taken, or was tried for 75 hours",
  counted: ["deliveries", "select 1 from webhook_delivery"],
  problems: [
    `select format('event %s of %s has no number', event_id, created_at) from outbox
     where number is null and created_at < clock_timestamp() - ${STUCK}`,
    `select format('delivery %s was due at %s and nobody tries it', d.id, d.due_at)
     from webhook_delivery d join outbox o on o.event_id = d.event_id
       join webhook_endpoint e on e.id = d.endpoint_id and e.state = 'enabled'
     where d.state = 'pending' and d.due_at < clock_timestamp() - ${STUCK} and not exists (
       select 1 from outbox b join webhook_delivery w on w.event_id = b.event_id and w.state = 'pending'
       where b.payment_id = o.payment_id and b.sequence < o.sequence and w.endpoint_id = d.endpoint_id)
       and not exists (
         select 1 from webhook_attempt a join webhook_delivery t on t.id = a.delivery_id
         where t.endpoint_id = d.endpoint_id and a.at > clock_timestamp() - ${STUCK})`,
    `select format('delivery %s counts %s attempts, %s are noted', d.id, d.attempts, count(a.number))
     from webhook_delivery d left join webhook_attempt a on a.delivery_id = d.id
     group by d.id having d.attempts <> count(a.number)`,
    `select format('delivery %s succeeded without a 2xx answer', d.id) from webhook_delivery d
     where d.state = 'succeeded' and not exists (
       select 1 from webhook_attempt a where a.delivery_id = d.id and a.response_status between 200 and 299)`,
    `select format('delivery %s was given up after %s attempts in %s', d.id, d.attempts, max(a.at) - min(a.at))
     from webhook_delivery d join webhook_endpoint e on e.id = d.endpoint_id
     left join webhook_attempt a on a.delivery_id = d.id
     where d.state = 'failed' and e.state <> 'deleted' group by d.id
     having coalesce(max(a.at) - min(a.at), interval '0') < interval '75 hours'`,
  ],
});
