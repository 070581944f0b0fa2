import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environment } from "#server/sandbox/migrate.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { explainCalls } from "#server/testing/explain-calls.ts";
import { createTestWorld, type TestWorld } from "#server/testing/world.ts";

let world: TestWorld;
let calls: ReturnType<typeof explainCalls>;

beforeAll(async () => {
  world = await createTestWorld();
  const server = await world.startServer();
  calls = explainCalls(world, () => server.baseUrl);
});
afterAll(() => world?.stop());

function explainCommand(id: string): Promise<{ code: number; stdout: string }> {
  const node = join(ROOT, "node_modules/.bin/node");
  const { FLORIN_REGISTRY_FILE = "" } = world.world.serverEnv;
  const env = { ...environment(), DATABASE_URL: world.world.databaseUrl, FLORIN_REGISTRY_FILE };
  return new Promise((resolve) => {
    const args = [join(ROOT, "server/cli/explain.ts"), id];
    execFile(node, args, { env, cwd: ROOT, timeout: 60_000 }, (error, stdout) =>
      resolve({ code: typeof error?.code === "number" ? error.code : 0, stdout }),
    );
  });
}

// Guarantee: an operator reads the same sentence, and with it the reason that only operators may know.
test("the command line says the same and more", async () => {
  const reason = "capture of pay_SOMEBODYELSE vanished";
  await world.db.query(`insert into settlement_hold (asset, reason) values ('*', $1)`, [reason]);
  try {
    const id = await calls.created();
    await calls.pay(id);
    const held = await calls.becomes(id, "succeeded.settlement_held");
    expect(held).toMatchObject({ actor: "operator" });
    expect(JSON.stringify(held)).not.toContain("SOMEBODYELSE");
    const { code, stdout } = await explainCommand(id);
    expect(code).toBe(0);
    expect(stdout).toContain(held.sentence.slice(0, -1));
    for (const part of [reason, "who   operator", "What happened:", "The shop created the payment"])
      expect(stdout).toContain(part);
  } finally {
    await world.db.query(`delete from settlement_hold`);
  }
  expect((await explainCommand("pay_nothing")).code).toBe(1);
});

// Guarantee: money that waits for its batch says when it goes.
test("a batched settlement names its time", async () => {
  const schedule = (to: string) =>
    world.db.query(`update merchant set settlement_schedule = $1`, [to]);
  await schedule("batched");
  try {
    const id = await calls.created();
    await calls.pay(id);
    const waiting = await calls.becomes(id, "succeeded.settlement_batched");
    expect(waiting.sentence).toMatch(/12\.450000 USDC on .+ from \d{4}-\d\d-\d\d .+ UTC on\.$/);
  } finally {
    await schedule("instant");
  }
});
