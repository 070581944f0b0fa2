import { prepare } from "#server/sandbox/prepare.ts";
import { makeDatabaseTemplate } from "./database-template.ts";

/** Once per run, before any integration test: the database client, the contracts and a migrated database exist. */
export async function setup(): Promise<() => void> {
  prepare({ build: false });
  return makeDatabaseTemplate();
}
