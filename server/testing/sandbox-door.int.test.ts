import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { newSolanaKey } from "#server/sandbox/solana-world.ts";
import { refusalOf } from "#server/trpc/client.ts";
import { CHAIN, checkoutPages, type PageBuyer, refusal } from "./checkout-pages.ts";
import { solanaShop } from "./solana.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const pages = () => checkoutPages(world, () => server.baseUrl);

beforeAll(async () => {
  world = await createTestWorld({ chains: 2 });
  server = await world.startServer();
});
afterAll(() => world?.stop());

function stranger(): PageBuyer {
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  return { key, address, account: `${CHAIN}:${address}` };
}

// Guarantee: a wallet nobody knew can pay with either token on either chain once it was funded; several at once are served too.
test("fund", async () => {
  const buyers = [stranger(), stranger(), stranger()];
  const { sandbox } = pages().client();
  const given = await Promise.all(
    buyers.map(({ address }) => sandbox.fund.mutate({ address, family: "eip155" })),
  );
  expect(given[0]).toEqual({
    funded: [
      { chain: "eip155:31337", symbols: ["ETH", "USDC", "USDT"] },
      { chain: "eip155:31338", symbols: ["ETH", "USDC", "USDT"] },
    ],
  });
  for (const buyer of buyers) {
    const id = await pages().created({ value: "1250" });
    const accounts = [buyer.account, `eip155:31338:${buyer.address}`];
    const options = await pages().options(id, accounts, 4);
    expect(options.map(({ money }) => `${money.symbol} on ${money.network}`).toSorted()).toEqual([
      "USDC on Florin Sandbox A",
      "USDC on Florin Sandbox B",
      "USDT on Florin Sandbox A",
      "USDT on Florin Sandbox B",
    ]);
  }
});

// Guarantee: reads and signed transactions reach the chain that was named, with the node's own words; nothing else does.
test("rpc", async () => {
  const { sandbox } = pages().client();
  const ask = (method: string, params: unknown[] = [], chain = CHAIN) =>
    sandbox.rpc.mutate({ chain, method, params });
  expect(await ask("eth_chainId")).toEqual({ result: "0x7a69" });
  expect(await ask("eth_chainId", [], "eip155:31338")).toEqual({ result: "0x7a6a" });
  const missing = `0x${"0".repeat(64)}`;
  expect(await ask("eth_getTransactionReceipt", [missing])).toEqual({ result: null });
  expect(await ask("eth_sendRawTransaction", ["0x00"])).toMatchObject({
    error: { code: expect.any(Number), message: expect.any(String) },
  });
  for (const method of ["anvil_setBalance", "evm_mine", "eth_sendTransaction", "eth_accounts", ""])
    expect((await refusal(ask(method))).code, method).toBe("forbidden");
  expect((await refusal(ask("eth_chainId", [], "eip155:1"))).code).toBe("not_found");
});

// Guarantee: what is no address is refused, and so is more money than a minute's.
test("limits of the faucet", async () => {
  const { sandbox } = pages().client();
  const bad = sandbox.fund.mutate({ address: "0x1", family: "eip155" });
  expect(await refusal(bad)).toMatchObject({ code: "params_validation", status: 400 });
  const { address } = stranger();
  const many = Array.from({ length: 70 }, async () =>
    sandbox.fund.mutate({ address, family: "eip155" }).catch((error: unknown) => error),
  );
  const refused = (await Promise.all(many)).map(refusalOf);
  expect(refused.find((one) => one?.code === "rate_limited")).toMatchObject({
    status: 429,
    retryable: true,
  });
});

// Guarantee: outside a sandbox there is no faucet and no way to a node, and a server that is given a faucet's key does not start.
test("no sandbox", async () => {
  const staging = await world.startServer({ env: { FLORIN_MODE: "staging" } });
  const { sandbox } = checkoutPages(world, () => staging.baseUrl).client();
  const { address } = stranger();
  for (const call of [
    () => sandbox.fund.mutate({ address, family: "eip155" }),
    () => sandbox.rpc.mutate({ chain: CHAIN, method: "eth_chainId", params: [] }),
  ])
    expect(await refusal(call())).toMatchObject({ code: "not_found", status: 404 });
  const start = world.startServer({
    env: { FLORIN_MODE: "staging", FLORIN_FAUCET_KEY_31337: `0x${"1".repeat(64)}` },
  });
  await expect(start).rejects.toThrow(/FLORIN_FAUCET_KEY_31337.*sandbox mode only/);
});

// Guarantee: a new Solana account has coin and tokens on the chain after one call, can pay with both, and no EVM address passes for one.
test("fund on Solana", async () => {
  const own = await createTestWorld({ solana: { slotMs: 250 } });
  try {
    const solana = await own.startServer();
    const { chain, lamports, tokens, created } = solanaShop(own, () => solana);
    const { caip2 } = chain();
    const { address } = newSolanaKey();
    const shop = checkoutPages(own, () => solana.baseUrl);
    const { sandbox } = shop.client();
    expect(await sandbox.fund.mutate({ address, family: "solana" })).toEqual({
      funded: [{ chain: caip2, symbols: ["SOL", "USDC"] }],
    });
    expect(await lamports(address)).toBe(5_000_000_000n);
    expect(await tokens(address)).toBe(10_000_000_000n);
    const accounts = [`${caip2}:${address}`];
    const options = await shop.options(await created(), accounts, 2);
    expect(options.map(({ money }) => money.symbol).toSorted()).toEqual(["SOL", "USDC"]);
    const { address: other } = stranger();
    const bad = sandbox.fund.mutate({ address: other, family: "solana" });
    expect(await refusal(bad)).toMatchObject({ code: "params_validation", status: 400 });
  } finally {
    await own.stop();
  }
});
