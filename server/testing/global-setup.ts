import { prepare } from "#server/sandbox/prepare.ts";

/** Once per run, before any integration test: the database client and the contracts exist. */
export function setup(): void {
  prepare({ build: false });
}
