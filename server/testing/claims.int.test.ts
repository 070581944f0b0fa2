import { keccak256 } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiClient } from "#server/trpc/client.ts";
import type { Answer } from "./api.ts";
import { nativeShop } from "./native/shop.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const shop = () => nativeShop(world, () => server.baseUrl);

beforeAll(async () => {
  world = await createTestWorld({ native: true });
  // No worker: what is known is known by the confirm itself.
  server = await world.startServer({ env: { FLORIN_WORKER: "off" } });
});
afterAll(() => world?.stop());

const code = ({ status, body }: Answer) => [status, body.code ?? body.status];
const madeUp = (n: number) => keccak256(new TextEncoder().encode(`made up ${n}`));

// Guarantee: a transfer that a node knows holds its payment from the moment its claim is answered, however many made-up claims came before it and whoever claimed it for another option.
test("a claim holds at once", async () => {
  const { api, rows } = shop();
  const id = await shop().created();
  const [payer, other] = [await shop().buyer(), await shop().buyer()];
  const [mine, strangers] = [await shop().option(id, payer), await shop().option(id, other)];
  const [owed] = [await shop().transfer(id, mine), await shop().transfer(id, strangers)];
  for (let n = 0; n < 12; n++)
    expect(code(await api().confirm(id, mine.id, [madeUp(n)]))).toEqual([200, "requires_action"]);
  await shop().node("evm_setIntervalMining", [0]);
  const hash = await shop().send(payer, owed);
  expect(code(await api().confirm(id, strangers.id, [hash]))[0]).toBe(200);
  expect(code(await api().confirm(id, mine.id, [hash]))).toEqual([200, "requires_action"]);
  expect(code(await shop().cancel(id))).toEqual([400, "invalid_state"]);
  expect(code(await api().confirm(id, strangers.id, [madeUp(1)]))).toEqual([400, "invalid_state"]);
  expect(code(await api().confirm(id, mine.id, []))).toEqual([200, "requires_action"]);
  const kept = await rows(
    `select state from push_tx where payment_id = $1 and option_id = $2 and state = 'known'`,
    [id, mine.id],
  );
  expect(kept).toHaveLength(1);
  expect((await api().options(id, [`eip155:31337:${payer.address}`])).body.options).toEqual([]);
});

// Guarantee: of who sent the money while the payment closed the buyer's page knows as soon as a node does; a made-up claim changes nothing there.
test("a claim of a closed payment", async () => {
  const { api, rows } = shop();
  const id = await shop().created();
  const payer = await shop().buyer();
  const mine = await shop().option(id, payer);
  const owed = await shop().transfer(id, mine);
  await shop().node("evm_setIntervalMining", [0]);
  await shop().cancel(id);
  const kept = () => rows(`select state from push_tx where payment_id = $1`, [id]);
  const stage = async () =>
    (await createApiClient(server.baseUrl).checkout.view.query({ id })).stage;
  expect(code(await api().confirm(id, mine.id, [madeUp(1)]))).toEqual([200, "cancelled"]);
  expect([await kept(), await stage()]).toEqual([[], "cancelled"]);
  const hash = await shop().send(payer, owed);
  expect(code(await api().confirm(id, mine.id, [hash]))).toEqual([200, "cancelled"]);
  expect([await kept(), await stage()]).toEqual([[{ state: "known" }], "expired_paid"]);
});
