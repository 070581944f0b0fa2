import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { PAYMENT_STATUSES } from "#server/domain/payment/state.ts";
import { EDGES } from "#server/domain/payment/transitions.ts";
import { environment, migrate } from "#server/sandbox/migrate.ts";
import { databaseUrl, type Postgres, startPostgres } from "#server/sandbox/postgres.ts";
import { checkDatabase } from "./check-database.ts";
import { createDatabase, type Database } from "./client.ts";
import { createStore } from "./store.ts";
import { inTransaction } from "./transaction.ts";

let dir: string;
let postgres: Postgres;
let db: Database;

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), "florin-guards-"));
  postgres = await startPostgres({ dir });
  await migrate(postgres.url);
  db = createDatabase(postgres.url, { max: 4 });
  await db.query(`insert into partner (id, name, api_version) values ('par', 'p', '2026-02-18')`);
  for (const id of ["mer_a", "mer_b"])
    await db.query(
      `insert into merchant (id, partner_id, environment, name, flow) values ($1, 'par', 'test', 'm', 'intermediary')`,
      [id],
    );
});
afterAll(async () => {
  await db?.close();
  await postgres?.stop();
  rmSync(dir, { recursive: true, force: true });
});

const ASSET = "eip155:1/erc20:0x00000000000000000000000000000000000000aa";

async function payment(id: string, merchant = "mer_a"): Promise<void> {
  await db.query(
    `insert into payment (id, merchant_id, environment, amount_unit, amount_minor, reference_id, expires_at, flow,
       settlement_schedule, fee_bps, fee_fixed_minor, destinations)
     values ($1, $2, 'test', 'iso4217/USD', 100, 'r', now() + interval '1 hour', 'intermediary', 'instant', 0, 0, '{}')`,
    [id, merchant],
  );
}

const store = () =>
  createStore(
    db,
    async () => undefined,
    async () => null,
  );

const post = (reason: string, subject: string, lines: [string, bigint, string?][]) =>
  store().transaction((tx) =>
    tx.post(
      reason,
      subject,
      null,
      lines.map(([kind, amount, merchantId]) => ({
        kind: kind as "intermediary",
        asset: ASSET,
        merchantId: merchantId ?? null,
        amount,
      })),
    ),
  );

// Guarantee: the two copies of the state machine, in code and in SQL, are the same.
test("the SQL transitions are the code's", async () => {
  const rows = await db.query<{ edge: string }>(
    `select from_s || '>' || to_s as edge from payment_transition`,
  );
  const code = PAYMENT_STATUSES.flatMap((from) =>
    Object.values(EDGES[from]).map((to) => `${from}>${to}`),
  );
  expect(new Set(rows.map(({ edge }) => edge))).toEqual(new Set(code));
});

/** Columns, keys and indexes of a database's own tables, as PostgreSQL writes them. */
async function shapeOf(of: Database): Promise<string[]> {
  const rows = await of.query<{ line: string }>(
    `select format('%s.%s %s null:%s default:%s', table_name, column_name, udt_name || coalesce(numeric_precision::text, ''),
              is_nullable, column_default) as line
       from information_schema.columns where table_schema = 'public' and table_name <> '_prisma_migrations'
     union all
     select indexdef from pg_indexes where schemaname = 'public' and tablename <> '_prisma_migrations'
     union all
     select format('%s: %s', conrelid::regclass, pg_get_constraintdef(oid)) from pg_constraint
       where contype in ('p', 'f', 'u') and connamespace = 'public'::regnamespace
         and conrelid::regclass::text <> '_prisma_migrations' and confrelid <> 'payment_transition'::regclass`,
  );
  return rows.map(({ line }) => line).toSorted();
}

// Guarantee: the migrations give the database that the schema describes; beyond it there are indexes of ours alone.
test("migrations and schema agree", async () => {
  const script = spawnSync(
    "prisma",
    ["migrate", "diff", "--from-empty", "--to-schema", "prisma/schema", "--script"],
    { encoding: "utf8", env: { ...environment(), DATABASE_URL: postgres.url } },
  );
  expect(script.stdout).toContain("CREATE TABLE");
  await db.query("create database described");
  const described = createDatabase(databaseUrl(postgres.url, "described"), { max: 1 });
  try {
    await described.query(script.stdout);
    const wanted = await shapeOf(described);
    const found = await shapeOf(db);
    expect(wanted.filter((line) => !found.includes(line))).toEqual([]);
    const more = found.filter((line) => !wanted.includes(line));
    expect(more.filter((line) => !/^CREATE (UNIQUE )?INDEX /.test(line))).toEqual([]);
  } finally {
    await described.close();
  }
});

// Guarantee: a database without its guards serves nobody.
test("a dropped guard is noticed", async () => {
  expect(await checkDatabase(db)).toEqual([]);
  await db.query(`alter table payment disable trigger payment_guard`);
  await db.query(`drop index one_live_settlement`);
  expect(await checkDatabase(db)).toEqual([
    "guard payment_guard is missing",
    "unique index one_live_settlement is missing",
  ]);
  await db.query(`alter table payment enable trigger payment_guard`);
  await db.query(
    `create unique index one_live_settlement on settlement (payment_id) where state not in ('reverted','superseded')`,
  );
});

// Guarantee: a role that lacks rights is told so, with its name, and not that a migrated database lacks its migrations.
test("a role without rights is named", async () => {
  await db.query(`create role stranger login password 'p'`);
  const url = new URL(postgres.url);
  Object.assign(url, { username: "stranger", password: "p" });
  const theirs = createDatabase(url.href, { max: 1 });
  try {
    expect(await checkDatabase(theirs)).toEqual([
      expect.stringMatching(/^the role stranger may not .*_prisma_migrations/),
    ]);
    await db.query(`revoke usage on schema public from public`);
    expect(await checkDatabase(theirs)).toEqual([
      expect.stringMatching(/^the role stranger may not .*schema public/),
    ]);
  } finally {
    await db.query(`grant usage on schema public to public`);
    await theirs.close();
  }
});

// Guarantee: whatever the code does, PostgreSQL refuses what would lose or double money.
test.for([
  [
    "a status without its event",
    `update payment set status = 'processing', version = 1 where id = 'pay_1'`,
  ],
  [
    "a jump over processing",
    `update payment set status = 'succeeded', version = 1 where id = 'pay_1'`,
  ],
  ["a status without a new version", `update payment set status = 'expired' where id = 'pay_1'`],
  ["another amount", `update payment set amount_minor = 1 where id = 'pay_1'`],
  ["another destination", `update payment set destinations = '{"x":"y"}' where id = 'pay_1'`],
  [
    "a payment born paid",
    `insert into payment select (jsonb_populate_record(p, '{"id":"pay_x","status":"succeeded"}')).* from payment p where id = 'pay_1'`,
  ],
  [
    "an event over an unknown edge",
    `insert into payment_event (payment_id, version, from_s, to_s, type, body) values ('pay_1', 9, 'succeeded', 'failed', 'x', '{}')`,
  ],
  ["an emptied ledger", `truncate ledger_entry`],
  ["emptied authorizations", `truncate auth_use`],
  ["emptied raw transactions", `truncate chain_tx`],
  ["emptied offers", `truncate payment_option cascade`],
  [
    "a key with a bad shape",
    `insert into idempotency_key (scope, key, fingerprint) values ('s', repeat('x', 256), sha256('x'))`,
  ],
] as const)("refused: %s", async ([, sql]) => {
  await db.query(`delete from payment where id = 'pay_x'`);
  if ((await db.query(`select 1 from payment where id = 'pay_1'`)).length === 0)
    await payment("pay_1");
  await expect(inTransaction(db.pool, (query) => query(sql))).rejects.toThrow();
  const [row] = await db.query<{ status: string; version: number }>(
    `select * from payment where id = 'pay_1'`,
  );
  expect(row).toMatchObject({ status: "requires_action", version: 0 });
});

// Guarantee: the books balance, cannot be overdrawn, and one merchant is never paid with another's money.
test("the ledger refuses what does not add up", async () => {
  await post("capture#1", "pay_l", [
    ["intermediary", 100n],
    ["merchant_payable", -100n, "mer_a"],
  ]);
  await expect(post("x", "unbalanced", [["intermediary", 5n]])).rejects.toThrow(/unbalanced/);
  await expect(
    post("settle", "set_b", [
      ["merchant_payable", 60n, "mer_b"],
      ["intermediary", -60n],
    ]),
  ).rejects.toThrow(/below zero/);
  await expect(
    post("settle", "set_a", [
      ["merchant_payable", 101n, "mer_a"],
      ["intermediary", -101n],
    ]),
  ).rejects.toThrow(/below zero/);
  expect(
    await post("settle", "set_a", [
      ["merchant_payable", 100n, "mer_a"],
      ["intermediary", -100n],
    ]),
  ).toBe(true);
  expect(
    await post("settle", "set_a", [
      ["merchant_payable", 100n, "mer_a"],
      ["intermediary", -100n],
    ]),
  ).toBe(false);
  await expect(db.query(`update ledger_entry set amount = 1`)).rejects.toThrow(/append-only/);
  await expect(db.query(`delete from ledger_tx`)).rejects.toThrow(/append-only/);
});

// Guarantee: a nonce is given once per purpose, without holes, however many ask at once.
test("nonces are reserved without gaps and once per intent", async () => {
  await store().ensureSigner("eip155:1", "0xsigner", 7n);
  const reserve = (n: number) =>
    store().transaction((tx) =>
      tx.reserveIntent({
        id: `fill:${n}`,
        kind: "fill",
        paymentId: null,
        attemptId: null,
        chain: "eip155:1",
        signer: "0xsigner",
        plan: { kind: "fill" },
      }),
    );
  const asked = await Promise.all([...Array(40).keys()].map((n) => reserve(n % 20)));
  const nonces = new Set(asked.map(({ nonce }) => nonce));
  expect([...nonces].toSorted((a, b) => Number(a - b))).toEqual(
    [...Array(20).keys()].map((n) => BigInt(7 + n)),
  );
});

// Guarantee: an answer can be asked for again for seven days, and is not kept for ever.
test("stored answers are forgotten after seven days and not before", async () => {
  for (const [key, days] of [
    ["new", 6],
    ["old", 8],
  ] as const)
    await db.query(
      `insert into idempotency_key (scope, key, fingerprint, status_code, body, created_at)
       values ('s', $1, sha256('x'), 201, '{}', now() - make_interval(days => $2))`,
      [key, days],
    );
  expect(await store().forgetAnswers(7)).toBe(1);
  expect(await db.query(`select key from idempotency_key where scope = 's'`)).toEqual([
    { key: "new" },
  ]);
});
