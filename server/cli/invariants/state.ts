import { PAYMENT_STATUSES } from "#server/domain/payment/state.ts";
import { EDGES, isFinal } from "#server/domain/payment/transitions.ts";
import { type Check, notChecked, sqlCheck } from "./check.ts";

const list = (values: string[]): string => values.map((value) => `'${value}'`).join(", ");

const EDGE_LIST = PAYMENT_STATUSES.flatMap((from) =>
  Object.values(EDGES[from]).map((to) => `('${from}', '${to}')`),
).join(", ");
const FINAL_LIST = list(PAYMENT_STATUSES.filter(isFinal));

const LAST_EVENT = `left join lateral (select to_s, version from payment_event
  where payment_id = p.id order by version desc limit 1) e on true`;

/** I1 to I7: where payments stand and how they came there. */
export const STATE_CHECKS: Check[] = [
  sqlCheck({
    id: "I1",
    title: "status equals the last event",
    counted: ["payments", "select 1 from payment"],
    problems: [
      `select format('%s is %s, its last event says %s', p.id, p.status, coalesce(e.to_s, 'requires_action'))
       from payment p ${LAST_EVENT} where p.status <> coalesce(e.to_s, 'requires_action')`,
      `select format('%s has version %s, its last event %s', p.id, p.version, coalesce(e.version, 0))
       from payment p ${LAST_EVENT} where p.version <> coalesce(e.version, 0)`,
    ],
  }),
  sqlCheck({
    id: "I2",
    title: "events form a path over allowed edges",
    counted: ["events", "select 1 from payment_event"],
    problems: [
      `select format('%s: event %s leads from %s, but the payment was %s', payment_id, version, from_s, before)
       from (select payment_id, version, from_s,
         lag(to_s, 1, 'requires_action') over (partition by payment_id order by version) as before from payment_event) e
       where before <> from_s`,
      `select format('%s: event %s is number %s', payment_id, version, place)
       from (select payment_id, version,
         row_number() over (partition by payment_id order by version) as place from payment_event) e
       where version <> place`,
      `select format('%s: event %s goes from %s to %s, which is no edge', payment_id, version, from_s, to_s)
       from payment_event where (from_s, to_s) not in (values ${EDGE_LIST})`,
      `select format('the database allows %s to %s', from_s, to_s)
       from payment_transition where (from_s, to_s) not in (values ${EDGE_LIST})`,
    ],
  }),
  sqlCheck({
    id: "I3",
    title: "no event leaves a final status",
    counted: ["final payments", `select 1 from payment where status in (${FINAL_LIST})`],
    problems: [
      `select format('%s: event %s leaves %s for %s', payment_id, version, from_s, to_s)
       from payment_event where from_s in (${FINAL_LIST})`,
    ],
  }),
  notChecked(
    "I4",
    "isFinal is told for final statuses only",
    "observed in answers; the tests of the API assert it, no answer is stored",
  ),
  notChecked(
    "I5",
    "no client sees a status go back",
    "observed by clients; the tests that poll assert it, no poll is stored",
  ),
  sqlCheck({
    id: "I6",
    title: "what is shown of a payment agrees with its status",
    counted: ["payments", "select 1 from payment"],
    problems: [
      `select format('%s succeeded and has no transfer to show', p.id) from payment p
       where p.status = 'succeeded' and not exists (
         select 1 from capture c join payment_option o on o.id = c.option_id where c.payment_id = p.id)`,
      `select format('%s is %s and has capture %s', p.id, p.status, c.id)
       from payment p join capture c on c.payment_id = p.id and c.status <> 'orphaned' where p.status <> 'succeeded'`,
      `select format('%s is %s with failure code %s', id, status, failure_code)
       from payment where failure_code is not null and status <> 'failed'`,
      `select format('%s has failure code %s, which no client knows', id, failure_code) from payment
       where failure_code not in ('declined_user', 'internal_error', 'authorization_expired', 'broadcast_failed')`,
      `select format('settlement %s of %s is final without a transfer that was mined', s.id, s.payment_id)
       from settlement s left join chain_intent i on i.id = s.intent_id and i.state in ('mined', 'final')
       where s.state = 'final' and (s.tx_ref is null or s.settled_at is null or i.id is null)`,
    ],
  }),
  sqlCheck({
    id: "I7",
    title: "terms never change after creation",
    counted: ["events told", "select 1 from outbox where payment_id is not null"],
    partly: "a destination in the intermediary flow is seen in its settlement only (I27)",
    problems: [
      `select format('%s: event %s was told with other terms', p.id, o.event_id)
       from outbox o join payment p on p.id = o.payment_id
       where o.payload ->> 'payment_id' is distinct from p.id
         or o.payload ->> 'merchant_id' is distinct from p.merchant_id
         or (o.payload ->> 'live')::boolean is distinct from (p.environment = 'live')
         or o.payload ->> 'reference_id' is distinct from p.reference_id
         or o.payload -> 'amount' ->> 'unit' is distinct from p.amount_unit
         or (o.payload -> 'amount' ->> 'value')::numeric is distinct from p.amount_minor
         or (o.payload ->> 'expires_at')::timestamptz is distinct from date_trunc('second', p.expires_at)`,
      `select format('%s: option %s pays %s, the destination is %s', p.id, o.id, o.recipient, p.destinations ->> o.asset)
       from payment_option o join payment p on p.id = o.payment_id
       where p.flow = 'direct' and o.recipient is distinct from split_part(p.destinations ->> o.asset, ':', 3)`,
      `select format('%s: option %s pays %s, whose key is not ours', p.id, o.id, o.recipient)
       from payment_option o join payment p on p.id = o.payment_id
       where p.flow = 'intermediary' and exists (select 1 from signer_nonce s where s.chain = o.chain)
         and not exists (select 1 from signer_nonce s where s.chain = o.chain and s.signer = o.recipient)`,
    ],
  }),
];
