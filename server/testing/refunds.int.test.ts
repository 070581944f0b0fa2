import { createWalletClient, type Hex, http } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openContext } from "#server/cli/invariants/open.ts";
import { inWords, runChecks } from "#server/cli/invariants/run.ts";
import { readSettings } from "#server/cli/invariants/settings.ts";
import { asOwner, fundGas, mint, rpc } from "#server/sandbox/deploy.ts";
import { seedMerchant } from "#server/sandbox/seed.ts";
import { type Answer, actors, call, until } from "./api.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const CHAIN = "eip155:31337";
const BATCH_S = "3600";
/** 12.50 USD in USDC. */
const PAID = 12_500_000n;

let world: TestWorld;
let server: TestServer;
const api = () => actors(world, () => server.baseUrl);
const chain = () => {
  const found = world.world.chains[0];
  if (found === undefined) throw new Error("no chain");
  return { url: found.anvil.rpcUrl, ...found.deployment };
};

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { FLORIN_SETTLEMENT_BATCH_S: BATCH_S } });
});
afterAll(() => world?.stop());

type Merchant = { id: string; key: Hex; account: string; headers: Record<string, string> };

/** A merchant whose destination's key is known; batched settlements wait until the test lets them go. */
async function newMerchant(
  seed: { flow?: "direct"; schedule?: "instant"; feeBps?: number } = {},
): Promise<Merchant> {
  const { db, demo } = world;
  const seeded = await seedMerchant(
    db,
    {
      partnerId: demo.partnerId,
      pepper: world.world.memory.pepper,
      assets: [world.asset("usdc"), world.asset("usdt")],
    },
    { name: "Shop", flow: "intermediary", schedule: "batched", ...seed },
  );
  const key = generatePrivateKey();
  const account = privateKeyToAccount(key).address.toLowerCase();
  await db.query(`update settlement_destination set destination = $2 where merchant_id = $1`, [
    seeded.id,
    `${CHAIN}:${account}`,
  ]);
  await fundGas(chain().url, account);
  return {
    id: seeded.id,
    key,
    account,
    headers: { "Api-Key": seeded.apiKey, "Merchant-Id": seeded.id },
  };
}

async function newBuyer(): Promise<{ key: Hex; address: Hex }> {
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  await mint(chain().url, chain(), "usdc", address, PAID);
  return { key, address };
}

const rows = <Row = Record<string, string>>(text: string, values: unknown[] = []) =>
  world.db.query<Row>(text, values);

async function balance(account: string): Promise<bigint> {
  const data = `0x70a08231${account.toLowerCase().slice(2).padStart(64, "0")}`;
  return BigInt(await rpc<string>(chain().url, "eth_call", [{ to: chain().usdc, data }, "latest"]));
}

/** A succeeded payment of 12.50 USD; `final` waits until its capture is. */
async function paid(shop: Merchant, options: { final?: boolean } = {}) {
  const buyer = await newBuyer();
  const made = await call(server.baseUrl, "POST", "/v1/merchant/payment", {
    headers: shop.headers,
    body: { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-1" },
  });
  const id = String(made.body.paymentId);
  await api().pay(id, buyer.key, "USDC");
  await until(
    () => api().status(id, 2_000),
    ({ body }) => body.status === "succeeded",
  );
  if (options.final !== false)
    await until(
      () => rows(`select 1 from capture where payment_id = $1 and status = 'finalized'`, [id]),
      (found) => found.length === 1,
    );
  return { id, buyer };
}

const refund = (shop: Merchant, body: object, headers = {}): Promise<Answer> =>
  call(server.baseUrl, "POST", "/v1/refunds", { headers: { ...shop.headers, ...headers }, body });

const read = (shop: Merchant, id: string): Promise<Answer> =>
  call(server.baseUrl, "GET", `/v1/refunds/${id}`, { headers: shop.headers });

const becomes = (shop: Merchant, made: Answer, status: string): Promise<Answer> => {
  expect(made.status, made.text).toBe(201);
  return until(
    () => read(shop, made.body.id),
    ({ body }) => body.status === status,
  );
};

/** Live settlements of a payment, as `state amount fee`. */
const settlements = async (id: string): Promise<string[]> =>
  (
    await rows(
      `select state || ' ' || amount || ' ' || fee as line from settlement
       where payment_id = $1 and state not in ('superseded', 'reverted')`,
      [id],
    )
  ).map(({ line }) => line ?? "");

/** Lets the batch of a merchant go now. */
const letGo = (shop: Merchant) =>
  rows(
    `update settlement set created_at = created_at - interval '1 hour'
     where merchant_id = $1 and state = 'pending'`,
    [shop.id],
  );

const settledAs = (id: string, line: string) =>
  until(
    () => settlements(id),
    (found) => found.join() === line,
  );

const topics = async (id: string): Promise<string[]> =>
  (
    await rows(
      `select topic from outbox where payment_id = $1 and topic like 'refund.%' order by sequence`,
      [id],
    )
  ).map(({ topic }) => topic ?? "");

/** The merchant's wallet does what the refund says. */
async function send(shop: Merchant, transfer: { params: [{ to: Hex; data: Hex; from: string }] }) {
  const [tx] = transfer.params;
  expect(tx.from).toBe(shop.account);
  const account = privateKeyToAccount(shop.key);
  const wallet = createWalletClient({ account, transport: http(chain().url) });
  return wallet.sendTransaction({ to: tx.to, data: tx.data, chain: null });
}

const denied = (account: string, on: boolean) =>
  asOwner(
    chain().url,
    chain(),
    chain().usdc,
    "function setBlacklisted(address account, bool listed)",
    [account, on],
  );

// Guarantee: a refund done elsewhere is noted at once, never beyond what was received, and repeats answer the same.
test("recorded refunds", async () => {
  const shop = await newMerchant();
  const { id, buyer } = await paid(shop);
  const keyed = { "Idempotency-Key": "refund-1" };
  const body = { paymentId: id, amount: "500000", txId: `0x${"ab".repeat(32)}`, reason: "Broken" };
  const made = await refund(shop, body, keyed);
  expect(made.status, made.text).toBe(201);
  expect(made.body).toMatchObject({
    paymentId: id,
    status: "succeeded",
    kind: "record",
    amount: { unit: `caip19/${world.asset("usdc")}`, value: "500000", display: { decimals: 6 } },
    destination: `${CHAIN}:${buyer.address.toLowerCase()}`,
    txId: body.txId,
    reason: "Broken",
    transfer: null,
  });
  const again = await refund(shop, body, keyed);
  expect([again.status, again.text]).toEqual([201, made.text]);
  const over = await refund(shop, { paymentId: id, amount: "12000001" });
  expect([over.status, over.body.code]).toEqual([400, "params_validation"]);
  expect(over.text).toContain("12000000");
  const rest = await refund(shop, { paymentId: id });
  expect(rest.body.amount.value).toBe("12000000");
  const none = await refund(shop, { paymentId: id });
  expect([none.status, none.body.code]).toEqual([409, "already_refunded"]);
  expect(await topics(id)).toEqual([
    "refund.created",
    "refund.succeeded",
    "refund.created",
    "refund.succeeded",
  ]);
  expect(await settlements(id)).toEqual([`pending ${PAID} 0`]);
});

// Guarantee: only a merchant's own succeeded payment is refunded, and only its own refunds are shown.
test("what is refused, and who reads what", async () => {
  const shop = await newMerchant();
  const other = await newMerchant();
  const { id } = await paid(shop);
  const open = await call(server.baseUrl, "POST", "/v1/merchant/payment", {
    headers: shop.headers,
    body: { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-2" },
  });
  const refused = async (by: Merchant, body: object) => {
    const answer = await refund(by, body);
    return `${answer.status} ${answer.body.code}`;
  };
  expect(await refused(shop, { paymentId: open.body.paymentId })).toBe("400 payment_not_succeeded");
  expect(await refused(other, { paymentId: id })).toBe("404 payment_not_found");
  expect(await refused(shop, { paymentId: "pay_missing" })).toBe("404 payment_not_found");
  for (const amount of ["0", "-1", "1.5", "1e3", "01"])
    expect(await refused(shop, { paymentId: id, amount })).toBe("400 params_validation");
  expect(await refused(shop, { paymentId: id, amount: 5 })).toBe("400 invalid_params");
  expect(await refused(shop, { paymentId: id, kind: "gift" })).toBe("400 invalid_params");
  expect(await refused(shop, { paymentId: id, kind: "execute", txId: "0xab" })).toBe(
    "400 params_validation",
  );
  const ids: string[] = [];
  for (const amount of ["1", "2", "3"])
    ids.unshift((await refund(shop, { paymentId: id, amount })).body.id);
  expect([(await read(other, ids[0] ?? "")).status, (await read(shop, "ref_X")).status]).toEqual([
    404, 404,
  ]);
  const list = (by: Merchant, query: string) =>
    call(server.baseUrl, "GET", `/v1/refunds${query}`, { headers: by.headers });
  const first = await list(shop, `?paymentId=${id}&limit=2`);
  const shown = (answer: Answer) => answer.body.refunds.map((one: { id: string }) => one.id);
  expect(shown(first)).toEqual(ids.slice(0, 2));
  const second = await list(shop, `?limit=2&cursor=${first.body.nextCursor}`);
  expect([shown(second), second.body.nextCursor]).toEqual([ids.slice(2), null]);
  expect(shown(await list(other, ""))).toEqual([]);
  expect((await list(other, `?cursor=${first.body.nextCursor}`)).body.code).toBe("invalid_params");
});

// Guarantee: money that is not settled yet goes back in parts; what is left, less the fee, is settled once.
test("partial refunds out of the settlement", async () => {
  const shop = await newMerchant({ feeBps: 40 });
  const { id, buyer } = await paid(shop);
  expect(await settlements(id)).toEqual(["pending 12450000 50000"]);
  const whole = await refund(shop, { paymentId: id, kind: "execute" });
  expect([whole.status, whole.body.code]).toEqual([400, "params_validation"]);
  expect(whole.text).toContain("12450000");
  const first = await refund(shop, { paymentId: id, kind: "execute", amount: "4000000" });
  expect(first.body).toMatchObject({ status: "pending", kind: "execute", txId: null });
  expect(await settlements(id)).toEqual(["pending 8450000 50000"]);
  const second = await refund(shop, { paymentId: id, kind: "execute", amount: "450000" });
  const { body } = await becomes(shop, first, "succeeded");
  await becomes(shop, second, "succeeded");
  expect(body.txId).toMatch(/^0x[0-9a-f]{64}$/);
  expect(await balance(buyer.address)).toBe(4_450_000n);
  await letGo(shop);
  await settledAs(id, "final 8000000 50000");
  expect(await balance(shop.account)).toBe(8_000_000n);
  const late = await refund(shop, { paymentId: id, kind: "execute", amount: "8050001" });
  expect([late.status, late.body.code]).toEqual([400, "params_validation"]);
  expect(late.text).toContain("8050000");
});

// Guarantee: whoever asks at the same moment, no more goes back than is there.
test("two whole refunds at once", async () => {
  const shop = await newMerchant();
  const { id, buyer } = await paid(shop);
  const body = { paymentId: id, kind: "execute" };
  const both = await Promise.all([refund(shop, body), refund(shop, body)]);
  expect(both.map(({ status }) => status).toSorted()).toEqual([201, 409]);
  const made = both.find(({ status }) => status === 201);
  if (made === undefined) throw new Error("none was made");
  await becomes(shop, made, "succeeded");
  expect(await balance(buyer.address)).toBe(PAID);
  expect(await settlements(id)).toEqual([]);
  expect(await topics(id)).toEqual(["refund.created", "refund.succeeded"]);
});

// Guarantee: before the payment's transfer is final nothing is sent back, and then the refund comes before the settlement.
test("a refund of a capture that is not final waits for it", async () => {
  const shop = await newMerchant({ schedule: "instant" });
  await rpc(chain().url, "evm_setIntervalMining", [3]);
  try {
    const { id, buyer } = await paid(shop, { final: false });
    const made = await refund(shop, { paymentId: id, kind: "execute", amount: "2500000" });
    expect(await rows(`select 1 from settlement where payment_id = $1`, [id])).toEqual([]);
    await rpc(chain().url, "evm_setIntervalMining", [1]);
    await becomes(shop, made, "succeeded");
    await settledAs(id, "final 10000000 0");
    expect([await balance(buyer.address), await balance(shop.account)]).toEqual([
      2_500_000n,
      10_000_000n,
    ]);
  } finally {
    await rpc(chain().url, "evm_setIntervalMining", [1]);
  }
});

// Guarantee: a refund of settled money is the merchant's transfer; one transfer of the exact amount ends one refund.
test("the merchant's wallet refunds what was settled", async () => {
  const shop = await newMerchant({ schedule: "instant" });
  const { id, buyer } = await paid(shop);
  await settledAs(id, `final ${PAID} 0`);
  const part = { paymentId: id, kind: "execute", amount: "5000000" };
  const first = await refund(shop, part);
  const second = await refund(shop, part);
  expect([first.body.status, second.body.status]).toEqual([
    "awaiting_merchant",
    "awaiting_merchant",
  ]);
  const { transfer } = (await read(shop, first.body.id)).body;
  expect([transfer.chain_id, transfer.method]).toEqual([CHAIN, "eth_sendTransaction"]);
  const { watched } =
    (await rows(`select max(scanned_number) as watched from chain_cursor`))[0] ?? {};
  const hash = await send(shop, transfer);
  const { body } = await becomes(shop, first, "succeeded");
  expect(body).toMatchObject({ txId: hash, transfer: null });
  expect(await balance(buyer.address)).toBe(5_000_000n);
  // A process that died before it noted how far it had read looks at the same transfer again.
  await rows(`update refund set from_block = $2 where id = $1`, [second.body.id, watched]);
  await until(
    () =>
      rows(`select 1 from refund where id = $1 and from_block > $2 + 3`, [second.body.id, watched]),
    (found) => found.length === 1,
  );
  expect((await read(shop, second.body.id)).body.status).toBe("awaiting_merchant");
  await send(shop, transfer);
  await becomes(shop, second, "succeeded");
  expect(await topics(id)).toEqual([
    "refund.created",
    "refund.created",
    "refund.succeeded",
    "refund.succeeded",
  ]);
});

// Guarantee: where the money never was ours the merchant's wallet refunds it, and other amounts end nothing.
test("the direct flow", async () => {
  const shop = await newMerchant({ flow: "direct" });
  await rpc(chain().url, "evm_setIntervalMining", [3]);
  const { id, buyer } = await paid(shop, { final: false });
  const small = await refund(shop, { paymentId: id, kind: "execute", amount: "1000" });
  expect([small.body.status, small.body.transfer]).toEqual(["pending", null]);
  await rpc(chain().url, "evm_setIntervalMining", [1]);
  await becomes(shop, small, "awaiting_merchant");
  const whole = await refund(shop, { paymentId: id, kind: "execute" });
  expect([whole.body.status, whole.body.amount.value]).toEqual(["awaiting_merchant", "12499000"]);
  await send(shop, whole.body.transfer);
  await becomes(shop, whole, "succeeded");
  expect((await read(shop, small.body.id)).body.status).toBe("awaiting_merchant");
  expect(await balance(buyer.address)).toBe(12_499_000n);
  expect(await settlements(id)).toEqual([]);
});

// Guarantee: money that cannot go back is owed to the merchant again, whether that shows before or after sending.
test("a payer on the token's deny list", async () => {
  const shop = await newMerchant();
  const { id, buyer } = await paid(shop);
  await denied(buyer.address, true);
  const made = await refund(shop, { paymentId: id, kind: "execute" });
  const { body } = await becomes(shop, made, "failed");
  expect(body.detail).toContain("denied");
  await settledAs(id, `pending ${PAID} 0`);
  await denied(buyer.address, false);
  // Sent while it would go through, denied before it is mined.
  await rpc(chain().url, "evm_setIntervalMining", [0]);
  try {
    const second = await refund(shop, { paymentId: id, kind: "execute", amount: "2500000" });
    await until(
      () =>
        rows(`select 1 from chain_intent where id = $1 and state = 'broadcast'`, [
          `refund:${second.body.id}`,
        ]),
      (found) => found.length === 1,
    );
    await rpc(chain().url, "anvil_dropAllTransactions");
    const listing = denied(buyer.address, true);
    await rpc(chain().url, "evm_setIntervalMining", [1]);
    await listing;
    const failed = await becomes(shop, second, "failed");
    expect(failed.body.detail).toContain("reverted on chain");
  } finally {
    await rpc(chain().url, "evm_setIntervalMining", [1]);
  }
  await settledAs(id, `pending ${PAID} 0`);
  await letGo(shop);
  await settledAs(id, `final ${PAID} 0`);
  expect([await balance(buyer.address), await balance(shop.account)]).toEqual([0n, PAID]);
  expect(await topics(id)).toEqual([
    "refund.created",
    "refund.failed",
    "refund.created",
    "refund.failed",
  ]);
});

// Guarantee: books, chain and refunds agree after all of it.
test("every invariant holds", async () => {
  await until(
    () => rows(`select 1 from chain_intent where state in ('signed', 'broadcast', 'mined')`),
    (open) => open.length === 0,
  );
  const settings = readSettings({ ...world.world.serverEnv, FLORIN_SETTLEMENT_BATCH_S: BATCH_S });
  const { context, close } = await openContext(settings);
  const lines = await runChecks(context, () => undefined).finally(close);
  expect(lines.filter(({ outcome }) => outcome === "violated").map(inWords)).toEqual([]);
  const pooled = await rows(
    `select coalesce(sum(balance), 0) as sum from ledger_account where kind = 'suspense'`,
  );
  expect(pooled).toEqual([{ sum: "0" }]);
});
