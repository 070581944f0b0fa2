import { gzipSync } from "node:zlib";
import { expect, type Locator } from "@playwright/test";
import { createWalletClient, encodeFunctionData, maxUint256, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { minedOn, nodeTransport } from "#server/sandbox/node-rpc.ts";
import { violationsInBothThemes } from "./axe.ts";
import { onBothScreens, checkoutTest as test } from "./fixtures.ts";
import { buyerOn } from "./wallets/buyer.ts";
import { type Account, type CheckoutWorld, foreignRequests } from "./wallets/checkout-world.ts";

const ERC20 = parseAbi(["function approve(address spender, uint256 amount)"]);
const USDC = /12\.50 USDC/;
const USDT = /12\.\d+ USDT/;
const ETH = /ETH/;

/** Gives Permit2 an allowance, as a buyer who paid with it before. */
async function allow(shop: CheckoutWorld, { key }: Account, amount: bigint): Promise<void> {
  const [chain] = shop.world.world.chains;
  if (chain === undefined) throw new Error("no chain");
  const { rpcUrl } = chain.anvil;
  const wallet = createWalletClient({
    account: privateKeyToAccount(key),
    transport: nodeTransport(rpcUrl),
  });
  const args = [chain.deployment.permit2, amount] as const;
  const data = encodeFunctionData({ abi: ERC20, functionName: "approve", args });
  const hash = await wallet.sendTransaction({ to: chain.deployment.usdt, data, chain: null });
  await minedOn(rpcUrl, hash);
}

// Guarantee: a buyer on the wrong network pays with one signature and no fee, and the page talks to nobody but its own server.
onBothScreens(() => {
  test("USDC by one signature", async ({ page, context, shop }) => {
    const account = await shop.account({ usdc: 20_000_000n });
    const wallet = await shop.wallet(context, account);
    const foreign = foreignRequests(page, shop.baseUrl);
    const payment = await shop.create();
    const buyer = buyerOn(page);
    await buyer.open(payment);
    expect(wallet.calls).toEqual([]);
    await buyer.pay(USDC);
    await buyer.seesPaid();
    await shop.reaches(payment, "succeeded");
    expect(wallet.count("eth_signTypedData_v4")).toBe(1);
    expect(wallet.count("eth_sendTransaction")).toBe(0);
    expect(wallet.chainId()).toBe(31337);
    expect(await shop.holds("usdc", account.address)).toBe(7_500_000n);
    expect(foreign).toEqual([]);
    await page.reload();
    await buyer.seesPaid();
  });
});

// Guarantee: the code to pay with a wallet of the browser costs at most 60 kB more than the page, and comes only when a wallet is chosen.
test("the wallet's code", async ({ page, context, shop }) => {
  await shop.wallet(context, await shop.account({ usdc: 20_000_000n }));
  const scripts: Promise<number>[] = [];
  page.on("response", (response) => {
    if (response.request().resourceType() !== "script") return;
    scripts.push(response.body().then((body) => gzipSync(body).length));
  });
  const buyer = buyerOn(page);
  await buyer.open(await shop.create());
  await expect(page.getByRole("list", { name: "Wallets" })).toBeVisible();
  const before = scripts.length;
  await buyer.connect();
  await expect(buyer.option(USDC)).toBeVisible();
  const sizes = await Promise.all(scripts);
  const added = sizes.slice(before).reduce((sum, size) => sum + size, 0);
  expect(added).toBeGreaterThan(0);
  expect(added).toBeLessThan(60_000);
});

// Guarantee: an account that is a contract pays by the same one signature.
test("USDC from a contract wallet", async ({ page, context, shop }) => {
  const account = await shop.contractAccount(20_000_000n);
  const wallet = await shop.wallet(context, account);
  const buyer = buyerOn(page);
  await buyer.open(await shop.create());
  await buyer.pay(USDC);
  await buyer.seesPaid();
  expect(wallet.count("eth_signTypedData_v4")).toBe(1);
  expect(await shop.holds("usdc", account.contract)).toBe(7_500_000n);
});

// Guarantee: a token without signatures of its own is allowed first and then paid, with the exact amount and nothing left allowed.
test("USDT with an approval", async ({ page, context, shop }) => {
  const account = await shop.account({ usdt: 20_000_000n });
  const wallet = await shop.wallet(context, account);
  const buyer = buyerOn(page);
  await buyer.open(await shop.create());
  await buyer.pay(USDT);
  await buyer.sees("Step 1 of 2: allow the payment");
  await buyer.click("Approve in Test Wallet");
  await buyer.seesPaid();
  expect(wallet.count("eth_sendTransaction")).toBe(1);
  expect(wallet.count("eth_signTypedData_v4")).toBe(1);
  expect(await shop.holds("usdt", account.address)).toBeLessThan(8_000_000n);
});

// Guarantee: an allowance that is too small is taken back first where the token asks for it, and a large one is used without asking.
test("USDT with an older allowance", async ({ page, context, shop }) => {
  const account = await shop.account({ usdt: 40_000_000n });
  const wallet = await shop.wallet(context, account);
  const buyer = buyerOn(page);
  await allow(shop, account, 1n);
  await buyer.open(await shop.create());
  await buyer.pay(USDT);
  await buyer.sees("Step 1 of 3: allow the payment");
  await buyer.click("Approve in Test Wallet");
  await buyer.seesPaid();
  expect(wallet.count("eth_sendTransaction")).toBe(2);
  await allow(shop, account, maxUint256);
  await buyer.open(await shop.create());
  await buyer.pay(USDT);
  await buyer.seesPaid();
  expect(wallet.count("eth_sendTransaction")).toBe(2);
  expect(wallet.count("eth_signTypedData_v4")).toBe(2);
});

// Guarantee: the coin of the network itself is sent by the buyer's wallet and found on the chain.
test("native coin", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account());
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  await buyer.pay(ETH);
  await buyer.seesPaid();
  await shop.reaches(payment, "succeeded");
  expect(wallet.count("eth_sendTransaction")).toBe(1);
});

// Guarantee: a wallet that sent the money and then went away without an answer is not asked again, and the payment is found.
test("a wallet that vanishes after sending", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account());
  wallet.vanishNext("eth_sendTransaction");
  const buyer = buyerOn(page);
  await buyer.open(await shop.create());
  await buyer.pay(ETH);
  await buyer.seesPaid();
  expect(wallet.count("eth_sendTransaction")).toBe(1);
});

// Guarantee: a shop that wants proof of the account gets it by a message that moves nothing, before the payment.
test("proof of the account first", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account({ usdc: 20_000_000n }));
  const buyer = buyerOn(page);
  await buyer.open(await shop.create({ merchant: shop.merchants.proving }));
  const held = wallet.holdNext("personal_sign");
  await buyer.pay(USDC);
  await buyer.sees("Show that the account is yours");
  held.release();
  await buyer.seesPaid();
  const signed = wallet.calls.map(({ method }) => method).filter((one) => /sign/i.test(one));
  expect(signed).toEqual(["personal_sign", "eth_signTypedData_v4"]);
});

// Guarantee: a shop that must know who pays asks on the same page, only once for an account, and the payment goes on from there.
test("details of the payer", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account({ usdc: 40_000_000n }));
  const buyer = buyerOn(page);
  const { collecting } = shop.merchants;
  await buyer.open(await shop.create({ merchant: collecting }));
  await buyer.connect();
  await buyer.reads("Details needed");
  await buyer.pick(USDC);
  await buyer.click(/^Pay /);
  await buyer.sees("A few details first");
  expect(wallet.count("eth_signTypedData_v4")).toBe(0);
  await buyer.click("Confirm");
  await buyer.reads(/answers need to be corrected/);
  await page.getByLabel("Full name").fill("Zebedee Quux");
  await page.getByLabel("Date of birth").fill("1971-03-17");
  await page.getByLabel("Country of birth").selectOption("BT");
  await page.getByLabel("Place of birth").fill("Thimphu");
  await page.getByRole("checkbox").check();
  await buyer.click("Confirm");
  await buyer.seesPaid();
  await buyer.open(await shop.create({ merchant: collecting }));
  await buyer.pay(USDC);
  await buyer.seesPaid();
});

// Guarantee: who has no wallet can try the checkout with one click and a test wallet that shows what it signs, and can see what a bad wallet does.
onBothScreens(() => {
  test("the sandbox wallet", async ({ page, shop }) => {
    const payment = await shop.create();
    const buyer = buyerOn(page);
    await buyer.open(payment);
    await expect(page.getByRole("button", { name: /^Sandbox wallet/ })).toHaveCount(1);
    await buyer.pay(USDC, /^Sandbox wallet/);
    const panel = page.getByRole("complementary", { name: "Sandbox wallet" });
    await expect(panel).toContainText("Sign TransferWithAuthorization");
    await expect(panel).toContainText("12500000");
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page.keyboard.press("Tab");
    await panel.getByRole("button", { name: "Reject" }).press("Enter");
    await buyer.sees("You declined in Sandbox wallet");
    await panel.getByText("Settings").click();
    const behaviour = panel.getByRole("combobox");
    await behaviour.selectOption("Signs for the wrong network");
    await buyer.click("Try again");
    await panel.getByRole("button", { name: "Approve" }).click();
    await buyer.sees("The signature was not accepted");
    expect((await shop.details(payment)).body.status).toBe("requires_action");
    await behaviour.selectOption("Signs without asking");
    await buyer.click("Try again");
    await buyer.seesPaid();
    await shop.reaches(payment, "succeeded");
  });
});

// Guarantee: the whole way to a paid payment needs no pointer.
test("by keyboard alone", async ({ page, shop }) => {
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  const press = async (target: Locator) => {
    await target.waitFor();
    const isReached = () => target.evaluate((one) => one === document.activeElement);
    for (let presses = 0; presses < 60 && !(await isReached()); presses++)
      await page.keyboard.press("Tab");
    expect(await isReached()).toBe(true);
    await page.keyboard.press("Enter");
  };
  await press(page.getByRole("button", { name: /^Sandbox wallet/ }));
  await press(page.getByRole("button", { name: /^Pay / }));
  const panel = page.getByRole("complementary", { name: "Sandbox wallet" });
  await press(panel.getByRole("button", { name: "Approve" }));
  await buyer.seesPaid();
  await shop.reaches(payment, "succeeded");
});
