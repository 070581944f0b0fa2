import { randomBytes } from "node:crypto";
import AxeBuilder from "@axe-core/playwright";
import { test as base, expect, type Page } from "@playwright/test";
import {
  type Address,
  appendTransactionMessageInstruction,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getBase64Encoder,
  getPublicKeyFromAddress,
  getTransactionDecoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  verifySignature,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";
import { type Hex, verifyTypedData } from "viem";
import { generatePrivateKey } from "viem/accounts";
import type { WalletChain, WalletSession } from "#components/wallet/kit.ts";
import { type Anvil, startAnvil } from "#server/sandbox/anvil.ts";
import { fundGas, rpc } from "#server/sandbox/deploy.ts";
import { until } from "#server/testing/api.ts";
import { type BuiltKit, buildKit } from "./wallets/build-kit.ts";
import { injectEvmWallet } from "./wallets/evm-wallet.ts";
import { injectSolanaWallet } from "./wallets/solana-wallet.ts";

const test = base.extend<object, { kit: BuiltKit; anvil: Anvil }>({
  kit: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads fixtures from this pattern.
    async ({}, use) => use(await buildKit()),
    { scope: "worker", timeout: 60_000 },
  ],
  anvil: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads fixtures from this pattern.
    async ({}, use) => {
      const anvil = await startAnvil({ chainId: 31337 });
      await use(anvil);
      await anvil.stop();
    },
    { scope: "worker" },
  ],
});

const CHAIN = "eip155:31337";

const chainOf = (caip2: string, rpcUrl: string | null = null): WalletChain => ({
  caip2,
  name: `Chain ${caip2}`,
  native: { name: "Ether", symbol: "ETH", decimals: 18 },
  rpcUrl,
  explorerUrl: null,
});

const typedData = (chainId: number) => ({
  types: {
    EIP712Domain: [
      { name: "name", type: "string" },
      { name: "chainId", type: "uint256" },
    ],
    Payment: [
      { name: "to", type: "address" },
      { name: "value", type: "uint256" },
    ],
  },
  domain: { name: "USD Coin", chainId },
  primaryType: "Payment" as const,
  message: { to: "0x00000000000000000000000000000000000000ff" as Hex, value: "12500000" },
});

type Call = Parameters<WalletSession["execute"]>[0];

/** Lets the connected wallet execute one call for an account of CAIP-10. */
const execute = (page: Page, call: Call, account: string) =>
  page.evaluate(([data, context]) => window.kit.execute(data, context), [
    call,
    { account, index: 0, total: 1 },
  ] as [Call, { account: string; index: 0; total: 1 }]);

/** Asks the connected wallet for a signature over the usual typed data. */
const signOn = (page: Page, address: string) => {
  const params = [address, JSON.stringify(typedData(31337))];
  const call: Call = { chain_id: CHAIN, method: "eth_signTypedData_v4", params };
  return execute(page, call, `${CHAIN}:${address}`);
};

const sendFrom = (page: Page, from: string, value: string) => {
  const params = [{ from, to: "0x00000000000000000000000000000000000000ff", value, data: "0x" }];
  const call: Call = { chain_id: CHAIN, method: "eth_sendTransaction", params };
  return execute(page, call, `${CHAIN}:${from}`);
};

const connect = (page: Page, id: string, chains: WalletChain[]) =>
  page.evaluate(([wallet, known]) => window.kit.connect(wallet, known), [id, chains] as const);

const isSigned = (address: Hex, signature: unknown) => {
  const { EIP712Domain: _, ...types } = typedData(31337).types;
  return verifyTypedData({
    ...typedData(31337),
    types,
    message: { ...typedData(31337).message, value: 12_500_000n },
    address,
    signature: signature as Hex,
  });
};

// Guarantee: a wallet of the browser is found, asked only when it is chosen, moved to the right network, and its signature and transaction are real.
test("an injected wallet signs and sends", { tag: "@desk" }, async ({
  page,
  context,
  kit,
  anvil,
}) => {
  const key = generatePrivateKey();
  const wallet = await injectEvmWallet(context, { key, chains: [{ id: 1, rpcUrl: "" }] });
  await fundGas(anvil.rpcUrl, wallet.address);
  const fetched = await kit.serve(context);
  await page.goto(kit.url);
  expect(await page.evaluate(() => window.kit.wallets())).toMatchObject([
    { id: "test.florin.wallet", name: "Test Wallet", family: "eip155", source: "injected" },
  ]);
  expect(wallet.calls).toEqual([]);
  expect(fetched).toHaveLength(1);

  const chains = [chainOf(CHAIN, anvil.rpcUrl), chainOf("eip155:31338")];
  const accounts = await connect(page, "test.florin.wallet", chains);
  expect(accounts).toEqual([`${CHAIN}:${wallet.address}`, `eip155:31338:${wallet.address}`]);
  expect(await page.evaluate(() => window.kit.chain())).toBe("eip155:1");
  expect(await signOn(page, wallet.address)).toMatchObject({ kind: "wrong_chain" });
  expect(wallet.count("eth_signTypedData_v4")).toBe(0);
  await page.evaluate((chain) => window.kit.switchTo(chain), CHAIN);
  expect(wallet.chainId()).toBe(31337);
  expect(await page.evaluate(() => window.kit.switchTo("eip155:31338"))).toMatchObject({
    kind: "unsupported_chain",
  });

  const signature = await signOn(page, wallet.address);
  expect(await isSigned(wallet.address, signature)).toBe(true);
  const hash = await sendFrom(page, wallet.address, "0x7b");
  const receipt = await until(
    () => rpc<{ status: string } | null>(anvil.rpcUrl, "eth_getTransactionReceipt", [hash]),
    (found) => found !== null,
    10_000,
  );
  expect(receipt?.status).toBe("0x1");
  const signed = wallet.calls.find(({ method }) => method === "eth_signTypedData_v4");
  expect(signed?.params).toEqual([wallet.address, JSON.stringify(typedData(31337))]);
});

// Guarantee: whatever a wallet does instead of signing, the checkout is told which of it happened, and a transaction that may be out is never called refused.
test("every way a wallet can fail has its name", { tag: "@desk" }, async ({
  page,
  context,
  kit,
  anvil,
}) => {
  const key = generatePrivateKey();
  const wallet = await injectEvmWallet(context, {
    key,
    chains: [{ id: 31337, rpcUrl: anvil.rpcUrl }],
    startsOn: 31337,
  });
  await fundGas(anvil.rpcUrl, wallet.address);
  await kit.serve(context);
  await page.goto(kit.url);
  const chains = [chainOf(CHAIN)];
  wallet.refuseNext("eth_requestAccounts");
  expect(await connect(page, "test.florin.wallet", chains)).toMatchObject({ kind: "refused" });
  wallet.refuseNext("eth_requestAccounts", -32002, "Already processing");
  expect(await connect(page, "test.florin.wallet", chains)).toMatchObject({ kind: "busy" });
  expect(await connect(page, "no such wallet", chains)).toMatchObject({ kind: "gone" });
  expect(await connect(page, "test.florin.wallet", chains)).toHaveLength(1);

  const send = () => sendFrom(page, wallet.address, "0x1");
  wallet.refuseNext("eth_signTypedData_v4");
  expect(await signOn(page, wallet.address)).toMatchObject({ kind: "refused" });
  wallet.refuseNext("eth_sendTransaction");
  expect(await send()).toMatchObject({ kind: "refused" });
  wallet.refuseNext("eth_sendTransaction", 0, "MetaMask Tx Signature: User denied transaction.");
  expect(await send()).toMatchObject({ kind: "refused" });
  wallet.refuseNext("eth_sendTransaction", -32603, "Internal error");
  expect(await send()).toMatchObject({ kind: "unknown" });
  wallet.refuseNext("eth_sendTransaction", -32002, "Already processing");
  expect(await send()).toMatchObject({ kind: "busy" });
  wallet.vanishNext("eth_sendTransaction");
  expect(await send()).toMatchObject({ kind: "unknown" });
  expect(await page.evaluate(() => window.kit.changes)).toContain("gone");
  expect(await signOn(page, wallet.address)).toMatchObject({ kind: "gone" });
});

// Guarantee: the checkout hears of another account and another network, and never has a signature of an account that is no longer shown.
test("changes in the wallet are told", { tag: "@desk" }, async ({ page, context, kit, anvil }) => {
  const wallet = await injectEvmWallet(context, {
    key: generatePrivateKey(),
    chains: [{ id: 31337, rpcUrl: anvil.rpcUrl }],
    startsOn: 31337,
  });
  await kit.serve(context);
  await page.goto(kit.url);
  await connect(page, "test.florin.wallet", [chainOf(CHAIN)]);
  const before = wallet.address;
  await wallet.moveTo(1);
  expect(await page.evaluate(() => window.kit.changes)).toContain("chain");
  await wallet.moveTo(31337);
  await wallet.changeKey(generatePrivateKey());
  await expect.poll(() => page.evaluate(() => window.kit.changes)).toContain("accounts");
  expect(await page.evaluate((chain) => window.kit.accounts([chain]), CHAIN)).toEqual([
    `${CHAIN}:${wallet.address}`,
  ]);
  expect(await signOn(page, before)).toMatchObject({ kind: "gone" });
  await page.evaluate(() => window.kit.disconnect());
  expect(await page.evaluate(() => window.kit.changes)).not.toContain("gone");
});

// Guarantee: paying with a wallet of the browser costs a buyer at most 60 kB of code more, and who picks none pays nothing for it.
test("the wallet code stays small", { tag: "@desk" }, async ({ page, context, kit, anvil }) => {
  await injectEvmWallet(context, {
    key: generatePrivateKey(),
    chains: [{ id: 31337, rpcUrl: anvil.rpcUrl }],
  });
  const fetched = await kit.serve(context);
  await page.goto(kit.url);
  const first = fetched.length;
  expect(fetched.reduce((sum, { gzip }) => sum + gzip, 0)).toBeLessThan(5_000);
  await connect(page, "test.florin.wallet", [chainOf(CHAIN)]);
  const added = fetched.slice(first).reduce((sum, { gzip }) => sum + gzip, 0);
  expect(added).toBeLessThan(60_000);
});

/** A transaction an account has to sign. */
function issue(payer: Address) {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (made) => setTransactionMessageFeePayer(payer, made),
    (made) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: payer as unknown as Blockhash, lastValidBlockHeight: 1n },
        made,
      ),
    (made) =>
      appendTransactionMessageInstruction(
        getTransferSolInstruction({
          source: createNoopSigner(payer),
          destination: payer,
          amount: 1,
        }),
        made,
      ),
  );
  return compileTransaction(message);
}

const isSignedBy = async (address: Address, issued: ReturnType<typeof issue>, output: unknown) => {
  const signed = getTransactionDecoder().decode(getBase64Encoder().encode(String(output)));
  const signature = signed.signatures[address];
  if (signature == null) return false;
  expect(signed.messageBytes).toEqual(issued.messageBytes);
  return verifySignature(await getPublicKeyFromAddress(address), signature, issued.messageBytes);
};

// Guarantee: a Solana wallet signs exactly the bytes it was given.
test("a Wallet Standard wallet signs a Solana transaction", { tag: "@desk" }, async ({
  page,
  context,
  kit,
}) => {
  const wallet = await injectSolanaWallet(context, { seed: randomBytes(32) });
  await kit.serve(context);
  await page.goto(kit.url);
  const [info] = await page.evaluate(() => window.kit.wallets());
  expect(info).toMatchObject({ name: "Test Solana Wallet", family: "solana" });
  const cluster = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
  const id = info?.id ?? "";
  wallet.refuseNext();
  expect(await connect(page, id, [chainOf(cluster)])).toMatchObject({ kind: "refused" });
  const account = `${cluster}:${wallet.address}`;
  expect(await connect(page, id, [chainOf(cluster), chainOf(CHAIN)])).toEqual([account]);

  const issued = issue(wallet.address);
  const params = [{ transaction: getBase64EncodedWireTransaction(issued) }];
  const call: Call = { chain_id: cluster, method: "solana_signTransaction", params };
  const sign = () => execute(page, call, account);
  wallet.refuseNext();
  expect(await sign()).toMatchObject({ kind: "refused" });
  expect(await isSignedBy(wallet.address, issued, await sign())).toBe(true);
  expect(wallet.calls.at(-1)).toMatchObject({ kind: "sign", chain: "solana:mainnet" });
});

// Guarantee: the sandbox wallet has money after one click, shows what it signs, signs for real, and is the same after a reload.
test("the sandbox wallet asks, signs and stays", { tag: "@desk" }, async ({
  page,
  context,
  kit,
  anvil,
}) => {
  const funded: string[] = [];
  await context.exposeFunction("sandboxDoor", async (call: Record<string, never>) => {
    const { fund, rpc: asked } = call as {
      fund?: { address: Hex };
      rpc?: { chain: string; method: string; params: unknown[] };
    };
    if (fund !== undefined) {
      funded.push(fund.address);
      return fundGas(anvil.rpcUrl, fund.address);
    }
    return rpc(anvil.rpcUrl, asked?.method ?? "", asked?.params).then(
      (result) => ({ result }),
      ({ message }: Error) => ({ error: { code: -32000, message } }),
    );
  });
  await kit.serve(context);
  await page.goto(kit.url);
  const [account] = (await connect(page, "sandbox:eip155", [chainOf(CHAIN)])) as string[];
  const address = account?.split(":").at(-1) as Hex;
  expect(funded).toEqual([address]);

  const panel = page.getByRole("complementary", { name: "Sandbox wallet" });
  const answer = async (name: "Approve" | "Reject", asked: Promise<unknown>) => {
    await expect(panel.getByRole("heading")).toBeFocused();
    await panel.getByRole("button", { name }).click();
    return asked;
  };
  const asked = signOn(page, address);
  await expect(panel).toContainText("12500000");
  expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  expect(await isSigned(address, await answer("Approve", asked))).toBe(true);
  expect(await answer("Reject", signOn(page, address))).toMatchObject({ kind: "refused" });
  const hash = await answer("Approve", sendFrom(page, address, "0x7b"));
  await until(
    () => rpc(anvil.rpcUrl, "eth_getTransactionReceipt", [hash]),
    (found) => found !== null,
    10_000,
  );

  await panel.getByText("Settings").click();
  const behave = (name: string) => panel.getByRole("combobox").selectOption({ label: name });
  await behave("Refuses");
  expect(await signOn(page, address)).toMatchObject({ kind: "refused" });
  await behave("Signs without asking");
  expect(await isSigned(address, await signOn(page, address))).toBe(true);
  await behave("Signs for the wrong network");
  expect(await isSigned(address, await answer("Approve", signOn(page, address)))).toBe(false);
  await behave("Closes half way");
  expect(await answer("Approve", sendFrom(page, address, "0x1"))).toMatchObject({
    kind: "unknown",
  });
  await page.reload();
  expect(await connect(page, "sandbox:eip155", [chainOf(CHAIN)])).toEqual([account]);
  expect(funded).toEqual([address]);
  await expect(panel).toHaveCount(1);
});

// Guarantee: the sandbox wallet pays on Solana too, through the same window.
test("the sandbox wallet signs on Solana", { tag: "@desk" }, async ({ page, context, kit }) => {
  const funded: unknown[] = [];
  await context.exposeFunction("sandboxDoor", (asked: { fund: unknown }) =>
    funded.push(asked.fund),
  );
  await kit.serve(context);
  await page.goto(kit.url);
  const cluster = "solana:11111111111111111111111111111111";
  const accounts = await connect(page, "sandbox:solana", [chainOf(cluster)]);
  const account = (accounts as string[])[0] ?? "";
  const address = account.slice(cluster.length + 1) as Address;
  expect(funded).toEqual([{ address, family: "solana" }]);
  const issued = issue(address);
  const params = [{ transaction: getBase64EncodedWireTransaction(issued) }];
  const call: Call = { chain_id: cluster, method: "solana_signTransaction", params };
  const asked = execute(page, call, account);
  await page.getByRole("button", { name: "Approve" }).click();
  expect(await isSignedBy(address, issued, await asked)).toBe(true);
  expect(await page.evaluate(() => window.kit.wallets().length)).toBe(2);
  await page.reload();
  expect(await connect(page, "sandbox:solana", [chainOf(cluster)])).toEqual([account]);
});
