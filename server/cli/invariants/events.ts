import { type Check, sqlCheck } from "./check.ts";
import { REFUND_EVENTS } from "./refunds.ts";
import { DELIVERED_TO, DELIVERY_CHECK, NAMED, NUMBERS } from "./webhooks.ts";

/** I30 to I33: what merchants are told. */
export const EVENT_CHECKS: Check[] = [
  sqlCheck({
    id: "I30",
    title: "every status change is told once, by its own transaction",
    counted: ["status changes", "select 1 from payment_event"],
    problems: [
      `select format('%s: event %s (%s) has %s outbox rows', e.payment_id, e.version, e.to_s, count(o.id))
       from payment_event e left join outbox o on o.payment_id = e.payment_id
         and o.dedupe = 'payment:' || e.payment_id || ':' || e.version
       group by e.payment_id, e.version having count(o.id) <> 1`,
      `select format('%s: event %s is from %s, its outbox row from %s', e.payment_id, e.version, e.at, o.created_at)
       from payment_event e join outbox o on o.dedupe = 'payment:' || e.payment_id || ':' || e.version
       where o.created_at <> e.at`,
      `select format('%s: event %s leads to %s and is told as %s', e.payment_id, e.version, e.to_s, o.payload ->> 'status')
       from payment_event e join outbox o on o.dedupe = 'payment:' || e.payment_id || ':' || e.version
       where o.payload ->> 'status' is distinct from e.to_s`,
      `select format('the creation of %s is told %s times', p.id, count(o.id))
       from payment p left join outbox o on o.payment_id = p.id and o.dedupe = 'payment:' || p.id || ':0'
       group by p.id having count(o.id) <> 1`,
      `select format('outbox row %s tells of %s, which did not happen', o.event_id, o.dedupe) from outbox o
       where o.dedupe like 'payment:%' and o.dedupe not like '%:0' and not exists (
         select 1 from payment_event e where o.dedupe = 'payment:' || e.payment_id || ':' || e.version)`,
      ...REFUND_EVENTS,
    ],
  }),
  sqlCheck({
    id: "I31",
    title: "events belong to the payment's merchant",
    counted: ["outbox rows", "select 1 from outbox"],
    problems: [
      ...DELIVERED_TO,
      `select format('event %s of %s is for %s, the payment belongs to %s', o.event_id, o.payment_id, o.merchant_id,
         coalesce(p.merchant_id, 'nobody'))
       from outbox o left join payment p on p.id = o.payment_id
       where o.payment_id is not null
         and (p.merchant_id is distinct from o.merchant_id or o.payload ->> 'merchant_id' is distinct from p.merchant_id)`,
    ],
  }),
  sqlCheck({
    id: "I32",
    title: "numbers of a payment and of a merchant are 1 to n; attempts name their event",
    counted: ["payments", "select distinct payment_id from outbox"],
    partly: "bodies of attempts not checked: they are not stored",
    problems: [
      ...NUMBERS,
      NAMED,
      `select format('%s: event %s has sequence %s, it is number %s', payment_id, event_id, sequence, place)
       from (select payment_id, event_id, sequence,
         row_number() over (partition by payment_id order by sequence, id) as place
         from outbox where payment_id is not null) o where sequence <> place`,
      `select format('event id %s was given %s times', event_id, count(*)) from outbox group by event_id having count(*) > 1`,
    ],
  }),
  DELIVERY_CHECK,
];
