import { createWalletClient, type Hex, maxUint256, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { fundGas, mint, PERMIT2_ADDRESS } from "#server/sandbox/deploy.ts";
import { nodeTransport, rpc } from "#server/sandbox/node-rpc.ts";
import { seedMerchant } from "#server/sandbox/seed.ts";
import { type Answer, type actors, until } from "./api.ts";
import type { TestWorld } from "./world.ts";

/** A buyer with tokens on every chain of the world. */
export type Shopper = { key: Hex; address: Hex };

/** A merchant and its terms, as the test knows them. */
export type Shop = {
  id: string;
  apiKey: string;
  destination: string;
  flow: "intermediary" | "direct";
  feeBps: bigint;
  batched: boolean;
};

/** One payment a shopper is to make; `id`, `option` and `outputs` fill as it goes on. */
export type Purchase = {
  /** Its Idempotency-Key. */
  key: string;
  shop: Shop;
  shopper: Shopper;
  /** Index of the chain. */
  chain: number;
  symbol: "USDC" | "USDT";
  cents: number;
  id: string;
  option: Option | null;
  outputs: string[] | null;
};

type Api = ReturnType<typeof actors>;
type Option = { id: string; actions: Parameters<Api["execute"]>[0][] };

const APPROVE = parseAbi(["function approve(address spender, uint256 value)"]);
/** 10,000 whole tokens. */
const TOKENS = 10_000_000_000n;
/** The smallest amount of a purchase; with the dollars added below it all stay under 20 USD, where one confirmation is enough. */
const FIRST_CENTS = 1_000;
const MOST_CENTS = 1_999;

/** The demo's merchants, and one that is settled in batches and pays 1 %. */
export async function openShops(world: TestWorld): Promise<Shop[]> {
  const { partnerId, merchants } = world.demo;
  const assets = world.world.chains.flatMap((_, chain) => [
    world.asset("usdc", chain),
    world.asset("usdt", chain),
  ]);
  const collecting = await seedMerchant(
    world.db,
    { partnerId, pepper: world.world.memory.pepper, assets },
    { name: "Batch Shop", flow: "intermediary", feeBps: 100, schedule: "batched" },
  );
  return [
    ...merchants.map((merchant) => ({
      ...merchant,
      feeBps: merchant.flow === "direct" ? 0n : 40n,
      batched: false,
    })),
    { ...collecting, feeBps: 100n, batched: true },
  ];
}

/**
 * Makes buyers with gas and both tokens. `allowed`: each let Permit2 take USDT once and for all, as buyers who come again have;
 * the others approve each purchase. Blocks are made on demand meanwhile.
 */
export async function inviteShoppers(
  world: TestWorld,
  count: number,
  { allowed }: { allowed: boolean },
): Promise<Shopper[]> {
  const shoppers = Array.from({ length: count }, () => {
    const key = generatePrivateKey();
    return { key, address: privateKeyToAccount(key).address };
  });
  const equip = async ({ anvil: { rpcUrl }, deployment }: TestWorld["world"]["chains"][number]) => {
    await rpc(rpcUrl, "evm_setIntervalMining", [0]);
    await rpc(rpcUrl, "evm_setAutomine", [true]);
    for (const { key, address } of shoppers) {
      await fundGas(rpcUrl, address);
      await mint(rpcUrl, deployment, "usdc", address, TOKENS);
      await mint(rpcUrl, deployment, "usdt", address, TOKENS);
      if (!allowed) continue;
      const wallet = createWalletClient({
        account: privateKeyToAccount(key),
        transport: nodeTransport(rpcUrl),
      });
      await wallet.writeContract({
        address: deployment.usdt,
        abi: APPROVE,
        functionName: "approve",
        args: [PERMIT2_ADDRESS, maxUint256],
        chain: null,
      });
    }
    await rpc(rpcUrl, "evm_setAutomine", [false]);
    await rpc(rpcUrl, "evm_setIntervalMining", [1]);
  };
  await Promise.all(world.world.chains.map(equip));
  return shoppers;
}

/** Plans purchases over every shop, chain and token in turn, each of another amount where there are not too many. */
export function planPurchases(
  world: TestWorld,
  shops: Shop[],
  shoppers: Shopper[],
  options: { count: number; name: string; symbol?: "USDT" },
): Purchase[] {
  const chains = world.world.chains.length;
  const at = <T>(list: readonly T[], index: number): T => {
    const found = list[index % list.length];
    if (found === undefined) throw new Error("nothing to choose from");
    return found;
  };
  return Array.from({ length: options.count }, (_, n) => ({
    key: `${options.name}-${n}`,
    shop: at(shops, n),
    shopper: at(shoppers, n),
    chain: Math.floor(n / shops.length) % chains,
    symbol:
      options.symbol ?? at(["USDC", "USDT"] as const, Math.floor(n / (shops.length * chains))),
    cents: FIRST_CENTS + (n % (MOST_CENTS - FIRST_CENTS + 1)),
    id: "",
    option: null,
    outputs: null,
  }));
}

/** Works on all of `items`, `atOnce` at a time. */
export async function inLanes<T>(
  items: readonly T[],
  atOnce: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  const waiting = items.values();
  const lane = async () => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: atOnce }, lane));
}

/** Asks for an answer in a client's own way; the plain one asks once. */
export type Ask = (call: () => Promise<Answer>) => Promise<Answer>;
const once: Ask = (call) => call();

function expectStatus(answer: Answer, status: number, purchase: Purchase): void {
  if (answer.status !== status)
    throw new Error(`${purchase.key}: ${answer.status} instead of ${status}: ${answer.text}`);
}

/** A merchant's credentials, as it sends them. */
export const headersOf = ({ apiKey, id }: Shop) => ({ "Api-Key": apiKey, "Merchant-Id": id });

/** The merchant's part: creates the payment under its key. */
export async function createPurchase(api: Api, purchase: Purchase, ask = once): Promise<void> {
  const { shop, cents, key } = purchase;
  const headers = { ...headersOf(shop), "Idempotency-Key": key };
  const answer = await ask(() => api.create({ value: `${cents}`, headers }));
  expectStatus(answer, 201, purchase);
  purchase.id = answer.body.paymentId;
}

/** The buyer's choice. A chain that was too busy to answer offers nothing at that moment, so a wallet asks again. */
export async function choosePurchase(
  world: TestWorld,
  api: Api,
  purchase: Purchase,
  ask = once,
): Promise<void> {
  const { shopper, chain, symbol, id } = purchase;
  const account = `${world.world.chains[chain]?.caip2}:${shopper.address}`;
  const listed = await until(
    () => ask(() => api.options(id, [account])),
    ({ status, body }) => status !== 200 || body.options.length > 0,
    20_000,
  );
  expectStatus(listed, 200, purchase);
  const found = listed.body.options.find(
    (o: { amount: { display: { assetSymbol: string } } }) =>
      o.amount.display.assetSymbol === symbol,
  );
  if (found === undefined) throw new Error(`${purchase.key}: no ${symbol}: ${listed.text}`);
  purchase.option = found;
}

/** The buyer's part: executes the option's actions, once only. */
export async function signPurchase(api: Api, purchase: Purchase): Promise<string[]> {
  if (purchase.outputs !== null) return purchase.outputs;
  const outputs: string[] = [];
  for (const action of purchase.option?.actions ?? [])
    outputs.push(await api.execute(action, purchase.shopper.key));
  purchase.outputs = outputs;
  return outputs;
}

/** Hands in what was signed. */
export async function confirmPurchase(api: Api, purchase: Purchase, ask = once): Promise<void> {
  const outputs = await signPurchase(api, purchase);
  const answer = await ask(() => api.confirm(purchase.id, purchase.option?.id ?? "", outputs));
  expectStatus(answer, 200, purchase);
}
