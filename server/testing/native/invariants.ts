import { expect } from "vitest";
import { openContext } from "#server/cli/invariants/open.ts";
import { inWords, runChecks } from "#server/cli/invariants/run.ts";
import { readSettings } from "#server/cli/invariants/settings.ts";
import { until } from "../api.ts";
import type { TestWorld } from "../world.ts";

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
  const settings = readSettings({
    DATABASE_URL: world.world.databaseUrl,
    FLORIN_REGISTRY_FILE: world.world.registryFile,
    ...Object.fromEntries(
      world.world.chains.map(({ anvil }) => [`FLORIN_RPC_${anvil.chainId}`, anvil.rpcUrl]),
    ),
  });
  const { context, close } = await openContext(settings);
  const lines = await runChecks(context, () => undefined).finally(close);
  const wrong = lines.filter(
    (line) => line.outcome === "violated" || ("failed" in line && line.failed),
  );
  expect(wrong.map(inWords)).toEqual([]);
}
