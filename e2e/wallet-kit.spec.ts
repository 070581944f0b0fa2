import { randomBytes } from "node:crypto";
import { expect } from "@playwright/test";
import { getBase64EncodedWireTransaction } from "@solana/kit";
import type { Hex } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { fundGas } from "#server/sandbox/deploy.ts";
import { minedOn } from "#server/sandbox/node-rpc.ts";
import { test } from "./fixtures.ts";
import { injectEvmWallet } from "./wallets/evm-wallet.ts";
import {
  type Call,
  CHAIN,
  chainOf,
  connect,
  execute,
  isSigned,
  sendFrom,
  signOn,
  typedData,
} from "./wallets/kit-driver.ts";
import { isSignedBy, issue } from "./wallets/solana-transaction.ts";
import { injectSolanaWallet } from "./wallets/solana-wallet.ts";

// Guarantee: a wallet of the browser is found, asked only when it is chosen, moved to the right network, and its signature and transaction are real.
test("an injected wallet signs and sends", async ({ page, context, kit, anvil }) => {
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
  expect((await minedOn(anvil.rpcUrl, hash as Hex)).status).toBe("0x1");
  const signed = wallet.calls.find(({ method }) => method === "eth_signTypedData_v4");
  expect(signed?.params).toEqual([wallet.address, JSON.stringify(typedData(31337))]);
});

// Guarantee: whatever a wallet does instead of signing, the checkout is told which of it happened, and a transaction that may be out is never called refused.
test("every way a wallet can fail has its name", async ({ page, context, kit, anvil }) => {
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
test("changes in the wallet are told", async ({ page, context, kit, anvil }) => {
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
test("the wallet code stays small", async ({ page, context, kit, anvil }) => {
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

// Guarantee: a Solana wallet signs exactly the bytes it was given.
test("a Wallet Standard wallet signs a Solana transaction", async ({ page, context, kit }) => {
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
