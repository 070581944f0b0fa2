import type { BrowserContext, Page } from "@playwright/test";
import {
  type Abi,
  createPublicClient,
  createWalletClient,
  getAddress,
  type Hex,
  parseAbi,
} from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { compileContracts } from "#server/sandbox/compile.ts";
import { asOwner, type FeedName, fundGas, mint } from "#server/sandbox/deploy.ts";
import { minedOn, nodeTransport, rpc } from "#server/sandbox/node-rpc.ts";
import { type Demo, seedMerchant } from "#server/sandbox/seed.ts";
import { nativeAsset } from "#server/sandbox/world-registry.ts";
import { type Answer, call, until } from "#server/testing/api.ts";
import { endsIn } from "#server/testing/unguarded.ts";
import { createTestWorld, type TestServer, type TestWorld } from "#server/testing/world.ts";
import { createApiClient } from "#server/trpc/client.ts";
import { type EvmWallet, injectEvmWallet } from "./evm-wallet.ts";

/** A payment as the shop made it; `url` is its checkout page. */
export type MadePayment = { id: string; url: string; merchant: Merchant };
export type Merchant = Demo["merchants"][number];
export type Account = { key: Hex; address: Hex };

/** A shop, its service with all pages, its chain and its buyers. */
export type CheckoutWorld = {
  world: TestWorld;
  server: TestServer;
  baseUrl: string;
  merchants: { plain: Merchant; collecting: Merchant; proving: Merchant };
  create(options?: {
    /** In minor units of `unit`; 12.50 by default. */
    value?: string;
    unit?: string;
    merchant?: Merchant;
    redirect?: { successUrl: string; errorUrl: string };
  }): Promise<MadePayment>;
  /** Lets a payment's time be over in so many seconds. */
  closesIn(payment: MadePayment, seconds: number): Promise<void>;
  /** Stops the chain from making blocks; what it gives lets it go on. */
  holdBlocks(): Promise<() => Promise<void>>;
  /** A new account with these units of tokens, and 1,000 coins unless it is to have none. */
  account(holds?: { usdc?: bigint; usdt?: bigint; coins?: boolean }): Promise<Account>;
  /** A contract wallet of a new key, with these units of USDC. */
  contractAccount(usdc: bigint): Promise<Account & { contract: Hex }>;
  /** What an account holds of a token, in minor units. */
  holds(token: "usdc" | "usdt", address: Hex): Promise<bigint>;
  /** Puts a wallet of a buyer into a browser; it is on another network at first. */
  wallet(context: BrowserContext, account: Account & { contract?: Hex }): Promise<EvmWallet>;
  /** Asks until the payment has this status; gives the answer. */
  reaches(payment: MadePayment, status: string): Promise<Answer>;
  details(payment: MadePayment): Promise<Answer>;
  cancel(payment: MadePayment): Promise<Answer>;
  setPrice(feed: FeedName, answer: bigint, updatedAt?: bigint): Promise<unknown>;
  /** Asks until an account is offered to pay exactly this, in minor units of USDC. */
  offers(payment: MadePayment, account: Account, value: bigint): Promise<unknown>;
};

/** Pace of the Solana chain: what is built for a wallet lives 150 slots. */
const SLOT_MS = 100;
const TOKEN = parseAbi(["function balanceOf(address) view returns (uint256)"]);
const FINAL = new Set(["succeeded", "failed", "expired", "cancelled"]);

const headersOf = ({ id, apiKey }: Merchant) => ({ "Api-Key": apiKey, "Merchant-Id": id });

async function makeMerchants(world: TestWorld): Promise<CheckoutWorld["merchants"]> {
  const { demo, db } = world;
  const { pepper } = world.world.memory;
  const assets = world.world.chains.flatMap(({ caip2 }, index) => [
    world.asset("usdc", index),
    world.asset("usdt", index),
    nativeAsset(caip2),
  ]);
  const make = async (name: string, column: string) => {
    const at = { partnerId: demo.partnerId, pepper, assets };
    const merchant = await seedMerchant(db, at, { name, flow: "intermediary" });
    await db.query(`update merchant set ${column} where id = $1`, [merchant.id]);
    return merchant;
  };
  const [plain] = demo.merchants;
  if (plain === undefined) throw new Error("no merchant");
  return {
    plain,
    collecting: await make("Careful Shop", "collect_when = 'always'"),
    proving: await make("Doubting Shop", "prove_ownership = true"),
  };
}

/** Starts a shop with all pages, in a world with one chain or with every kind of chain that a sandbox has. */
export async function openCheckoutWorld(chains: "one" | "every"): Promise<CheckoutWorld> {
  const world = await createTestWorld({
    native: true,
    ...(chains === "one" ? {} : { chains: 2, solana: { slotMs: SLOT_MS } }),
  });
  try {
    const merchants = await makeMerchants(world);
    const server = await world.startServer({ pages: true });
    return checkoutWorld(world, server, merchants);
  } catch (error) {
    await world.stop();
    throw error;
  }
}

function checkoutWorld(
  world: TestWorld,
  server: TestServer,
  merchants: CheckoutWorld["merchants"],
): CheckoutWorld {
  const { baseUrl } = server;
  const [chain] = world.world.chains;
  if (chain === undefined) throw new Error("no chain");
  const { deployment } = chain;
  const { rpcUrl, chainId } = chain.anvil;
  const reader = createPublicClient({ transport: nodeTransport(rpcUrl), pollingInterval: 100 });
  const pages = createApiClient(baseUrl);
  const details = ({ id, merchant }: MadePayment) =>
    call(baseUrl, "GET", `/v1/payments/${id}`, { headers: headersOf(merchant) });
  return {
    world,
    server,
    baseUrl,
    merchants,
    details,
    create: async (options = {}) => {
      const { value = "1250", unit = "iso4217/USD", merchant = merchants.plain } = options;
      const { redirect } = options;
      const answer = await call(baseUrl, "POST", "/v1/payments", {
        headers: headersOf(merchant),
        body: {
          amount: { unit, value },
          referenceId: "order-1",
          ...(redirect === undefined ? {} : { checkout: redirect }),
        },
      });
      if (answer.status !== 201) throw new Error(answer.text);
      const id: string = answer.body.paymentId;
      return { id, url: `${baseUrl}/${id}`, merchant };
    },
    closesIn: ({ id }, seconds) => endsIn(world.db, id, seconds),
    holdBlocks: async () => {
      await rpc(rpcUrl, "evm_setIntervalMining", [0]);
      return async () => void (await rpc(rpcUrl, "evm_setIntervalMining", [1]));
    },
    account: async ({ usdc = 0n, usdt = 0n, coins = true } = {}) => {
      const key = generatePrivateKey();
      const { address } = privateKeyToAccount(key);
      if (coins) await fundGas(rpcUrl, address);
      if (usdc > 0n) await mint(rpcUrl, deployment, "usdc", address, usdc);
      if (usdt > 0n) await mint(rpcUrl, deployment, "usdt", address, usdt);
      return { key, address };
    },
    holds: (token, address) =>
      reader.readContract({
        address: deployment[token],
        abi: TOKEN,
        functionName: "balanceOf",
        args: [address],
      }),
    contractAccount: async (usdc) => {
      const key = generatePrivateKey();
      const account = privateKeyToAccount(key);
      const { address } = account;
      await fundGas(rpcUrl, address);
      const { abi, bytecode } = compileContracts().SandboxWallet;
      const deployer = createWalletClient({ account, transport: nodeTransport(rpcUrl) });
      const args = [address] as const;
      const hash = await deployer.deployContract({ abi: abi as Abi, bytecode, args, chain: null });
      const { contractAddress } = await minedOn(rpcUrl, hash);
      if (contractAddress === null) throw new Error("no contract wallet");
      const contract = getAddress(contractAddress);
      await mint(rpcUrl, deployment, "usdc", contract, usdc);
      return { key, address, contract };
    },
    wallet: (context, { key, contract }) =>
      injectEvmWallet(context, {
        key,
        chains: [{ id: chainId, rpcUrl }],
        ...(contract === undefined ? {} : { contract }),
      }),
    reaches: (payment, status) =>
      until(
        () => details(payment),
        ({ body }) => {
          if (body.status !== status && FINAL.has(body.status))
            throw new Error(`ended as ${body.status}, not ${status}`);
          return body.status === status;
        },
        30_000,
      ),
    cancel: ({ id, merchant }) =>
      call(baseUrl, "POST", `/v1/payments/${id}/cancel`, { headers: headersOf(merchant) }),
    setPrice: async (feed, answer, updatedAt = 0n) => {
      const signature = "function setAnswer(int256 answer, uint256 updatedAt)";
      await asOwner(rpcUrl, deployment, deployment.feeds[feed], signature, [answer, updatedAt]);
      return rpc(rpcUrl, "eth_blockNumber");
    },
    offers: ({ id }, { address }, value) =>
      until(
        () => pages.checkout.options.query({ id, accounts: [`${chain.caip2}:${address}`] }),
        ({ options }) =>
          options.some(({ money }) => money.symbol === "USDC" && money.value === String(value)),
      ),
  };
}

/** Everything a page asked of other origins than its own and the test's; must stay empty. */
export function foreignRequests(page: Page, baseUrl: string): string[] {
  const { origin } = new URL(baseUrl);
  const foreign: string[] = [];
  page.on("request", (request) => {
    const url = request.url();
    if (url.startsWith("http") && new URL(url).origin !== origin) foreign.push(url);
  });
  return foreign;
}
