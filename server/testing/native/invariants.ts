import { expect } from "vitest";
import { openContext } from "#server/cli/invariants/open.ts";
import { inWords, runChecks } from "#server/cli/invariants/run.ts";
import { readSettings } from "#server/cli/invariants/settings.ts";
import { until } from "../api.ts";
import { unguarded } from "../unguarded.ts";
import type { TestWorld } from "../world.ts";

async function check(world: TestWorld) {
  const { context, close } = await openContext(readSettings(world.world.serverEnv));
  const lines = await runChecks(context, () => undefined).finally(close);
  return lines.filter(
    (line) => line.outcome === "violated" || (line.outcome === "not_checked" && line.failed),
  );
}

/** The invariants that are violated while one statement is in force; it is taken back afterwards. */
export async function violatedBy(world: TestWorld, change: string, undo: string) {
  await unguarded(world.db, change);
  try {
    return (await check(world)).map(({ id }) => id);
  } finally {
    await unguarded(world.db, undo);
  }
}

/** Every invariant, once nothing is under way any more. */
export async function expectInvariants(world: TestWorld): Promise<void> {
  await until(
    () =>
      world.db.query<{ n: string }>(
        `select count(*) as n from chain_intent where state in ('signed', 'broadcast', 'mined')
         union all select count(*) from settlement where state in ('pending', 'sent')`,
      ),
    (rows) => rows.every(({ n }) => n === "0"),
  );
  expect((await check(world)).map(inWords)).toEqual([]);
}
