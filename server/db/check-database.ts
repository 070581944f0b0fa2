import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Database } from "./client.ts";

// A joined path, not a `new URL` of a literal: bundlers take that for a module to resolve.
const MIGRATIONS = join(dirname(fileURLToPath(import.meta.url)), "../../prisma/migrations");

/** Guards a start insists on: what `prisma db push` would silently leave out. */
const TRIGGERS = [
  "payment_guard",
  "payment_has_event",
  "payment_starts_open",
  "payment_notify",
  "ledger_entry_balanced",
  "ledger_entry_nonneg",
  "ledger_move",
  "ledger_entry_ro",
  "ledger_entry_tr",
  "ledger_tx_ro",
  "ledger_tx_tr",
  "payment_event_ro",
  "payment_event_tr",
  "auth_use_ro",
  "auth_use_tr",
  "chain_tx_ro",
  "chain_tx_tr",
  "payment_option_ro",
  "payment_option_tr",
  "outbox_guard",
  "outbox_kept",
  "refund_guard",
  "refund_kept",
  "push_offer_ro",
  "served_tx_ro",
  "collected_read_ro",
  "collected_read_tr",
  "webhook_attempt_ro",
];
const INDEXES = [
  "one_live_attempt",
  "one_capture",
  "one_claim",
  "one_live_settlement",
  "one_live_capture_intent",
  "one_successor",
  "one_refund_per_transfer",
  "one_refund_per_intent",
];
/** Settings without which an acknowledged commit may be lost with the machine. */
const DURABILITY: Record<string, string[]> = {
  fsync: ["on"],
  full_page_writes: ["on"],
  synchronous_commit: ["on", "remote_write", "remote_apply"],
};

const wantedMigrations = (): string[] =>
  readdirSync(MIGRATIONS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();

/** Every reason this database may not serve payments; empty when it may. Throws when it does not answer. */
export async function checkDatabase(db: Database): Promise<string[]> {
  const problems: string[] = [];
  const applied = await db
    .query<{ migration_name: string; done: boolean }>(
      `select migration_name, (finished_at is not null and rolled_back_at is null) as done from _prisma_migrations`,
    )
    .catch(() => []);
  const done = new Set(applied.filter((row) => row.done).map((row) => row.migration_name));
  for (const row of applied)
    if (!row.done) problems.push(`migration ${row.migration_name} was applied by half`);
  const wanted = wantedMigrations();
  for (const name of wanted) if (!done.has(name)) problems.push(`migration ${name} is missing`);
  for (const name of done)
    if (!wanted.includes(name))
      problems.push(`the database has migration ${name}, which this version does not know`);
  const triggers = new Set(
    (
      await db.query<{ tgname: string }>(
        `select tgname from pg_trigger where not tgisinternal and tgenabled <> 'D'`,
      )
    ).map(({ tgname }) => tgname),
  );
  for (const name of TRIGGERS) if (!triggers.has(name)) problems.push(`guard ${name} is missing`);
  const indexes = new Set(
    (
      await db.query<{ indexname: string }>(
        `select indexname from pg_indexes where schemaname = 'public'`,
      )
    ).map(({ indexname }) => indexname),
  );
  for (const name of INDEXES)
    if (!indexes.has(name)) problems.push(`unique index ${name} is missing`);
  for (const [name, allowed] of Object.entries(DURABILITY)) {
    const rows = await db.query<{ setting: string }>(
      `select setting from pg_settings where name = $1`,
      [name],
    );
    const setting = rows[0]?.setting ?? "unknown";
    if (!allowed.includes(setting)) problems.push(`${name} is ${setting}: payments could be lost`);
  }
  return problems;
}
