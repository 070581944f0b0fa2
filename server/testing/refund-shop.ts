import { createWalletClient, type Hex, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { openContext } from "#server/cli/invariants/open.ts";
import { inWords, runChecks } from "#server/cli/invariants/run.ts";
import { readSettings } from "#server/cli/invariants/settings.ts";
import { asOwner, fundGas, mint } from "#server/sandbox/deploy.ts";
import { nodeTransport, rpc } from "#server/sandbox/node-rpc.ts";
import { seedMerchant } from "#server/sandbox/seed.ts";
import { type Answer, actors, call, until } from "./api.ts";
import type { TestWorld } from "./world.ts";

const CHAIN = "eip155:31337";
/** How long batched settlements wait in worlds of these tests: until a test lets them go. */
export const BATCH_S = "3600";
/** 12.50 USD in USDC. */
export const PAID = 12_500_000n;

/** A merchant whose destination's key the test has. */
export type Merchant = { id: string; key: Hex; account: string; headers: Record<string, string> };

/** What merchants, buyers and their wallets do about refunds in one world. */
export function refundActors(world: TestWorld, baseUrl: () => string) {
  const api = actors(world, baseUrl);
  const chain = () => {
    const found = world.world.chains[0];
    if (found === undefined) throw new Error("no chain");
    return { url: found.anvil.rpcUrl, ...found.deployment };
  };
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

  const mineEvery = (seconds: number) => rpc(chain().url, "evm_setIntervalMining", [seconds]);

  const rows = <Row = Record<string, string>>(text: string, values: unknown[] = []) =>
    world.db.query<Row>(text, values);

  async function balance(account: string): Promise<bigint> {
    const data = `0x70a08231${account.toLowerCase().slice(2).padStart(64, "0")}`;
    return BigInt(
      await rpc<string>(chain().url, "eth_call", [{ to: chain().usdc, data }, "latest"]),
    );
  }

  /** A payment of 12.50 USD whose money was taken from the buyer, as far as the service can do that. */
  async function confirmed(shop: Merchant, buyer: { key: Hex }): Promise<string> {
    const made = await call(baseUrl(), "POST", "/v1/merchant/payment", {
      headers: shop.headers,
      body: { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-1" },
    });
    const id = String(made.body.paymentId);
    const answer = await api.pay(id, buyer.key, "USDC");
    expect(answer.status, answer.text).toBe(200);
    return id;
  }

  const succeeded = (id: string) =>
    until(
      () => api.status(id, 2_000),
      ({ body }) => body.status === "succeeded",
    );

  /** A succeeded payment of 12.50 USD whose capture is final. */
  async function paid(shop: Merchant) {
    const buyer = await newBuyer();
    const id = await confirmed(shop, buyer);
    await succeeded(id);
    await until(
      () => rows(`select 1 from capture where payment_id = $1 and status = 'finalized'`, [id]),
      (found) => found.length === 1,
    );
    return { id, buyer };
  }

  /** Until an intent has been sent. */
  const sent = (column: "id" | "payment_id", value: string) =>
    until(
      () =>
        rows(`select 1 from chain_intent where ${column} = $1 and state = 'broadcast'`, [value]),
      (found) => found.length === 1,
    );

  /** As `paid`, but the capture is in the newest block; no further one is made until the test lets the chain go on. */
  async function paidInNewestBlock(shop: Merchant) {
    const buyer = await newBuyer();
    await mineEvery(0);
    const id = await confirmed(shop, buyer);
    await sent("payment_id", id);
    await rpc(chain().url, "evm_mine");
    await succeeded(id);
    return { id, buyer };
  }

  const refund = (shop: Merchant, body: object, headers = {}): Promise<Answer> =>
    call(baseUrl(), "POST", "/v1/refunds", { headers: { ...shop.headers, ...headers }, body });

  const read = (shop: Merchant, id: string): Promise<Answer> =>
    call(baseUrl(), "GET", `/v1/refunds/${id}`, { headers: shop.headers });

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
  async function send(
    shop: Merchant,
    transfer: { params: [{ to: Hex; data: Hex; from: string }] },
  ) {
    const [tx] = transfer.params;
    expect(tx.from).toBe(shop.account);
    const account = privateKeyToAccount(shop.key);
    const wallet = createWalletClient({ account, transport: nodeTransport(chain().url) });
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

  /** Sends a denial that comes before whatever else waits for the next block. */
  async function denyFirst(account: Hex): Promise<void> {
    const wallet = createWalletClient({
      account: privateKeyToAccount(chain().ownerKey),
      transport: nodeTransport(chain().url),
    });
    await wallet.writeContract({
      address: chain().usdc,
      abi: parseAbi(["function setBlacklisted(address account, bool listed)"]),
      functionName: "setBlacklisted",
      args: [account, true],
      maxPriorityFeePerGas: 50_000_000_000n,
      maxFeePerGas: 100_000_000_000n,
      chain: null,
    });
  }

  /** Every invariant holds once nothing is under way. */
  async function expectInvariants(): Promise<void> {
    await until(
      () => rows(`select 1 from chain_intent where state in ('signed', 'broadcast', 'mined')`),
      (open) => open.length === 0,
    );
    const settings = readSettings({ ...world.world.serverEnv, FLORIN_SETTLEMENT_BATCH_S: BATCH_S });
    const { context, close } = await openContext(settings);
    const lines = await runChecks(context, () => undefined).finally(close);
    expect(lines.filter(({ outcome }) => outcome === "violated").map(inWords)).toEqual([]);
    const aside = await rows(
      `select coalesce(sum(balance), 0) as sum from ledger_account where kind = 'suspense'`,
    );
    expect(aside).toEqual([{ sum: "0" }]);
  }
  return {
    newMerchant,
    newBuyer,
    rows,
    balance,
    paid,
    paidInNewestBlock,
    sent,
    refund,
    read,
    becomes,
    settlements,
    letGo,
    settledAs,
    topics,
    send,
    denied,
    denyFirst,
    chain,
    mineEvery,
    expectInvariants,
  };
}
