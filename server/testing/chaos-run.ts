import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect } from "vitest";
import { environment } from "#server/sandbox/migrate.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { seedOfRun, shopUnderKills } from "./chaos.ts";
import { startParts } from "./chaos-parts.ts";
import { inviteShoppers, openShops, planPurchases } from "./crowd.ts";
import { allSettled, expectPaidOnce, holdingsOf } from "./crowd-checks.ts";
import { createTestWorld, type TestWorld } from "./world.ts";

/** Once nothing is killed any more, everything that was begun ends within this. */
const END_WITHIN_MS = 90_000;
const CHECK_WITHIN_MS = 300_000;

/** Runs the operators' own check of every invariant over a world; its words on anything but success. */
function expectInvariants(world: TestWorld): void {
  const node = join(ROOT, "node_modules", ".bin", "node");
  const done = spawnSync(node, [join(ROOT, "server", "cli", "invariants.ts")], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...environment(), ...world.world.serverEnv },
    timeout: CHECK_WITHIN_MS,
  });
  expect(done.status, `${done.stdout}${done.stderr}`).toBe(0);
}

/** A whole run in a world of its own: traffic with kills, then the comparison of everything that was bought with chains and books. */
export async function runChaos(options: { purchases: number; kills: number; atOnce: number }) {
  const { atOnce, kills } = options;
  const seed = seedOfRun();
  process.stdout.write(`chaos: FLORIN_TEST_SEED=${seed}\n`);
  const world = await createTestWorld({ chains: 2 });
  try {
    const shops = await openShops(world);
    const shoppers = await inviteShoppers(world, 5, { allowed: true });
    const before = await holdingsOf(world, shoppers);
    const count = options.purchases;
    const purchases = planPurchases(world, shops, shoppers, { count, name: "chaos" });
    const parts = await startParts(world, { FLORIN_SETTLEMENT_BATCH_S: "3" });
    try {
      const seen = await shopUnderKills(world, parts, { purchases, kills, seed, atOnce });
      await allSettled(world, purchases, END_WITHIN_MS);
      await expectPaidOnce(world, { purchases, shops, before });
      expectInvariants(world);
      const killed = seen.kills.map(
        ({ victim, steps, afterMs }) => `${victim} ${steps}+${afterMs}ms`,
      );
      const troubles = [...seen.troubles].map(([what, times]) => `${times} x ${what}`);
      process.stdout.write(
        `chaos: killed ${killed.join(", ")}; clients saw ${troubles.join(", ")}\n`,
      );
      return { ...seen, surprises: parts.surprises() };
    } catch (error) {
      throw new Error(["the run failed", ...parts.surprises()].join("\n"), { cause: error });
    } finally {
      await parts.stop();
    }
  } finally {
    await world.stop();
  }
}
