import { createWalletClient, encodeFunctionData, type Hex, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { listStopped, retrySettlement } from "#server/db/operator.ts";
import { compileContracts } from "#server/sandbox/compile.ts";
import { asOwner, fundGas, mint } from "#server/sandbox/deploy.ts";
import { minedOn, nodeTransport, rpc } from "#server/sandbox/node-rpc.ts";
import { seedMerchant } from "#server/sandbox/seed.ts";
import { type Action, actors, call, until } from "./api.ts";
import { compileOdd } from "./chain.ts";
import { endsIn } from "./unguarded.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const CHAIN = "eip155:31337";
const TOKEN = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function cancelAuthorization(address authorizer, bytes32 nonce, bytes signature)",
  "function transfer(address to, uint256 value)",
  "function balanceOf(address) view returns (uint256)",
]);

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
  server = await world.startServer({
    env: { FLORIN_SETTLEMENT_BATCH_S: "4" },
    registry: (registry) => ({
      ...registry,
      chains: registry.chains.map((entry) => ({ ...entry, stuckAfterS: 2 })),
    }),
  });
});
afterAll(() => world?.stop());

/** A new account with gas and tokens of its own, so that no test disturbs another. */
async function newBuyer(tokens: { usdc?: bigint; usdt?: bigint } = { usdc: 100_000_000n }) {
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  await fundGas(chain().url, address);
  if (tokens.usdc) await mint(chain().url, chain(), "usdc", address, tokens.usdc);
  if (tokens.usdt) await mint(chain().url, chain(), "usdt", address, tokens.usdt);
  return { key, address };
}

const send = (key: Hex, to: Hex, data: Hex) =>
  createWalletClient({
    account: privateKeyToAccount(key),
    transport: nodeTransport(chain().url),
  }).sendTransaction({
    to,
    data,
    chain: null,
  });

async function created(
  options: Parameters<ReturnType<typeof api>["create"]>[0] = {},
): Promise<string> {
  const answer = await api().create(options);
  if (answer.status !== 201) throw new Error(answer.text);
  return answer.body.paymentId;
}

const final = (id: string) =>
  until(
    () => api().status(id, 2_000),
    ({ body }) => body.isFinal,
  );

type Option = { id: string; amount: { display: { assetSymbol: string } }; actions: Action[] };

/** An account's option. A chain that was too busy to answer offers nothing at that moment. */
async function optionFor(id: string, address: string, symbol: string): Promise<Option> {
  const is = ({ amount }: Option) => amount.display.assetSymbol === symbol;
  const listed = await until<Option[]>(
    async () => (await api().options(id, [`${CHAIN}:${address}`])).body.options ?? [],
    (options) => options.some(is),
  );
  const option = listed.find(is);
  if (option === undefined) throw new Error(`no ${symbol}`);
  return option;
}

/** Pays with USDC; what was signed is taken at once. */
async function pay(id: string, buyer: { key: Hex; address: Hex }): Promise<void> {
  const { option, signature } = await signed(id, buyer);
  expect((await api().confirm(id, option.id, [signature])).status).toBe(200);
}

/** The one action of an account's USDC option, and its signature. */
async function signed(id: string, buyer: { key: Hex; address: Hex }) {
  const option = await optionFor(id, buyer.address, "USDC");
  const [action] = option.actions;
  if (action === undefined) throw new Error("no action");
  return { option, action, signature: await api().execute(action, buyer.key) };
}

type Transfer = { from: Hex; to: Hex; value: string; validBefore: string; nonce: Hex };

/** What anybody who sees the signature may send: the very call our relayer would make. */
function selfBroadcast(action: Action, signature: string): Hex {
  const m: Transfer = JSON.parse(String(action.data.params[1])).message;
  const args = [
    m.from,
    m.to,
    BigInt(m.value),
    0n,
    BigInt(m.validBefore),
    m.nonce,
    signature as Hex,
  ] as const;
  return encodeFunctionData({ abi: TOKEN, functionName: "transferWithAuthorization", args });
}

async function smartWallet(owner: Hex, usdc: bigint, usdt = 0n): Promise<Hex> {
  const { SandboxWallet } = compileContracts();
  const account = privateKeyToAccount(owner);
  const client = createWalletClient({ account, transport: nodeTransport(chain().url) });
  const hash = await client.deployContract({
    abi: SandboxWallet.abi as never,
    bytecode: SandboxWallet.bytecode,
    args: [account.address] as never,
    chain: null,
  });
  const address = (await minedOn(chain().url, hash)).contractAddress ?? "0x";
  if (usdc > 0n) await mint(chain().url, chain(), "usdc", address, usdc);
  if (usdt > 0n) await mint(chain().url, chain(), "usdt", address, usdt);
  return address;
}

// Guarantee: a contract wallet pays by ERC-1271, and only with its owner's signature.
test("a contract wallet pays with EIP-3009", async () => {
  const owner = await newBuyer({});
  const wallet = await smartWallet(owner.key, 50_000_000n);
  const id = await created();
  const option = await optionFor(id, wallet, "USDC");
  const [action] = option.actions;
  if (action === undefined) throw new Error("no action");
  const stranger = await api().execute(action, generatePrivateKey());
  const refused = await api().confirm(id, option.id, [stranger]);
  expect([refused.status, refused.body.code]).toEqual([422, "params_validation"]);
  const signature = await api().execute(action, owner.key);
  expect((await api().confirm(id, option.id, [signature])).status).toBe(200);
  expect((await final(id)).body.status).toBe("succeeded");
});

// Guarantee: an account that says yes in simulations and no on the network costs its relayer a few reverts, and then no more.
test("a wallet that only pays in simulations", async () => {
  const owner = await newBuyer({});
  const { abi, bytecode } = compileOdd("SimulationOnlyWallet");
  const client = createWalletClient({
    account: privateKeyToAccount(owner.key),
    transport: nodeTransport(chain().url),
  });
  const hash = await client.deployContract({ abi, bytecode, args: [], chain: null });
  const wallet = (await minedOn(chain().url, hash)).contractAddress ?? "0x";
  await mint(chain().url, chain(), "usdc", wallet, 500_000_000n);
  const confirm = async () => {
    const id = await created();
    const option = await optionFor(id, wallet, "USDC");
    return { id, answer: await api().confirm(id, option.id, [`0x${"11".repeat(65)}`]) };
  };
  for (const paid of [2, 4]) {
    const { answer } = await confirm();
    expect([answer.status, answer.body.status]).toEqual([200, "processing"]);
    await until(
      () =>
        world.db.query<{ cost: number }>(
          `select coalesce(sum(a.reverts), 0)::int as cost from attempt a
           join payment_option o on o.id = a.option_id where o.payer = $1`,
          [wallet.toLowerCase()],
        ),
      ([row]) => row?.cost === paid,
      30_000,
    );
  }
  const { id, answer } = await confirm();
  expect([answer.status, answer.body.code]).toEqual([422, "params_validation"]);
  expect(answer.body.message).toContain("pay from another account");
  expect((await api().status(id)).body.status).toBe("requires_action");
});

// Guarantee: whoever sends the buyer's authorization, the buyer has paid once.
test("an authorization that somebody else sent pays the payment, before and without any confirm", async () => {
  const buyer = await newBuyer();
  const id = await created();
  const { option, action, signature } = await signed(id, buyer);
  const observer = await newBuyer({});
  const hash = await send(observer.key, chain().usdc, selfBroadcast(action, signature));
  const done = await final(id);
  expect(done.body).toMatchObject({ status: "succeeded", info: { txId: hash } });
  const late = await api().confirm(id, option.id, [signature]);
  expect([late.status, late.body.status]).toEqual([200, "succeeded"]);
  const rows = await world.db.query(`select 1 from chain_intent where payment_id = $1`, [id]);
  expect(rows).toHaveLength(0);
});

// Guarantee: losing the race against an observer costs gas, never the payment and never a second charge.
test("an authorization that is front-run while ours is on its way is credited once", async () => {
  const buyer = await newBuyer();
  const id = await created();
  const { option, action, signature } = await signed(id, buyer);
  const observer = await newBuyer({});
  await rpc(chain().url, "evm_setIntervalMining", [0]);
  try {
    expect((await api().confirm(id, option.id, [signature])).body.status).toBe("processing");
    await until(
      () =>
        world.db.query(`select 1 from chain_intent where payment_id = $1 and state = 'broadcast'`, [
          id,
        ]),
      (rows) => rows.length === 1,
    );
    const client = createWalletClient({
      account: privateKeyToAccount(observer.key),
      transport: nodeTransport(chain().url),
    });
    await client.sendTransaction({
      to: chain().usdc,
      data: selfBroadcast(action, signature),
      gas: 300_000n,
      maxPriorityFeePerGas: 50_000_000_000n,
      maxFeePerGas: 100_000_000_000n,
      chain: null,
    });
  } finally {
    await rpc(chain().url, "evm_setIntervalMining", [1]);
  }
  expect((await final(id)).body.status).toBe("succeeded");
  const captures = await world.db.query(`select 1 from capture where payment_id = $1`, [id]);
  expect(captures).toHaveLength(1);
});

// Guarantee: a cancelled authorization ends as failed by proof, not as waiting for ever.
test("an authorization that the buyer cancels on chain fails the payment once that is final", async () => {
  const buyer = await newBuyer();
  const id = await created();
  const { option, action, signature } = await signed(id, buyer);
  const data = JSON.parse(String(action.data.params[1]));
  const cancel = await privateKeyToAccount(buyer.key).signTypedData({
    domain: data.domain,
    types: {
      CancelAuthorization: [
        { name: "authorizer", type: "address" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "CancelAuthorization",
    message: { authorizer: buyer.address, nonce: data.message.nonce },
  });
  const hash = await send(
    buyer.key,
    chain().usdc,
    encodeFunctionData({
      abi: TOKEN,
      functionName: "cancelAuthorization",
      args: [buyer.address, data.message.nonce, cancel],
    }),
  );
  await minedOn(chain().url, hash);
  expect((await api().confirm(id, option.id, [signature])).status).toBe(200);
  const done = await final(id);
  expect(done.body).toMatchObject({ status: "failed", failureCode: "broadcast_failed" });
});

// Guarantee: one transaction stuck under a raised base fee is replaced with the same nonce and mined.
test("a transaction under a raised base fee is replaced and mined", async () => {
  const buyer = await newBuyer();
  const id = await created();
  const { option, signature } = await signed(id, buyer);
  await rpc(chain().url, "evm_setIntervalMining", [0]);
  await api().confirm(id, option.id, [signature]);
  await until(
    () =>
      world.db.query(`select 1 from chain_intent where payment_id = $1 and state = 'broadcast'`, [
        id,
      ]),
    (rows) => rows.length === 1,
  );
  await rpc(chain().url, "anvil_setNextBlockBaseFeePerGas", [
    `0x${(200_000_000_000n).toString(16)}`,
  ]);
  await rpc(chain().url, "evm_setIntervalMining", [1]);
  expect((await final(id)).body.status).toBe("succeeded");
  const txs = await world.db.query<{ raw: Buffer }>(
    `select t.raw from chain_tx t join chain_intent i on i.id = t.intent_id where i.payment_id = $1 and t.role = 'main'`,
    [id],
  );
  expect(txs.length).toBeGreaterThan(1);
});

// Guarantee: a nonce that was reserved by a process that died holds up nobody.
test("the hole of a killed signer is filled", async () => {
  const buyer = await newBuyer();
  const relayer = await world.db.query<{ signer: string; next: string }>(
    `select n.signer, n.next from signer_nonce n join chain_intent i on i.signer = n.signer
     where i.kind = 'capture' group by 1, 2 limit 1`,
  );
  const signer = relayer[0]?.signer ?? "";
  await world.db.query(
    `select reserve_intent('fill:test', 'fill', null, null, $1, $2, '{"kind":"fill"}')`,
    [CHAIN, signer],
  );
  const filled = await until(
    () =>
      world.db.query<{ state: string }>(`select state from chain_intent where id = 'fill:test'`),
    (rows) => rows[0]?.state === "final" || rows[0]?.state === "superseded",
  );
  expect(filled).toHaveLength(1);
  const id = await created();
  await pay(id, buyer);
  expect((await final(id)).body.status).toBe("succeeded");
});

// Guarantee: money that comes by itself is found, named and booked, and pays nothing.
test.for([
  ["short", 12_499_999n],
  ["over", 12_500_001n],
  ["unattributed", 12_500_000n],
] as const)("a plain transfer is an exception: %s", async ([kind, amount]) => {
  const buyer = await newBuyer();
  const id = await created();
  await optionFor(id, buyer.address, "USDC");
  const intermediary = privateKeyToAccount(world.world.memory.intermediaryKey).address;
  const hash = await send(
    buyer.key,
    chain().usdc,
    encodeFunctionData({ abi: TOKEN, functionName: "transfer", args: [intermediary, amount] }),
  );
  const found = await until(
    () =>
      world.db.query<{ kind: string; payment_id: string; amount_minor: string }>(
        `select * from exception_record where tx_ref = $1`,
        [hash],
      ),
    (rows) => rows.length > 0,
  );
  expect(found[0]).toMatchObject({ kind, payment_id: id, amount_minor: amount.toString() });
  expect((await api().status(id)).body.status).toBe("requires_action");
  const told = await world.db.query(
    `select 1 from outbox where payment_id = $1 and topic = 'payment.exception'`,
    [id],
  );
  expect(told).toHaveLength(1);
});

// Guarantee: stray money is told to the merchant whose amount it is, and to none where it could be several's: no merchant learns of another's money.
test("stray money among merchants", async () => {
  const buyer = await newBuyer();
  const { demo, world: parts } = world;
  const at = {
    partnerId: demo.partnerId,
    pepper: parts.memory.pepper,
    assets: [world.asset("usdc")],
  };
  const second = await seedMerchant(world.db, at, { name: "Second Shop", flow: "intermediary" });
  const mine = await created({ value: "1337" });
  const theirs = await call(server.baseUrl, "POST", "/v1/merchant/payment", {
    headers: { "Api-Key": second.apiKey, "Merchant-Id": second.id },
    body: { amount: { unit: "iso4217/USD", value: "9900" }, referenceId: "order-2" },
  });
  const direct = await created({ value: "9800", flow: "direct" });
  for (const id of [mine, theirs.body.paymentId, direct])
    await optionFor(id, buyer.address, "USDC");
  const intermediary = privateKeyToAccount(parts.memory.intermediaryKey).address;
  const strayOf = async (amount: bigint) => {
    const args = [intermediary, amount] as const;
    const data = encodeFunctionData({ abi: TOKEN, functionName: "transfer", args });
    const hash = await send(buyer.key, chain().usdc, data);
    const rows = await until(
      () =>
        world.db.query(
          `select payment_id, merchant_id from exception_record where tx_ref = $1 and kind = 'unattributed'`,
          [hash],
        ),
      ({ length }) => length > 0,
    );
    return rows[0];
  };
  expect(await strayOf(13_370_000n)).toMatchObject({ payment_id: mine });
  expect(await strayOf(13_370_001n)).toEqual({ payment_id: null, merchant_id: null });
});

// Guarantee: money after the window is never lost and never changes what was said.
test("an authorization sent after expiry is a late exception", async () => {
  const buyer = await newBuyer();
  const id = await created();
  const { action, signature } = await signed(id, buyer);
  await endsIn(world.db, id);
  expect((await final(id)).body.status).toBe("expired");
  const hash = await send(buyer.key, chain().usdc, selfBroadcast(action, signature));
  const found = await until(
    () =>
      world.db.query<{ kind: string; payment_id: string }>(
        `select * from exception_record where tx_ref = $1`,
        [hash],
      ),
    (rows) => rows.length > 0,
  );
  expect(found[0]).toMatchObject({ kind: "late", payment_id: id });
  expect((await api().status(id)).body.status).toBe("expired");
});

// Guarantee: many payments of one merchant and asset are settled by one transfer when the merchant wants it so.
test("batched settlements share one transfer and add up", async () => {
  const merchant = world.demo.merchants.find(({ flow }) => flow === "intermediary");
  await world.db.query(`update merchant set settlement_schedule = 'batched' where id = $1`, [
    merchant?.id,
  ]);
  await world.db.query(`insert into settlement_hold (asset, reason) values ('*', 'a test')`);
  try {
    // Every process hears of a merchant's terms in its own time.
    await until(
      async () =>
        world.db.query<{ name: string }>(
          `select settlement_schedule as name from payment where id = $1`,
          [await created()],
        ),
      ([row]) => row?.name === "batched",
    );
    const paid: string[] = [];
    for (const value of ["1000", "1100", "1200"]) {
      const buyer = await newBuyer();
      const id = await created({ value });
      await pay(id, buyer);
      paid.push(id);
    }
    for (const id of paid) expect((await final(id)).body.status).toBe("succeeded");
    await until(
      () =>
        world.db.query(
          `select 1 from settlement where payment_id = any($1) and state = 'pending'`,
          [paid],
        ),
      (pending) => pending.length === paid.length,
    );
    await world.db.query(`delete from settlement_hold`);
    const settled = await until(
      () => Promise.all(paid.map((id) => api().details(id))),
      (all) => all.every(({ body }) => body.settlement?.successful != null),
    );
    const txIds = new Set(settled.map(({ body }) => body.settlement.successful.txId));
    expect(txIds.size).toBe(1);
    const [txId] = txIds;
    const receipt = await rpc<{ logs: { data: Hex }[] }>(chain().url, "eth_getTransactionReceipt", [
      txId,
    ]);
    // 10.00 + 11.00 + 12.00 less 0.4 % each.
    expect(receipt.logs.map(({ data }) => BigInt(data))).toEqual([
      9_960_000n + 10_956_000n + 11_952_000n,
    ]);
  } finally {
    await world.db.query(`delete from settlement_hold`);
    await world.db.query(`update merchant set settlement_schedule = 'instant' where id = $1`, [
      merchant?.id,
    ]);
  }
});

// Guarantee: a token whose owner refuses the destination blocks its settlement and keeps the money owed.
test("a refused destination blocks the settlement and loses nothing", async () => {
  const merchant = world.demo.merchants.find(({ flow }) => flow === "intermediary");
  const listed = "function setBlacklisted(address account, bool listed)";
  await asOwner(chain().url, chain(), chain().usdc, listed, [merchant?.destination, true]);
  const buyer = await newBuyer();
  const id = await created();
  await pay(id, buyer);
  expect((await final(id)).body.status).toBe("succeeded");
  const rows = await until(
    () =>
      world.db.query<{ state: string; amount: string }>(
        `select * from settlement where payment_id = $1`,
        [id],
      ),
    ([row]) => row?.state === "blocked",
  );
  expect(rows[0]?.amount).toBe("12450000");
  expect((await api().details(id)).body.settlement).toBeNull();
  await asOwner(chain().url, chain(), chain().usdc, listed, [merchant?.destination, false]);
  const stopped = (await listStopped(world.db)).blocked.find((one) => one.payment_id === id);
  expect(stopped?.payment_id).toBe(id);
  expect(await retrySettlement(world.db, stopped?.id ?? "")).toMatch(/^set_/);
  await until(
    () => api().details(id),
    ({ body }) => body.settlement?.successful != null,
  );
});

// Last, since it moves the chain's clock.
// Guarantee: an unused authorization past its deadline at a final block is a proven failure, and nothing earlier is.
test("a payment whose money left before submission fails by proof once its deadline is past", async () => {
  const buyer = await newBuyer({ usdt: 20_000_000n });
  const id = await created();
  const option = await optionFor(id, buyer.address, "USDT");
  expect(option.actions.map((a) => a.data.method)).toEqual([
    "eth_sendTransaction",
    "eth_signTypedData_v4",
  ]);
  const [, sign] = option.actions;
  if (sign === undefined) throw new Error("no action");
  // The approval is only claimed, never sent: the worker waits for the allowance itself.
  const signature = await api().execute(sign, buyer.key);
  const confirmed = await api().confirm(id, option.id, [`0x${"ab".repeat(32)}`, signature]);
  expect([confirmed.status, confirmed.body.status]).toEqual([200, "processing"]);
  await rpc(chain().url, "evm_increaseTime", [3_000]);
  const done = await final(id);
  expect(done.body).toMatchObject({ status: "failed", failureCode: "authorization_expired" });
});
