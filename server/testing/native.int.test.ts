import { afterAll, beforeAll, expect, test } from "vitest";
import { paymentTag } from "#server/domain/option/authorization.ts";
import { minedOn } from "#server/sandbox/node-rpc.ts";
import { until } from "./api.ts";
import { expectInvariants, violatedBy } from "./native/invariants.ts";
import { NATIVE, nativeShop } from "./native/shop.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const shop = () => nativeShop(world, () => server.baseUrl);
const merchantOf = (flow: "intermediary" | "direct") => {
  const found = world.demo.merchants.find((merchant) => merchant.flow === flow);
  if (found === undefined) throw new Error(`no ${flow} merchant`);
  return found;
};

beforeAll(async () => {
  world = await createTestWorld({ native: true });
  server = await world.startServer({ env: { FLORIN_SETTLEMENT_BATCH_S: "4" } });
});
afterAll(() => world?.stop());

/** Until nothing of what came in so far is still to be paid out. */
const nothingIsOwed = () =>
  until(
    () =>
      shop().rows(
        `select 1 from settlement where state in ('pending', 'sent')
         union all select 1 from capture where status <> 'finalized'`,
        [],
      ),
    (open) => open.length === 0,
  );

const settled = (id: string) =>
  until(
    () => shop().api().details(id),
    ({ body }) => body.settlement?.successful != null,
  );

// Guarantee: a wallet that follows the protocol pays with native coin, and the merchant gets it less the fee.
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
    to: expect.stringMatching(/^0x[0-9a-f]{40}$/),
    data: paymentTag(id),
    value: `0x${(5_000_000_000_000_000n).toString(16)}`,
  });
  const { destination } = merchantOf("intermediary");
  const before = await shop().balance(destination);
  const hash = await shop().send(buyer, transfer);
  const confirmed = await shop().api().confirm(id, option.id, [hash]);
  expect(confirmed.status).toBe(200);
  const done = await shop().final(id);
  expect(done.body).toMatchObject({
    status: "succeeded",
    info: { txId: hash, optionAmount: { unit: `caip19/${NATIVE}`, value: option.amount.value } },
  });
  await settled(id);
  expect((await shop().balance(destination)) - before).toBe(4_980_000_000_000_000n);
});

// Guarantee: fetch hands out one and the same transfer, with the data of the option, without any, and again.
test("fetch is repeatable", async () => {
  const buyer = await shop().buyer();
  const id = await shop().created();
  const option = await shop().option(id, buyer);
  const first = await shop().transfer(id, option);
  expect(await shop().transfer(id, option)).toEqual(first);
  const whole = await shop().fetch(id, option.id);
  expect(whole.body.actions).toEqual([
    {
      type: "walletRpc",
      data: { chain_id: "eip155:31337", method: "eth_sendTransaction", params: [first] },
    },
  ]);
  expect((await shop().option(id, buyer)).id).toBe(option.id);
});

// Guarantee: the buyer's money counts although the wallet never comes back; the tag tells two equal payments apart.
test("without any confirm, two equal payments of one account", async () => {
  const buyer = await shop().buyer();
  const ids = [await shop().created(), await shop().created()];
  const sent: string[] = [];
  for (const id of ids)
    sent.push(await shop().send(buyer, await shop().transfer(id, await shop().option(id, buyer))));
  for (const [index, id] of ids.entries()) {
    const done = await shop().final(id);
    expect(done.body).toMatchObject({ status: "succeeded", info: { txId: sent[index] } });
  }
});

// Guarantee: a transaction that the wallet sped up pays although its first hash was the one confirmed.
test("a replaced transaction", async () => {
  const buyer = await shop().buyer();
  const id = await shop().created();
  const option = await shop().option(id, buyer);
  const transfer = await shop().transfer(id, option);
  await shop().node("evm_setIntervalMining", [0]);
  let faster: string;
  try {
    const fees = { maxFeePerGas: 20_000_000_000n, maxPriorityFeePerGas: 1_000_000_000n };
    const slow = await shop().send(buyer, transfer, { nonce: 0, ...fees });
    expect((await shop().api().confirm(id, option.id, [slow])).body.status).toBe("requires_action");
    faster = await shop().send(buyer, transfer, {
      nonce: 0,
      maxFeePerGas: 60_000_000_000n,
      maxPriorityFeePerGas: 30_000_000_000n,
    });
    expect(faster).not.toBe(slow);
  } finally {
    await shop().node("evm_setIntervalMining", [1]);
  }
  const done = await shop().final(id);
  expect(done.body).toMatchObject({ status: "succeeded", info: { txId: faster } });
});

// Guarantee: less than was due pays nothing and is kept for its owner.
test("short", async () => {
  const buyer = await shop().buyer();
  const id = await shop().created();
  const transfer = await shop().transfer(id, await shop().option(id, buyer));
  const hash = await shop().send(buyer, transfer, { value: BigInt(transfer.value) - 1n });
  expect(await shop().exceptionOf(hash)).toEqual([
    { kind: "short", payment_id: id, amount_minor: String(BigInt(transfer.value) - 1n) },
  ]);
  expect((await shop().api().status(id)).body.status).toBe("requires_action");
});

// Guarantee: more than was due pays; the surplus is told, and nothing of it is lost in the books.
test("over", async () => {
  const buyer = await shop().buyer();
  const id = await shop().created();
  const transfer = await shop().transfer(id, await shop().option(id, buyer));
  const hash = await shop().send(buyer, transfer, { value: BigInt(transfer.value) + 1_000n });
  expect((await shop().final(id)).body).toMatchObject({
    status: "succeeded",
    info: { txId: hash },
  });
  expect(await shop().exceptionOf(hash)).toEqual([
    { kind: "over", payment_id: id, amount_minor: "1000" },
  ]);
  const body = (await settled(id)).body;
  expect(body.settlement.successful.amount.value).toBe(
    String(BigInt(transfer.value) + 1_000n - (BigInt(transfer.value) + 1_000n) / 250n),
  );
});

// Guarantee: a tag pays only when it comes from the account that it was given to.
test("somebody else's tag, and no tag at all", async () => {
  const [buyer, other] = [await shop().buyer(), await shop().buyer()];
  const id = await shop().created();
  const transfer = await shop().transfer(id, await shop().option(id, buyer));
  const copied = await shop().send(other, transfer);
  expect(await shop().exceptionOf(copied)).toMatchObject([
    { kind: "unattributed", payment_id: id },
  ]);
  const bare = await shop().send(buyer, transfer, { data: "0x" });
  expect(await shop().exceptionOf(bare)).toMatchObject([{ kind: "unattributed", payment_id: id }]);
  const longer = await shop().send(buyer, transfer, { data: `${transfer.data}00` });
  expect(await shop().exceptionOf(longer)).toMatchObject([{ kind: "unattributed" }]);
  expect((await shop().api().status(id)).body.status).toBe("requires_action");
});

// Guarantee: paying twice pays once, and the second time is kept for its owner.
test("twice", async () => {
  const buyer = await shop().buyer();
  const id = await shop().created();
  const transfer = await shop().transfer(id, await shop().option(id, buyer));
  const first = await shop().send(buyer, transfer);
  expect((await shop().final(id)).body.info.txId).toBe(first);
  const second = await shop().send(buyer, transfer);
  expect(await shop().exceptionOf(second)).toMatchObject([{ kind: "double", payment_id: id }]);
});

// Guarantee: in the direct flow the buyer's coin goes to the merchant itself.
test("direct", async () => {
  const buyer = await shop().buyer();
  const id = await shop().created({ flow: "direct" });
  const transfer = await shop().transfer(id, await shop().option(id, buyer));
  const { destination } = merchantOf("direct");
  expect(transfer.to).toBe(destination);
  await shop().send(buyer, transfer);
  expect((await shop().final(id)).body.status).toBe("succeeded");
  expect(await shop().balance(destination)).toBe(BigInt(transfer.value));
});

// Guarantee: native coin is not offered where its transfer could not be seen, nor to who does not have it.
test("accounts and recipients with code, and empty ones", async () => {
  const buyer = await shop().buyer();
  const code = (address: string, bytes: string) => shop().node("anvil_setCode", [address, bytes]);
  const offered = async (flow: "intermediary" | "direct") =>
    shop().isOffered(await shop().created({ flow }), buyer);
  // A chain that was too busy to answer offers nothing at that moment.
  const comesToBeOffered = (flow: "intermediary" | "direct") =>
    until(
      () => offered(flow),
      (is) => is,
    );
  await comesToBeOffered("intermediary");
  await comesToBeOffered("direct");
  await code(merchantOf("direct").destination, "0x00");
  await comesToBeOffered("intermediary");
  expect(await offered("direct")).toBe(false);
  await code(merchantOf("direct").destination, "0x");
  await code(buyer.address, "0x00");
  expect([await offered("intermediary"), await offered("direct")]).toEqual([false, false]);
  await code(buyer.address, "0x");
  // Exactly the price is not enough: sending it costs gas.
  await shop().node("anvil_setBalance", [
    buyer.address,
    `0x${(5_000_000_000_000_000n).toString(16)}`,
  ]);
  expect([await offered("intermediary"), await offered("direct")]).toEqual([false, false]);
});

// Guarantee: many payments in native coin are settled by one transfer where the merchant wants it so.
test("batched settlements", async () => {
  const { id: merchant, destination } = merchantOf("intermediary");
  const schedule = (name: string) =>
    shop().rows(`update merchant set settlement_schedule = $2 where id = $1`, [merchant, name]);
  await nothingIsOwed();
  const before = await shop().balance(destination);
  await schedule("batched");
  await shop().rows(`insert into settlement_hold (asset, reason) values ('*', 'a test')`, []);
  try {
    // Every process hears of a merchant's terms in its own time.
    await until(
      async () =>
        shop().rows(`select settlement_schedule as name from payment where id = $1`, [
          await shop().created(),
        ]),
      ([row]) => row?.name === "batched",
    );
    const ids: string[] = [];
    for (const value of ["1000", "2000"]) {
      const buyer = await shop().buyer();
      const id = await shop().created({ value });
      await shop().send(buyer, await shop().transfer(id, await shop().option(id, buyer)));
      ids.push(id);
    }
    await until(
      () =>
        shop().rows(`select 1 from settlement where payment_id = any($1) and state = 'pending'`, [
          ids,
        ]),
      (pending) => pending.length === ids.length,
    );
    await shop().rows(`delete from settlement_hold`, []);
    const done = await Promise.all(ids.map(settled));
    expect(new Set(done.map(({ body }) => body.settlement.successful.txId)).size).toBe(1);
    // 30 USD at 2,500, less 0.4 %.
    expect((await shop().balance(destination)) - before).toBe(11_952_000_000_000_000n);
  } finally {
    await shop().rows(`delete from settlement_hold`, []);
    await schedule("instant");
  }
});

// Guarantee: a transfer sent while nothing of the service runs is found when it runs again.
test("the service is down while the buyer pays", async () => {
  const buyer = await shop().buyer();
  const id = await shop().created();
  const transfer = await shop().transfer(id, await shop().option(id, buyer));
  await server.kill();
  const hash = await shop().send(buyer, transfer);
  await minedOn(shop().url(), hash);
  server = await world.startServer();
  expect((await shop().final(id)).body).toMatchObject({
    status: "succeeded",
    info: { txId: hash },
  });
});

// Last. Guarantee: after all of that, books and chain agree in every invariant.
test("invariants", () => expectInvariants(world));

// Guarantee: the checker looks at native coin as closely as at tokens.
test.for([
  [
    "a capture of more than came",
    "I10",
    "update capture set received = received + 1",
    "received - 1",
  ],
  ["an arrival in no book", "I11", "update exception_record set log_index = 7", "-1"],
  [
    "an option that asks for more",
    "I17",
    "update payment_option set amount_minor = amount_minor + 1",
    "amount_minor - 1",
  ],
] as const)("%s is found", async ([, id, change, back]) => {
  const [, table, column] = /^update (\w+) set (\w+)/.exec(change) ?? [];
  const where: Record<string, string> = {
    capture: "id = (select min(id) from capture)",
    exception_record: "kind = 'short'",
    payment_option: "id = (select min(id) from payment_option where mechanism = 'native')",
  };
  const undo = `update ${table} set ${column} = ${back} where ${where[table ?? ""]}`;
  const violated = await violatedBy(world, `${change} where ${where[table ?? ""]}`, undo);
  expect(violated).toContain(id);
});
