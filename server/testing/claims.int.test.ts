import { keccak256 } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { createApiClient } from "#server/trpc/client.ts";
import { type Answer, call } from "./api.ts";
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

// Guarantee: whatever is wrong with what a wallet hands in around the hash of money that is on its way, the payment waits for that money.
test.for([
  ["another output beside it", (hash: string) => [{ type: "walletRpc", data: [hash, "x"] }]],
  ["an object around it", (hash: string) => [{ type: "walletRpc", data: [{ hash }] }]],
  ["deeper still", (hash: string) => [{ type: "walletRpc", data: [{ tx: { id: [hash] } }] }]],
  [
    "a result too many",
    (hash: string) => [hash, hash].map((one) => ({ type: "walletRpc", data: [one] })),
  ],
] as const)("a known hash with %s", async ([, results]) => {
  const { api, rows } = shop();
  const confirm = (paymentId: string, optionId: string, hash: string) =>
    call(server.baseUrl, "POST", `/v1/gateway/payment/${paymentId}/confirm`, {
      headers: { "Api-Key": world.demo.gateway.apiKey },
      body: { optionId, results: results(hash) },
    });
  const [payer, id] = [await shop().buyer(), await shop().created()];
  const mine = await shop().option(id, payer);
  const owed = await shop().transfer(id, mine);
  await shop().node("evm_setIntervalMining", [0]);
  const hash = await shop().send(payer, owed);
  expect(code(await confirm(id, mine.id, hash))).toEqual([200, "requires_action"]);
  expect(code(await shop().cancel(id))).toEqual([400, "invalid_state"]);
  expect(await rows(`select state from push_tx where payment_id = $1`, [id])).toEqual([
    { state: "known" },
  ]);
  // A hash that no node knows is no reason to wait.
  const other = await shop().created();
  const offer = await shop().option(other, payer);
  await shop().transfer(other, offer);
  expect(code(await confirm(other, offer.id, madeUp(7)))).toEqual([200, "failed"]);
  expect((await api().status(other)).body.status).toBe("failed");
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
