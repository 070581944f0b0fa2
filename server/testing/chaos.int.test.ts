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

// Guarantee: no process can die at a moment that loses a payment or doubles one.
test("kill -9 of server, worker and PostgreSQL during traffic", async () => {
  process.stdout.write(`seed ${SEED}\n`);
  const { ids, killed } = await runChaos(world, { payments: 20, kills: 6, seed: SEED });
  process.stdout.write(`${ids.length} payments; killed: ${killed.join(", ")}\n`);
  expect(killed).toHaveLength(6);
  await allDone(world, ids, 90_000);
  await expectChainAgrees(world, ids);
}, 240_000);
