import { afterAll, beforeAll, expect, test } from "vitest";
import { actors, call } from "./api.ts";
import { allDone, expectChainAgrees } from "./chain-agrees.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const PAYMENTS = 200;
const AT_ONCE = 40;

let world: TestWorld;
let server: TestServer;
const api = () => actors(world, () => server.baseUrl);

beforeAll(async () => {
  world = await createTestWorld({ chains: 2 });
  server = await world.startServer({ env: { LOG_LEVEL: "warn" } });
});
afterAll(() => world?.stop());

/** Runs `work` for 0…n-1 with a bounded number at a time. */
async function crowd<T>(
  n: number,
  atOnce: number,
  work: (index: number) => Promise<T>,
): Promise<T[]> {
  const results: T[] = [];
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < n; index = next++) results[index] = await work(index);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
  return results;
}

// Guarantee: a rush of buyers loses nobody, charges nobody twice and pays every merchant to the unit.
test(`${PAYMENTS} payments at once: each succeeds once, settles once, and the chain agrees`, async () => {
  // Allowances first, as returning buyers have them: one approval per account at a time is the wallet's own limit.
  for (const chain of ["eip155:31337", "eip155:31338"])
    for (const name of ["usdt", "everything"] as const) {
      const big = await api().create({ value: "900000" });
      await approve(big.body.paymentId, name, chain);
      await api().create({ value: "1250" });
    }
  const ids = await crowd(PAYMENTS, AT_ONCE, async (index) => {
    const symbol = index % 2 === 0 ? "USDC" : "USDT";
    const flow = index % 4 < 2 ? "intermediary" : "direct";
    const chain = index % 8 < 4 ? "eip155:31337" : "eip155:31338";
    const buyer = index % 3 === 0 ? "everything" : symbol === "USDC" ? "usdc" : "usdt";
    const created = await api().create({ flow, value: String(1_000 + index) });
    expect(created.status).toBe(201);
    const id = created.body.paymentId as string;
    const confirmed = await api().pay(id, world.buyer(buyer).key, symbol, chain);
    expect([confirmed.status, confirmed.body.status], confirmed.text).toEqual([
      200,
      expect.stringMatching(/processing|succeeded/),
    ]);
    return id;
  });
  await allDone(world, ids, 120_000);
  await expectChainAgrees(world, ids);
});

async function approve(id: string, name: "usdt" | "everything", chain: string): Promise<void> {
  const buyer = world.buyer(name);
  const listed = await api().options(id, [`${chain}:${buyer.address}`]);
  const option = listed.body.options.find(
    (o: { amount: { display: { assetSymbol: string } } }) =>
      o.amount.display.assetSymbol === "USDT",
  );
  const [action] = option.actions;
  expect(action.data.method).toBe("eth_sendTransaction");
  await api().execute(action, buyer.key);
}

// Guarantee: however often and however parallel a wallet confirms, there is one attempt and one capture.
test("the same confirm six times at once, and two options of one payment at once", async () => {
  const buyer = world.buyer("everything");
  const created = await api().create({ value: "1100" });
  const id = created.body.paymentId;
  const listed = await api().options(id, [
    `eip155:31337:${buyer.address}`,
    `eip155:31338:${buyer.address}`,
  ]);
  const usdc = listed.body.options.filter((o: { actions: unknown[] }) => o.actions.length === 1);
  const sign = async (option: { actions: never[] }) =>
    api().execute(option.actions[0] as never, buyer.key);
  const [first, second] = usdc;
  const [a, b] = [await sign(first), await sign(second)];
  const answers = await Promise.all([
    ...Array.from({ length: 6 }, () => api().confirm(id, first.id, [a])),
    ...Array.from({ length: 6 }, () => api().confirm(id, second.id, [b])),
  ]);
  const taken = answers.filter(({ status }) => status === 200);
  expect(taken).toHaveLength(6);
  for (const refused of answers.filter(({ status }) => status !== 200))
    expect([refused.status, refused.body.code]).toEqual([400, "invalid_state"]);
  await allDone(world, [id], 30_000);
  expect(await world.db.query(`select 1 from attempt where payment_id = $1`, [id])).toHaveLength(1);
  expect(await world.db.query(`select 1 from capture where payment_id = $1`, [id])).toHaveLength(1);
});

// Guarantee: a shop that repeats a create under one key gets one payment, whichever call wins.
test("twenty creates under one key make one payment", async () => {
  const headers = { "Idempotency-Key": "order-77" };
  const answers = await Promise.all(Array.from({ length: 20 }, () => api().create({ headers })));
  expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([201]));
  expect(new Set(answers.map(({ body }) => body.paymentId)).size).toBe(1);
  const other = await call(server.baseUrl, "POST", "/v1/merchant/payment", {
    headers: { ...api().merchantHeaders("intermediary"), ...headers },
    body: { amount: { unit: "iso4217/USD", value: "2" }, referenceId: "other" },
  });
  expect([other.status, other.body.code]).toEqual([409, "idempotency_conflict"]);
});
