import { type Plant, rows } from "./plants.ts";

const MERCHANT = `(select merchant_id from outbox order by id limit 1)`;
const EVENT = `(select event_id from outbox order by id limit 1)`;

const endpoint = (merchant: string, state = "enabled") =>
  `insert into webhook_endpoint (id, merchant_id, environment, url, secret, state)
   values ('whe_planted', ${merchant}, 'test', 'https://shop.example/', '\\x00', '${state}')`;

const delivery = (values: { state: string; attempts: number; due: string }) =>
  `insert into webhook_delivery (id, endpoint_id, merchant_id, event_id, state, attempts, due_at)
   values ('dlv_planted', 'whe_planted', ${MERCHANT}, ${EVENT}, '${values.state}', ${values.attempts}, ${values.due})`;

const attempts = (how: { many: number; apart: string; names: string }) =>
  `insert into webhook_attempt (delivery_id, number, at, duration_ms, request_headers, error)
   select 'dlv_planted', n, now() - interval '100 hours' + n * interval '${how.apart}', 1,
     jsonb_build_object('webhook-id', ${how.names}), 'no answer' from generate_series(1, ${how.many}) n`;

const GIVEN_UP = { state: "failed", attempts: 0, due: "null" };

/** Deliveries that ended as they may. */
export const LEGAL_WEBHOOKS: Plant[] = ["I32", "I33"].map((of) =>
  rows(
    of,
    "ten attempts in more than 75 hours",
    endpoint(MERCHANT),
    delivery({ state: "failed", attempts: 10, due: "null" }),
    attempts({ many: 10, apart: "9 hours", names: EVENT }),
  ),
);

/** Violations by events and deliveries; the world has numbered events and no endpoint of its own. */
export const WEBHOOK_PLANTS: Plant[] = [
  rows(
    "I31",
    "an event sent to another merchant",
    endpoint(`(select id from merchant where id <> ${MERCHANT} limit 1)`, "deleted"),
    delivery(GIVEN_UP),
  ),
  rows(
    "I32",
    "a gap in a merchant's numbers",
    `update outbox set number = number + 1 where id = (select id from outbox
       where merchant_id = ${MERCHANT} and number is not null order by number desc limit 1)`,
  ),
  rows(
    "I32",
    "a number that was given to nobody",
    `update merchant set event_number = event_number + 1`,
  ),
  rows(
    "I32",
    "an event that overtook an earlier one of its payment",
    `update outbox set sequence = 100 where sequence = 1 and payment_id =
       (select payment_id from outbox where number is not null and sequence = 2 limit 1)`,
    `update outbox set sequence = 1 where sequence = 2 and payment_id =
       (select payment_id from outbox where sequence = 100)`,
    `update outbox set sequence = 2 where sequence = 100`,
  ),
  rows(
    "I32",
    "an attempt under another name",
    endpoint(MERCHANT),
    delivery({ state: "failed", attempts: 10, due: "null" }),
    attempts({ many: 10, apart: "9 hours", names: `'evt_other'` }),
  ),
  rows(
    "I33",
    "ten attempts in an hour",
    endpoint(MERCHANT),
    delivery({ state: "failed", attempts: 10, due: "null" }),
    attempts({ many: 10, apart: "6 minutes", names: EVENT }),
  ),
  rows(
    "I33",
    "a delivery nobody tries",
    endpoint(MERCHANT),
    delivery({ state: "pending", attempts: 0, due: "now() - interval '1 hour'" }),
  ),
  rows(
    "I33",
    "an event nobody numbers",
    `update outbox set number = null, created_at = now() - interval '1 hour' where number is not null`,
  ),
  rows("I33", "a delivery that was given up at once", endpoint(MERCHANT), delivery(GIVEN_UP)),
  rows(
    "I33",
    "a delivery that was taken by nobody",
    endpoint(MERCHANT),
    delivery({ state: "succeeded", attempts: 0, due: "null" }),
  ),
  rows(
    "I33",
    "attempts that left no trace",
    endpoint(MERCHANT),
    delivery({ state: "failed", attempts: 10, due: "null" }),
  ),
];
