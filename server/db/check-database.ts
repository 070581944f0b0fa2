import { readdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Database } from "./client.ts";
import { codeOf, isCrowded, isTransient } from "./transaction.ts";

// A joined path, not a `new URL` of a literal: bundlers take that for a module to resolve.
const MIGRATIONS = join(dirname(fileURLToPath(import.meta.url)), "../../prisma/migrations");

/** Guards a start insists on: what `prisma db push` would silently leave out. */
export const TRIGGERS = [
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

/** The first version whose sessions can be ended for being silent, on which leases rest; as `server_version_num`. */
const OLDEST = 140_000;

const wantedMigrations = (): string[] =>
  readdirSync(MIGRATIONS, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .toSorted();

const UNDEFINED_TABLE = "42P01";
/** A table, a schema or a column that is not there. */
const NOT_MIGRATED = /^(42P01|3F000|42703)$/;
const INSUFFICIENT_PRIVILEGE = "42501";

/** The message of an error; of several at once, as for a name with two addresses, all of them. */
function messageOf(error: unknown): string {
  if (error instanceof AggregateError) return error.errors.map(messageOf).join("; ");
  return error instanceof Error ? error.message : String(error);
}

/** What a role may not do, in a line for an operator. */
const missingRight = (error: unknown, role: string): string =>
  `the role ${role} may not do what Florin does: ${messageOf(error)}`;

/** What the system says where nothing answers at the other end. */
const AWAY =
  /^(ECONNREFUSED|ECONNRESET|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|EHOSTUNREACH|ENETUNREACH|EPIPE)$/;

function isAway(error: unknown): boolean {
  const code = codeOf(error) ?? "";
  return code.startsWith("E") ? AWAY.test(code) : isTransient(error) || isCrowded(error);
}

/** Why a database cannot be worked with, in a line for an operator; null: the error says something else. */
export function databaseTrouble(error: unknown, url: string): string | null {
  if (isAway(error)) return `DATABASE_URL: the database does not answer: ${messageOf(error)}`;
  if (NOT_MIGRATED.test(codeOf(error) ?? ""))
    return `the database is not migrated (${messageOf(error)}): run npm run migrate first`;
  if (codeOf(error) === INSUFFICIENT_PRIVILEGE)
    return missingRight(error, URL.parse(url)?.username || "of DATABASE_URL");
  return null;
}

type Applied = { migration_name: string; done: boolean };

/** The migrations a database knows of; none where there was never one. */
async function appliedMigrations({ query }: Database): Promise<Applied[]> {
  try {
    return await query<Applied>(
      `select migration_name, (finished_at is not null and rolled_back_at is null) as done from _prisma_migrations`,
    );
  } catch (error) {
    if (codeOf(error) !== UNDEFINED_TABLE) throw error;
    // Tables of a schema that a role may not use are not there for it.
    await query(`select 'public._prisma_migrations'::regclass`).catch((hidden) => {
      if (codeOf(hidden) !== UNDEFINED_TABLE) throw hidden;
    });
    return [];
  }
}

/** Every reason this database may not serve payments; empty when it may. Throws when it does not answer. */
export async function checkDatabase(db: Database): Promise<string[]> {
  try {
    return await findProblems(db);
  } catch (error) {
    if (codeOf(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    const [row] = await db.query<{ role: string }>(`select current_user as role`);
    return [missingRight(error, row?.role ?? "")];
  }
}

async function findProblems(db: Database): Promise<string[]> {
  const problems: string[] = [];
  const applied = await appliedMigrations(db);
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
  const settingOf = async (name: string) => {
    const rows = await db.query<{ setting: string }>(
      `select setting from pg_settings where name = $1`,
      [name],
    );
    return rows[0]?.setting ?? "unknown";
  };
  if (Number(await settingOf("server_version_num")) < OLDEST)
    problems.push(
      `PostgreSQL ${await settingOf("server_version")} is too old: 14 or newer is needed`,
    );
  for (const [name, allowed] of Object.entries(DURABILITY)) {
    const setting = await settingOf(name);
    if (!allowed.includes(setting)) problems.push(`${name} is ${setting}: payments could be lost`);
  }
  return problems;
}
