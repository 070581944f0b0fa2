import { bytesToHex } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { actors, until } from "./api.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { LOG_LEVEL: "trace" } });
});
afterAll(() => world?.stop());

// Guarantee: whoever reads the log can neither call the API, nor sign, nor send what a buyer signed.
test("no key, signature or signed transaction reaches the log, at any level", async () => {
  const api = actors(world, () => server.baseUrl);
  const created = await api.create();
  const id = created.body.paymentId;
  const buyer = world.buyer("usdc");
  await api.pay(id, buyer.key, "USDC");
  await until(
    () => api.details(id),
    ({ body }) => body.settlement?.successful != null,
  );
  await api.confirm(id, "opt_unknown", ["0x12"]);
  const stored = await world.db.query<{ signature: string }>(`select signature from attempt`);
  const raw = await world.db.query<{ raw: Buffer }>(`select raw from chain_tx`);
  const { memory } = world.world;
  const secrets = [
    ...world.demo.merchants.map(({ apiKey }) => apiKey),
    world.demo.gateway.apiKey,
    ...stored.map(({ signature }) => signature),
    ...raw.map((row) => bytesToHex(row.raw)),
    memory.intermediaryKey,
    ...memory.chains.flatMap(({ relayerKeys, spenderKey }) => [...relayerKeys, spenderKey]),
    memory.pepper,
    memory.tokenSecret,
    memory.dataSecret,
    new URL(world.world.databaseUrl).password,
  ].map((secret) => secret.replace(/^0x/, ""));
  expect(stored.length * raw.length).toBeGreaterThan(0);
  const log = server.output();
  expect(log).toContain(id);
  for (const secret of secrets) expect(log.includes(secret)).toBe(false);
});
