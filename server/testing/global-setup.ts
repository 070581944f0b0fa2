import { spawnSync } from "node:child_process";
import { environment } from "#server/sandbox/migrate.ts";
import { prepare, ROOT, serverEntry } from "#server/sandbox/prepare.ts";
import { makeDatabaseTemplate } from "./database-template.ts";

/** Loads what servers and workers load, so that the compiled code is kept; without settings they end at once. */
function warmUp(): void {
  for (const entry of ["main", "worker"] as const)
    spawnSync(process.execPath, [serverEntry(entry)], { cwd: ROOT, env: environment() });
}

/** Once per run, before any integration test: the database client, the contracts and a migrated database exist. */
export async function setup(): Promise<() => void> {
  await prepare({ build: false });
  warmUp();
  return makeDatabaseTemplate();
}
