import { afterAll, beforeAll, expect, test } from "vitest";
import { actors, until } from "./api.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const api = () => actors(world, () => server.baseUrl);

beforeAll(async () => {
  world = await createTestWorld({ chains: 2 });
  server = await world.startServer();
});
afterAll(() => world?.stop());

// Guarantee: every token, flow and chain takes a payment from creation to the merchant's own account.
test.for([
  ["USDC", "intermediary", "eip155:31337"],
  ["USDC", "intermediary", "eip155:31338"],
  ["USDT", "intermediary", "eip155:31337"],
  ["USDT", "intermediary", "eip155:31338"],
  ["USDC", "direct", "eip155:31337"],
  ["USDC", "direct", "eip155:31338"],
  ["USDT", "direct", "eip155:31337"],
  ["USDT", "direct", "eip155:31338"],
] as const)("%s in the %s flow on %s", async ([symbol, flow, chain]) => {
  const created = await api().create({ flow });
  expect(created.status).toBe(201);
  const id = created.body.paymentId;
  const confirmed = await api().pay(id, world.buyer("everything").key, symbol, chain, 25_000);
  expect(confirmed.status).toBe(200);
  const status = await until(
    () => api().status(id, 5_000),
    ({ body }) => body.isFinal,
  );
  expect(status.body).toMatchObject({ status: "succeeded", isFinal: true, pollInMs: null });
  expect(status.body.info.txId).toMatch(/^0x[0-9a-f]{64}$/);
  if (flow === "direct") {
    expect((await api().details(id, flow)).body.settlement).toBeNull();
    return;
  }
  const settled = await until(
    () => api().details(id, flow),
    ({ body }) => body.settlement?.successful != null,
  );
  // 12.50 in, 0.4 % fee.
  expect(settled.body.settlement.successful.amount.value).toBe("12450000");
});
