import { afterAll, beforeAll, expect, test } from "vitest";
import { allDone, expectChainAgrees } from "./chain-agrees.ts";
import { runChaos } from "./chaos.ts";
import { createTestWorld, type TestWorld } from "./world.ts";

const SEED = Number(process.env.FLORIN_TEST_SEED ?? Math.floor(Math.random() * 2 ** 31));

let world: TestWorld;
beforeAll(async () => {
  world = await createTestWorld();
});
afterAll(() => world?.stop());

// Guarantee: as the short run, over a hundred payments and fifteen kills.
test("a hundred payments through fifteen kills", async () => {
  process.stdout.write(`seed ${SEED}\n`);
  const { ids, killed } = await runChaos(world, { payments: 100, kills: 15, seed: SEED });
  process.stdout.write(`${ids.length} payments; killed: ${killed.join(", ")}\n`);
  expect(killed).toHaveLength(15);
  await allDone(world, ids, 180_000);
  await expectChainAgrees(world, ids);
});
