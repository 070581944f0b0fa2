import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { actors, call, until } from "./api.ts";
import { newPartner, partnerCalls, refusal } from "./partner-calls.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const CHAIN = "eip155:31337";

let world: TestWorld;
let server: TestServer;
/** Ids of two shops of a partner without other payments, and what was made there, oldest first. */
let shops: [string, string];
let partner: { id: string; key: string };
let made: { id: string; shop: string; unit: string; value: bigint; reference: string }[];

const calls = () => partnerCalls(world, () => server);
const ask = (path: string, merchantId?: string, key = partner.key) =>
  call(server.baseUrl, "GET", path, {
    headers: { "Api-Key": key, ...(merchantId === undefined ? {} : { "Merchant-Id": merchantId }) },
  });
type Row = { paymentId: string; merchant: { id: string }; status: string; createdAt: string };
const ids = (answer: { body: { data: Row[] } }) => answer.body.data.map((row) => row.paymentId);
const newest = (rows: { id: string }[]) => rows.map(({ id }) => id).toReversed();

async function create(shop: string, currency: string, value: string, reference: string) {
  const unit = `iso4217/${currency}`;
  const answer = await call(server.baseUrl, "POST", "/v1/payments", {
    headers: { "Api-Key": partner.key, "Merchant-Id": shop },
    body: { amount: { unit, value }, referenceId: reference },
  });
  if (answer.status !== 201) throw new Error(answer.text);
  return { id: answer.body.paymentId as string, shop, unit, value: BigInt(value), reference };
}

/** All ids a walk by cursor meets; `between` runs after every page. */
async function walk(query: string, between: () => Promise<unknown> = async () => undefined) {
  const met: string[] = [];
  for (let cursor = ""; ; ) {
    const page = await ask(`/v1/payments?${query}${cursor === "" ? "" : `&cursor=${cursor}`}`);
    expect(page.status).toBe(200);
    met.push(...ids(page));
    expect(page.body.hasMore).toBe(page.body.nextCursor !== null);
    if (page.body.nextCursor === null) return met;
    cursor = page.body.nextCursor;
    await between();
  }
}

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { FLORIN_SETTLEMENT_BATCH_S: "1" } });
  partner = await newPartner(world);
  const { key } = partner;
  const open = async (body: object) => {
    const id = await calls().merchant({ key, body });
    const destination = `${CHAIN}:${world.demo.merchants[0]?.destination}`;
    const settlements = ["usdc" as const, "usdt" as const].map((symbol) => ({
      asset: world.asset(symbol),
      destination,
    }));
    const path = `/v1/merchants/${id}/settlements/crypto`;
    const added = await calls().ask("POST", path, { key, body: { settlements } });
    if (added.status !== 201) throw new Error(added.text);
    return id;
  };
  shops = [
    await open({ merchantName: "First", iconUrl: "https://first.test/i.png" }),
    await open({ merchantName: "Second", flow: "direct" }),
  ];
  await world.db.query(`update merchant set fee_bps = 40, fee_fixed_cents = 14 where id = $1`, [
    shops[0],
  ]);
  const api = actors(world, () => server.baseUrl);
  made = [];
  const [first, second] = shops;
  for (const [shop, currency, value, reference] of [
    [first, "USD", "1250", "order-1/a"],
    [first, "USD", "333", "order-2/b"],
    [first, "EUR", "999", "100%_sure"],
    [second, "USD", "101", "order-3"],
    [second, "JPY", "1500", "order-4"],
    [first, "USD", "777", "unpaid"],
  ] as const)
    made.push(await create(shop, currency, value, reference));
  for (const [at, buyer, symbol] of [
    [0, "everything", "USDC"],
    [1, "everything", "USDT"],
    [2, "usdc", "USDC"],
    [3, "everything", "USDC"],
    [4, "everything", "USDC"],
  ] as const)
    await api.pay(made[at]?.id ?? "", world.buyer(buyer).key, symbol);
  await until(
    () => ask("/v1/payments?status=succeeded"),
    ({ body }) =>
      body.data.length === 5 &&
      body.data.every(
        (row: { settlement?: { settled: boolean } }) => row.settlement?.settled !== false,
      ),
    90_000,
  );
}, 180_000);
afterAll(() => world?.stop());

describe("a list of payments", () => {
  // Guarantee: a row says what was paid, by whom, in which transaction, at which fee, and what reached the merchant.
  test("shows each with everything known", async () => {
    const { data } = (await ask("/v1/payments?referenceId=order-1")).body;
    const [row] = data;
    const token = (value: string) => ({
      unit: `caip19/${world.asset("usdc")}`,
      value,
      display: expect.objectContaining({ assetSymbol: "USDC", decimals: 6 }),
    });
    const hash = expect.stringMatching(/^0x[0-9a-f]{64}$/);
    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    expect(data).toEqual([
      {
        paymentId: made[0]?.id,
        merchant: { id: shops[0], name: "First", iconUrl: "https://first.test/i.png" },
        merchantId: shops[0],
        referenceId: "order-1/a",
        status: "succeeded",
        isTerminal: true,
        fiatAmount: {
          unit: "iso4217/USD",
          value: "1250",
          display: { assetName: "US Dollar", assetSymbol: "USD", decimals: 2 },
        },
        tokenAmount: token("12500000"),
        buyer: { accountCaip10: `${CHAIN}:${world.buyer("everything").address.toLowerCase()}` },
        transaction: { networkId: "31337", hash },
        // 0.4 % of 12.50 and 0.14.
        fees: { total: token("190000"), fixed: token("140000"), percentage: "0.4" },
        settlement: { settled: true, amount: token("12310000"), txHash: hash },
        createdAt: time,
        lastUpdatedAt: time,
        settledAt: time,
      },
    ]);
    expect(JSON.stringify(row)).not.toContain("null");
    expect(row.lastUpdatedAt > row.createdAt).toBe(true);
    const [direct] = (await ask("/v1/payments?referenceId=order-3")).body.data;
    expect(direct).toMatchObject({ status: "succeeded", transaction: { hash } });
    expect(direct).not.toHaveProperty("settlement");
    expect(direct).not.toHaveProperty("fees");
    const [open] = (await ask("/v1/payments?referenceId=unpaid")).body.data;
    expect(open).toMatchObject({ status: "requires_action", isTerminal: false });
    for (const member of ["tokenAmount", "buyer", "transaction", "fees", "settlement"])
      expect(open).not.toHaveProperty(member);
  });

  // Guarantee: sums are exact, over everything the filters name and not over the page.
  test("comes with exact totals", async () => {
    const { stats, data } = (await ask("/v1/payments?limit=1")).body;
    expect(data).toHaveLength(1);
    expect(stats).toEqual({
      totalRevenue: [
        { amount: 9.99, currency: "EUR", value: "999" },
        { amount: 1500, currency: "JPY", value: "1500" },
        { amount: 16.84, currency: "USD", value: "1684" },
      ],
      totalTransactions: 6,
      totalCustomers: 2,
    });
    const none = await ask("/v1/payments?status=failed");
    expect(none.body).toEqual({
      data: [],
      nextCursor: null,
      hasMore: false,
      stats: { totalRevenue: [], totalTransactions: 0, totalCustomers: 0 },
    });
    const shop = (await ask("/v1/merchants/payments", shops[1])).body.stats;
    expect(shop.totalRevenue.map((one: { value: string }) => one.value)).toEqual(["1500", "101"]);
  });

  // Guarantee: every filter names exactly its payments.
  test("is filtered", async () => {
    const [first, second] = shops;
    const at = async (n: number, by = 0) => {
      const [row] = await world.db.query<{ at: string }>(
        `select to_char((created_at + make_interval(secs => $2)) at time zone 'Asia/Kolkata',
           'YYYY-MM-DD"T"HH24:MI:SS.US"+05:30"') as at from payment where id = $1`,
        [made[n]?.id, by],
      );
      return row?.at ?? "";
    };
    const cases: [string, number[]][] = [
      ["", [0, 1, 2, 3, 4, 5]],
      [`merchantId=${second}`, [3, 4]],
      [`merchantId=${first}&merchantId=${second}`, [0, 1, 2, 3, 4, 5]],
      [`merchantId=${world.demo.merchants[0]?.id}`, []],
      ["status=requires_action", [5]],
      ["status=requires_action&status=succeeded", [0, 1, 2, 3, 4, 5]],
      ["token_symbol=USDT", [1]],
      ["token_symbol=usdc&token_symbol=USDT", [0, 1, 2, 3, 4]],
      ["token_symbol=DAI", []],
      [`network=${CHAIN}`, [0, 1, 2, 3, 4]],
      [`network=eip155:1,${CHAIN}`, [0, 1, 2, 3, 4]],
      ["network=eip155:1", []],
      ["referenceId=order-", [0, 1, 3, 4]],
      ["referenceId=%25_", [2]],
      ["referenceId=ORDER", []],
      [`startTs=${encodeURIComponent(await at(2))}`, [2, 3, 4, 5]],
      [`startTs=${await at(2)}&endTs=${await at(4)}`, [2, 3]],
      [`endTs=${encodeURIComponent(await at(2, 0.000001))}`, [0, 1, 2]],
      ["unknown=1&unknown=2", [0, 1, 2, 3, 4, 5]],
    ];
    for (const [query, expected] of cases)
      expect([query, ids(await ask(`/v1/payments?${query}`))]).toEqual([
        query,
        newest(made.filter((_, n) => expected.includes(n))),
      ]);
  });

  // Guarantee: a list can be sorted by time and by amount, both ways, whatever the currency's digits.
  test("is sorted", async () => {
    const major = ({ unit, value }: (typeof made)[number]) =>
      unit === "iso4217/JPY" ? Number(value) : Number(value) / 100;
    const byAmount = made.toSorted((a, b) => major(a) - major(b)).map(({ id }) => id);
    for (const limit of [1, 4, 200]) {
      expect(await walk(`limit=${limit}&sortBy=amount&sortDir=asc`)).toEqual(byAmount);
      expect(await walk(`limit=${limit}&sortBy=amount`)).toEqual(byAmount.toReversed());
      expect(await walk(`limit=${limit}&sortDir=asc`)).toEqual(made.map(({ id }) => id));
    }
  });

  // Guarantee: one merchant's list holds its own payments alone, for its own key and its partner's.
  test("of one merchant is its own", async () => {
    const [first, second] = shops;
    const own = made.filter(({ shop }) => shop === second);
    expect(ids(await ask("/v1/merchants/payments", second))).toEqual(newest(own));
    expect(ids(await ask(`/v1/merchants/payments?merchantId=${first}`, second))).toEqual(
      newest(own),
    );
    const demo = world.demo.merchants[0];
    expect(refusal(await ask("/v1/merchants/payments", first, demo?.apiKey))).toEqual([
      404,
      "merchant_not_found",
    ]);
    expect(refusal(await ask("/v1/merchants/payments"))).toEqual([401, "missing_merchant_id"]);
    expect(refusal(await ask("/v1/merchants/payments", first, ""))).toEqual([
      401,
      "missing_api_key",
    ]);
  });

  // Guarantee: what a partner does not own is not in its lists and sums, by any filter.
  test("holds nothing of another partner", async () => {
    const others = await newPartner(world);
    const empty = await ask("/v1/payments", undefined, others.key);
    expect(empty.body.stats.totalTransactions).toBe(0);
    for (const query of [`merchantId=${shops[0]}`, "merchantId=mer_none", "referenceId=order"]) {
      const answer = await ask(`/v1/payments?${query}`, undefined, others.key);
      expect(answer.text).toBe(empty.text);
    }
    const theirs = await ask("/v1/payments", undefined, world.demo.merchants[0]?.apiKey);
    expect(ids(theirs)).toEqual([]);
  });

  // Guarantee: bad queries are refused by name, and no readable time is.
  test("refuses what it cannot mean", async () => {
    const other = (await ask("/v1/payments?limit=1&sortBy=amount")).body.nextCursor;
    for (const query of ["limit=5&limit=6", "status=pending", "network=base", `cursor=${other}`]) {
      const answer = await ask(`/v1/payments?${query}`);
      expect([query, ...refusal(answer)]).toEqual([query, 400, "invalid_params"]);
      expect(answer.body.issues[0].field).toBe(query.slice(0, query.indexOf("=")));
    }
    for (const query of [
      "startTs=0000-01-01T00:00:00Z",
      "endTs=9999-12-31T23:59:59.999999999-23:59",
    ])
      expect((await ask(`/v1/payments?${query}`)).body.data).toHaveLength(6);
  });

  // Last, since it makes payments. Guarantee: a walk meets everything that was there, once each, while more is made.
  test("is walked whole while payments are created", async () => {
    const shop = shops[0];
    await Promise.all(
      Array.from({ length: 25 }, (_, n) => create(shop, "USD", "500", `walk-${n}`)),
    );
    const rows = await world.db.query<{ id: string }>(
      `select id from payment where merchant_id = any($1)`,
      [shops],
    );
    const there = rows.map(({ id }) => id);
    let n = 0;
    const more = () => Promise.all([1, 2, 3].map(() => create(shop, "USD", "500", `new-${n++}`)));
    for (const query of ["limit=4", "limit=4&sortBy=amount", "limit=7&sortBy=amount&sortDir=asc"]) {
      const met = await walk(query, more);
      expect(new Set(met).size).toBe(met.length);
      expect(there.filter((id) => !met.includes(id))).toEqual([]);
      if (query === "limit=4") expect(met.toSorted()).toEqual(there.toSorted());
    }
  });
});
