import { loadavg } from "node:os";
const uptime = () => loadavg()[0];
import { afterAll, beforeAll, test } from "vitest";
import { eventQueue } from "#server/db/event-queue.ts";
import { until } from "./api.ts";
import { startReceiver } from "./receivers.ts";
import { hooks } from "./webhooks.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";
let world: TestWorld;
let server: TestServer;
beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { FLORIN_WORKER: "off" } });
});
afterAll(() => world?.stop());
test("perf", async () => {
  const shop = hooks(world, () => server.baseUrl);
  const r = await startReceiver();
  const { id } = await shop.endpoint(r.url);
  const m = shop.api.merchantHeaders("intermediary")["Merchant-Id"];
  const fill = (n: number, tag: string) => world.db.query(
    `insert into outbox (event_id, merchant_id, payment_id, topic, sequence, dedupe, payload)
     select 'evt_${tag}' || p || 'x' || s, $1, 'pay_${tag}' || p, 'payment.created', s, '${tag}' || p || ':' || s, '{"a":1}'
     from generate_series(1, $2::int) p, generate_series(1, 3) s order by s, p`, [m, n]);
  await fill(10_000, "a");
  await r.down();
  let t = Date.now();
  const queue = eventQueue(world.db);
  for (let i = 0; i < 20; i++) { const b = performance.now(); await queue.numberEvents(500); console.log("batch", performance.now() - b); }
  const w = await world.startServer({ entry: "worker" });
  for (let i = 0; i < 12; i++) { await new Promise((f) => setTimeout(f, 1000)); const a = await world.db.query(`select left(query, 90) as q, state, wait_event, round(extract(epoch from clock_timestamp() - query_start)*1000) as ms from pg_stat_activity where datname = current_database() and state <> 'idle' and pid <> pg_backend_pid()`); console.log(JSON.stringify(a), uptime()); }
  await until(() => world.db.query<{n: string}>(`select count(*) as n from outbox where number is null`), ([x]) => x?.n === "0");
  console.log("numbered 30k in", Date.now() - t);
  await new Promise((f) => setTimeout(f, 15000));
  console.log(await world.db.query(`select state, attempts, count(*), count(*) filter (where due_at <= now()) as due from webhook_delivery group by 1,2`));
  await world.db.query("analyze");
  await r.up();
  t = Date.now();
  await world.db.query(`update webhook_delivery set due_at = clock_timestamp() where state='pending'`);
  await new Promise((f) => setTimeout(f, 15000));
  const n1 = r.received.length;
  console.log("taken in 15 s after recovery", n1);
  for (const q of [`explain analyze select endpoint_id from webhook_delivery where state='pending' order by endpoint_id, due_at limit 1`,
  ])
    console.log((await world.db.query<Record<string,string>>(q)).map((x) => Object.values(x)[0]).join("\n"));
  console.log(w.output().slice(-1500));
  await r.stop();
}, 300_000);
