import { spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { migrate } from "#server/sandbox/migrate.ts";
import { databaseUrl, startPostgres } from "#server/sandbox/postgres.ts";

/** Names the template's folder to the processes of one test run. */
const VARIABLE = "FLORIN_TEST_DATABASE_TEMPLATE";

/** Makes a cluster whose new databases are migrated already, for every world of a test run; returns what removes it. */
export async function makeDatabaseTemplate(): Promise<() => void> {
  const dir = mkdtempSync(join(tmpdir(), "florin-template-"));
  const postgres = await startPostgres({ dir });
  await migrate(databaseUrl(postgres.url, "template1"));
  await postgres.stop();
  // Each copy finds a port of its own.
  rmSync(join(dir, "port"), { force: true });
  process.env[VARIABLE] = dir;
  return () => rmSync(dir, { recursive: true, force: true });
}

/** Copies the run's template to `dir`; does nothing where no run made one, and the world begins with an empty cluster. */
export function copyDatabaseTemplate(dir: string): void {
  const template = process.env[VARIABLE];
  if (template === undefined || !existsSync(template)) return;
  const copied = spawnSync("cp", ["-a", template, dir], { encoding: "utf8" });
  if (copied.status !== 0)
    throw new Error(`the database template was not copied: ${copied.stderr}`);
}
