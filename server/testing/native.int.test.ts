import { afterAll, beforeAll, expect, test } from "vitest";
import { paymentTag } from "#server/domain/option/authorization.ts";
import { until } from "./api.ts";
import { NATIVE, nativeShop } from "./native/shop.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const shop = () => nativeShop(world, () => server.baseUrl);

beforeAll(async () => {
  world = await createTestWorld({ native: true });
  server = await world.startServer({ env: { FLORIN_SETTLEMENT_BATCH_S: "4" } });
});
afterAll(() => world?.stop());

// Guarantee: a wallet that follows the protocol pays with native coin, and the merchant gets it.
test("native coin, confirmed", async () => {
  const buyer = await shop().buyer();
  const id = await shop().created();
  const option = await shop().option(id, buyer);
  expect(option.actions).toEqual([
    { type: "build", data: { data: expect.stringMatching(/^[-_A-Za-z0-9]{43}$/) } },
  ]);
  // 12.50 USD at 2,500.
  expect(option.amount.value).toBe("5000000000000000");
  const transfer = await shop().transfer(id, option);
  expect(transfer).toEqual({
    from: buyer.address.toLowerCase(),
    to: expect.any(String),
    data: paymentTag(id),
    value: `0x${(5_000_000_000_000_000n).toString(16)}`,
  });
  const hash = await shop().send(buyer, transfer);
  const confirmed = await shop().api().confirm(id, option.id, [hash]);
  expect(confirmed.status).toBe(200);
  const done = await shop().final(id);
  expect(done.body).toMatchObject({
    status: "succeeded",
    info: { txId: hash, optionAmount: { unit: `caip19/${NATIVE}`, value: option.amount.value } },
  });
  const settled = await until(
    () => shop().api().details(id),
    ({ body }) => body.settlement?.successful != null,
  );
  const { destination } = world.demo.merchants.find(({ flow }) => flow === "intermediary") ?? {};
  // Less the fee of 0.4 %.
  expect(await shop().balance(destination ?? "")).toBe(4_980_000_000_000_000n);
  expect(settled.body.settlement.successful.txId).toMatch(/^0x/);
});
