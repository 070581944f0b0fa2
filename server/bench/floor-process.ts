import { hash } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import pg from "pg";
import { newId } from "#server/platform/ids.ts";
import type { FloorOrder } from "./floor.ts";

/** As many connections as a server of ours opens. */
const POOL = 20;
const LIFETIME_S = 900;

/** The rows of a payment in one statement, prepared once: no way of writing them asks PostgreSQL less often. */
const PAYMENT = `insert into payment (id, merchant_id, environment, amount_unit, amount_minor, reference_id, success_url,
    error_url, expires_at, flow, settlement_schedule, fee_bps, fee_fixed_minor, destinations, metadata)
  values ($1, $2, 'test', $3, $4, $5, $6, $7, to_timestamp($8), 'intermediary', 'instant', 40, 0, $9, $10)
  returning id, merchant_id`;
const OUTBOX = `insert into outbox (event_id, merchant_id, payment_id, topic, sequence, dedupe, payload)
  select $11, merchant_id, id, 'payment.created', 1, 'payment:' || id || ':0', $12 from made`;
const CREATE = `with made as (${PAYMENT}) ${OUTBOX}`;
const CREATE_WITH_KEY = `with made as (${PAYMENT}),
  kept as (insert into idempotency_key (scope, key, fingerprint, status_code, body) values ($13, $14, $15, 201, $16))
  ${OUTBOX}`;

type Body = {
  amount: { unit: string; value: string };
  referenceId: string;
  checkout: { successUrl: string; errorUrl: string };
  metadata: Record<string, string>;
};

function answer(response: ServerResponse, status: number, body: string): void {
  response.writeHead(status, {
    "Content-Type": "application/json",
    "Content-Length": Buffer.byteLength(body),
  });
  response.end(body);
}

async function create(
  pool: pg.Pool,
  order: FloorOrder,
  request: IncomingMessage,
  response: ServerResponse,
) {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const text = Buffer.concat(chunks);
  const body = JSON.parse(text.toString()) as Body;
  const id = newId("payment");
  const now = Math.floor(Date.now() / 1000);
  const expiresAt = now + LIFETIME_S;
  const { unit, value } = body.amount;
  const payload = {
    payment_id: id,
    merchant_id: order.merchantId,
    live: false,
    payment_state_version: 0,
    reference_id: body.referenceId,
    status: "requires_action",
    amount: { unit, value },
    created_at: new Date(now * 1000).toISOString(),
    expires_at: new Date(expiresAt * 1000).toISOString(),
    processing: null,
    success: null,
    failed: null,
    cancelled: null,
    expired: null,
    settled: null,
  };
  const values: unknown[] = [
    id,
    order.merchantId,
    unit,
    value,
    body.referenceId,
    body.checkout.successUrl,
    body.checkout.errorUrl,
    expiresAt,
    JSON.stringify(order.destinations),
    JSON.stringify(body.metadata),
    newId("event"),
    JSON.stringify(payload),
  ];
  const said = JSON.stringify({
    paymentId: id,
    gatewayUrl: `${order.checkoutUrl}/${id}`,
    status: "pending",
    expiresAt,
    isFinal: false,
    pollInMs: 1000,
  });
  const key = request.headers["idempotency-key"];
  if (key === undefined) await pool.query({ name: "create", text: CREATE, values });
  else {
    values.push("floor", key, hash("sha256", text, "buffer"), said);
    await pool.query({ name: "create_with_key", text: CREATE_WITH_KEY, values });
  }
  answer(response, 201, said);
}

async function readStatus(pool: pg.Pool, id: string, response: ServerResponse) {
  const { rows } = await pool.query({
    name: "payment",
    text: "select * from payment where id = $1",
    values: [id],
  });
  const payment = rows[0];
  const said = {
    status: payment.status,
    isFinal: false,
    pollInMs: 1000,
    failureCode: payment.failure_code,
    info: null,
  };
  answer(response, 200, JSON.stringify(said));
}

const order: FloorOrder = JSON.parse(readFileSync(process.argv[2] ?? "", "utf8"));
const pool = new pg.Pool({ connectionString: order.databaseUrl, max: POOL });
const server = createServer((request, response) => {
  const work =
    request.method === "POST"
      ? create(pool, order, request, response)
      : readStatus(pool, (request.url ?? "").split("/")[1] ?? "", response);
  work.catch((error) => answer(response, 500, JSON.stringify({ error: String(error) })));
});
server.listen(0, "127.0.0.1", () => {
  const { port } = server.address() as AddressInfo;
  process.stdout.write(`listening on http://127.0.0.1:${port}\n`);
});
