import { afterAll, beforeAll, expect, test } from "vitest";
import { actors, until } from "./api.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;

beforeAll(async () => {
  world = await createTestWorld({ chains: 2, firstChainId: 70_001, environment: "live" });
  server = await world.startServer({
    env: { FLORIN_MODE: "live" },
    registry: (registry) => ({
      ...registry,
      chains: registry.chains.map((chain) => ({ ...chain, environment: "live" as const })),
    }),
  });
});
afterAll(() => world?.stop());

// Guarantee: configuration alone makes the same code live: other chains, a registry of two, fresh keys, live mode.
test("a live start on other chains completes a payment", async () => {
  const api = actors(world, () => server.baseUrl);
  const created = await api.create({ value: "2500" });
  expect(created.status).toBe(201);
  expect(world.demo.merchants[0]?.apiKey).toMatch(/^sk_live_/);
  const id = created.body.paymentId;
  await api.pay(id, world.buyer("everything").key, "USDT", "eip155:70002");
  const final = await until(
    () => api.status(id, 5_000),
    ({ body }) => body.isFinal,
  );
  expect(final.body.status).toBe("succeeded");
  await until(
    () => api.details(id),
    ({ body }) => body.settlement?.successful != null,
  );
});

// Guarantee: a short expiry that only the sandbox allows is refused in live mode.
test("live mode keeps its own limits", async () => {
  const api = actors(world, () => server.baseUrl);
  const soon = await api.create({ expiresAt: Math.floor(Date.now() / 1000) + 20 });
  expect([soon.status, soon.body.code]).toEqual([400, "params_validation"]);
});

// Guarantee: a crash point can never be armed on a live server, and every problem is told at once.
test("a live start refuses fail points and names every problem at once", async () => {
  const start = world.startServer({
    env: { FLORIN_MODE: "live", FAILPOINT: "x:exit@1", FLORIN_KEY_PEPPER: "short" },
  });
  await expect(start).rejects.toThrow(/FLORIN_KEY_PEPPER/);
  const both = world.startServer({
    env: {
      FLORIN_MODE: "live",
      FAILPOINT: "create.before_commit:exit@1",
      FLORIN_RELAYER_KEYS_70001: "nonsense",
    },
  });
  const message = await both.then(
    () => "",
    (error: Error) => error.message,
  );
  expect(message).toContain("FAILPOINT");
  expect(message).toContain("FLORIN_RELAYER_KEYS_70001");
  expect(message).toContain("a test chain cannot run in live mode");
});
