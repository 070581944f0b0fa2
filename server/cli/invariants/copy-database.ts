import pg from "pg";
import { databaseUrl } from "#server/sandbox/postgres.ts";

/** A copy of a database that nobody is connected to, without guards in the way of its owner. */
export async function copyDatabase(
  of: string,
  name: string,
): Promise<{ url: string; client: pg.Client; drop(): Promise<void> }> {
  const admin = new pg.Client({ connectionString: databaseUrl(of, "postgres") });
  await admin.connect();
  const from = pg.escapeIdentifier(new URL(of).pathname.slice(1));
  await admin.query(`create database ${pg.escapeIdentifier(name)} template ${from}`);
  const url = databaseUrl(of, name);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query("set session_replication_role = replica");
  return {
    url,
    client,
    async drop() {
      await client.end();
      await admin.query(`drop database ${pg.escapeIdentifier(name)} with (force)`);
      await admin.end();
    },
  };
}
