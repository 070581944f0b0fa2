import { randomBytes } from "node:crypto";
import { type BrowserContext, expect } from "@playwright/test";
import { rpc as solanaRpc } from "#server/sandbox/node-rpc.ts";
import { fundToken } from "#server/sandbox/solana-world.ts";
import { until } from "#server/testing/api.ts";
import { checkoutTest as test } from "./fixtures.ts";
import { buyerOn } from "./wallets/buyer.ts";
import type { CheckoutWorld } from "./wallets/checkout-world.ts";
import { injectSolanaWallet } from "./wallets/solana-wallet.ts";

const WALLET = "Test Solana Wallet";
const USDC = /12\.50 USDC/;

const chainOf = (shop: CheckoutWorld) => {
  const { solana } = shop.world.world;
  if (solana === null) throw new Error("this world has no Solana chain");
  return solana;
};

/** A wallet whose account holds 20 USDC and no SOL. */
async function holder(shop: CheckoutWorld, context: BrowserContext) {
  const wallet = await injectSolanaWallet(context, { seed: randomBytes(32), name: WALLET });
  const { rpcUrl, memory } = chainOf(shop);
  await fundToken(rpcUrl, wallet.address, memory.mint, 20_000_000n);
  const signatures = () => wallet.calls.filter(({ kind }) => kind === "sign").length;
  return { ...wallet, signatures };
}

// All in one worker: a world with every chain is started once.
test.describe.configure({ mode: "default" });

// Guarantee: a buyer without any SOL pays with one signature of a Solana wallet.
test("USDC on Solana", async ({ page, context, everyChain: shop }) => {
  const wallet = await holder(shop, context);
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  await buyer.pay(USDC, WALLET);
  await buyer.seesPaid();
  await shop.reaches(payment, "succeeded");
  expect(wallet.signatures()).toBe(1);
});

// Guarantee: a signature that does not verify is said to be that, and nothing was charged; the next one pays.
test("a bad signature", async ({ page, context, everyChain: shop }) => {
  const wallet = await holder(shop, context);
  wallet.spoilNext();
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  await buyer.pay(USDC, WALLET);
  await buyer.sees("The signature was not accepted");
  await buyer.reads(/Nothing was charged\. Try again or choose another wallet/);
  await buyer.click("Try again");
  await buyer.seesPaid();
  expect(wallet.signatures()).toBe(2);
});

// Guarantee: who signs when the transaction has nearly lapsed is asked once more, for a new one of the same amount, and is told why.
test("a late signature", async ({ page, context, everyChain: shop }) => {
  const wallet = await holder(shop, context);
  const release = wallet.holdNext();
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  await buyer.pay(USDC, WALLET);
  await buyer.sees(`Confirm in ${WALLET}`);
  await expect.poll(wallet.signatures).toBe(1);
  const node = <T>(method: string) => solanaRpc<T>(chainOf(shop).rpcUrl, method);
  const height = () => node<number>("getBlockHeight");
  const start = await height();
  await until(height, (now) => now - start > 140);
  // The second one must not lapse while it is looked at.
  await node("surfnet_pauseClock");
  try {
    const again = wallet.holdNext();
    release();
    await buyer.reads("Your last signature came too late. Nothing was charged");
    await buyer.sees(`Confirm in ${WALLET}`);
    await expect.poll(wallet.signatures).toBe(2);
    again();
  } finally {
    await node("surfnet_resumeClock");
  }
  await buyer.seesPaid();
  await shop.reaches(payment, "succeeded");
  expect(wallet.signatures()).toBe(2);
});

// Guarantee: who has no wallet pays on Solana with the sandbox wallet, which gets its money there.
test("the sandbox wallet on Solana", async ({ page, everyChain: shop }) => {
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  await buyer.pay(USDC, /^Sandbox wallet \(Solana\)/);
  const panel = page.getByRole("complementary", { name: "Sandbox wallet" });
  await panel.getByRole("button", { name: "Approve" }).click();
  await buyer.seesPaid();
  await shop.reaches(payment, "succeeded");
});
