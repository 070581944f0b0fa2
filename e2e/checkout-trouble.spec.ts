import { expect } from "@playwright/test";
import { checkoutTest as test } from "./fixtures.ts";
import { buyerOn, CHAIN_MS } from "./wallets/buyer.ts";

const USDC = /USDC/;
const RICH = { usdc: 100_000_000n };

// Guarantee: a buyer who says no, in any of the ways a wallet has, was charged nothing, reads so, and can go on.
test("refusals", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account(RICH));
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  wallet.refuseNext("eth_requestAccounts");
  await buyer.connect();
  await buyer.sees("Test Wallet did not connect");
  wallet.refuseNext("eth_requestAccounts", -32002, "Already processing eth_requestAccounts.");
  await buyer.click("Try again");
  await buyer.reads(/still has another request open/);
  await buyer.click("Try again");
  await buyer.pick(USDC);
  wallet.refuseNext("wallet_switchEthereumChain");
  await buyer.click(/^Pay /);
  await buyer.sees("Test Wallet is on another network");
  await buyer.reads(/Nothing was charged/);
  wallet.refuseNext("eth_signTypedData_v4");
  await buyer.click("Try again");
  await buyer.sees("You declined in Test Wallet");
  expect((await shop.details(payment)).body.status).toBe("requires_action");
  await buyer.click("Try again");
  await buyer.seesPaid();
  expect(wallet.count("eth_signTypedData_v4")).toBe(2);
});

// Guarantee: a wallet without enough is told what is missing, and pays as soon as its user shows another account.
test("not enough, then another account", async ({ page, context, shop }) => {
  const poor = await shop.account({ usdc: 1_000_000n, coins: false });
  const rich = await shop.account(RICH);
  const wallet = await shop.wallet(context, poor);
  const buyer = buyerOn(page);
  await buyer.open(await shop.create());
  await buyer.connect();
  await buyer.sees("Not enough in this wallet");
  await buyer.reads("11.50 USDC missing, you have 1.00 USDC");
  await wallet.changeKey(rich.key);
  await buyer.pick(USDC);
  await buyer.click(/^Pay /);
  await buyer.seesPaid();
  expect(await shop.holds("usdc", rich.address)).toBe(87_500_000n);
});

// Guarantee: a wallet pressed twice is one wallet, connected once, whichever of its answers comes.
test("pressed twice", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account(RICH));
  const buyer = buyerOn(page);
  await buyer.open(await shop.create());
  const held = wallet.holdNext("eth_requestAccounts");
  const list = page.getByRole("list", { name: "Wallets" });
  await list.getByRole("button", { name: "Test Wallet" }).dblclick();
  await buyer.sees("Look in your wallet");
  wallet.refuseNext("eth_requestAccounts", -32002, "Already processing eth_requestAccounts.");
  await buyer.click("Try again");
  await buyer.sees("Test Wallet did not connect");
  held.release();
  await buyer.pick(USDC);
  await buyer.click(/^Pay /);
  await buyer.seesPaid();
  expect(wallet.count("eth_requestAccounts")).toBe(2);
});

// Guarantee: who shows another account after a refusal pays with that one; nothing leads back to the account that is gone.
test("another account after a refusal", async ({ page, context, shop }) => {
  const [before, after] = [await shop.account(RICH), await shop.account(RICH)];
  const wallet = await shop.wallet(context, before);
  const buyer = buyerOn(page);
  await buyer.open(await shop.create());
  wallet.refuseNext("eth_signTypedData_v4");
  await buyer.pay(USDC);
  await buyer.sees("You declined in Test Wallet");
  await wallet.changeKey(after.key);
  await buyer.click("Try again");
  await buyer.sees("Choose what to pay with");
  await buyer.pick(USDC);
  await buyer.click(/^Pay /);
  await buyer.seesPaid();
  expect(await shop.holds("usdc", before.address)).toBe(100_000_000n);
  expect(await shop.holds("usdc", after.address)).toBe(87_500_000n);
});

// Guarantee: an answer that cannot be what was asked for ends nothing: a signature is asked for again, and of a transfer it is said that nobody knows.
test("answers of another shape", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account(RICH));
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  wallet.answerNext("eth_signTypedData_v4", null);
  await buyer.pay(USDC);
  await buyer.sees("The signature was not accepted");
  wallet.answerNext("eth_signTypedData_v4", "0x1234");
  await buyer.click("Try again");
  await buyer.sees("The signature was not accepted");
  await buyer.click("Choose another way to pay");
  await buyer.pick(/ETH/);
  wallet.answerNext("eth_sendTransaction", null);
  await buyer.click(/^Pay /);
  await buyer.sees("Did Test Wallet send the payment?");
  expect((await shop.details(payment)).body.status).toBe("requires_action");
  await buyer.click("It shows nothing, try again");
  await buyer.pick(USDC);
  await buyer.click(/^Pay /);
  await buyer.seesPaid();
});

// Guarantee: a price that moved against the shop is shown, old and new, and only paid when the buyer accepts it.
test("a moved price", async ({ page, context, shop }) => {
  const account = await shop.account(RICH);
  const wallet = await shop.wallet(context, account);
  const buyer = buyerOn(page);
  const payment = await shop.create({ unit: "iso4217/EUR" });
  await buyer.open(payment);
  const held = wallet.holdNext("eth_signTypedData_v4");
  await buyer.pay(/13\.50 USDC/);
  await buyer.sees("Confirm in Test Wallet");
  await held.reached;
  await shop.setPrice("EUR / USD", 112_000_000n);
  try {
    await shop.offers(payment, account, 14_000_000n);
    held.release();
    await buyer.sees("The amount has changed");
    await buyer.reads(/13\.50/);
    expect(await shop.holds("usdc", account.address)).toBe(100_000_000n);
    await buyer.click(/^Pay 14/);
    await buyer.seesPaid();
    expect(await shop.holds("usdc", account.address)).toBe(86_000_000n);
  } finally {
    await shop.setPrice("EUR / USD", 108_000_000n);
  }
});

// Guarantee: without a reliable price nothing is offered that needs one, and the page says why; what needs none can be paid.
test("a stale price", async ({ page, context, shop }) => {
  await shop.wallet(context, await shop.account(RICH));
  const payment = await shop.create();
  await shop.setPrice("ETH / USD", 250_000_000_000n, 1n);
  try {
    const buyer = buyerOn(page);
    await buyer.open(payment);
    await buyer.connect();
    await expect(buyer.option(USDC)).toBeVisible();
    await expect(buyer.option(/ETH/)).toHaveCount(0);
    await page.getByText("Cannot be used now").click();
    await buyer.reads("There is no reliable price at the moment");
  } finally {
    await shop.setPrice("ETH / USD", 250_000_000_000n);
  }
});

// Guarantee: a payment that closes while its page is open says so without a reload, and a signature that comes after it pays nothing.
test("expiry while it is open", async ({ page, context, shop }) => {
  const account = await shop.account(RICH);
  const wallet = await shop.wallet(context, account);
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  const held = wallet.holdNext("eth_signTypedData_v4");
  await buyer.pay(USDC);
  await buyer.sees("Confirm in Test Wallet");
  await held.reached;
  await shop.closesIn(payment, 5);
  await buyer.sees("The time to pay is over");
  await buyer.reads(/Nothing was charged/);
  const late = page.waitForResponse(/checkout\.confirm/);
  held.release();
  expect((await late).ok()).toBe(false);
  await shop.reaches(payment, "expired");
  await page.reload();
  await buyer.sees("The time to pay is over");
  expect(await shop.holds("usdc", account.address)).toBe(100_000_000n);
});

// Guarantee: two tabs of one payment show the same truth; only one asks the wallet, and both see the end.
test("two tabs", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account(RICH));
  const payment = await shop.create();
  const [first, second] = [buyerOn(page), buyerOn(await context.newPage())];
  await first.open(payment);
  await second.open(payment);
  const held = wallet.holdNext("eth_signTypedData_v4");
  await first.pay(USDC);
  await first.sees("Confirm in Test Wallet");
  await held.reached;
  await second.connect();
  await second.reads(/being paid in another tab/);
  held.release();
  await first.seesPaid();
  await second.seesPaid();
  expect(wallet.count("eth_signTypedData_v4")).toBe(1);
  expect(wallet.count("eth_requestAccounts")).toBe(1);
});

// Guarantee: a reload at any step loses nothing: before handing in the buyer begins again, after it the page shows where it stands.
test("a reload at every step", async ({ page, context, shop }) => {
  const account = await shop.account(RICH);
  const wallet = await shop.wallet(context, account);
  const payment = await shop.create();
  const buyer = buyerOn(page);
  const again = async () => {
    await page.reload();
    await buyer.sees("Choose how to pay");
  };
  await buyer.open(payment);
  await again();
  await buyer.connect();
  await expect(buyer.option(USDC)).toBeVisible();
  await again();
  wallet.refuseNext("eth_signTypedData_v4");
  await buyer.pay(USDC);
  await buyer.sees("You declined in Test Wallet");
  await again();
  const held = wallet.holdNext("eth_signTypedData_v4");
  await buyer.pay(USDC);
  await buyer.sees("Confirm in Test Wallet");
  await held.reached;
  await again();
  held.release();
  await buyer.pay(USDC);
  await buyer.sees(/Received|Confirming|Payment complete/, CHAIN_MS);
  await page.reload();
  await buyer.seesPaid();
  await shop.reaches(payment, "succeeded");
  expect(await shop.holds("usdc", account.address)).toBe(87_500_000n);
});

// Guarantee: a page that lost its connection says that the payment is not affected, and goes on by itself; what was signed meanwhile is handed in once.
test("offline and back", async ({ page, context, shop }) => {
  const account = await shop.account(RICH);
  const wallet = await shop.wallet(context, account);
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  await context.setOffline(true);
  await buyer.sees("No connection right now");
  await context.setOffline(false);
  await buyer.sees("Choose how to pay");
  const held = wallet.holdNext("eth_signTypedData_v4");
  await buyer.pay(USDC);
  await buyer.sees("Confirm in Test Wallet");
  await held.reached;
  await context.setOffline(true);
  await buyer.sees("No connection right now");
  const lost = page.waitForEvent("requestfailed", (one) => one.url().includes("checkout.confirm"));
  held.release();
  await lost;
  await context.setOffline(false);
  await buyer.seesPaid();
  expect(await shop.holds("usdc", account.address)).toBe(87_500_000n);
});

// Guarantee: on a line that drops what it is asked for, a buyer who keeps the page open can still pay: the code comes when it can.
test("code that does not come at first", async ({ page, context, shop }) => {
  const account = await shop.account(RICH);
  await shop.wallet(context, account);
  const payment = await shop.create();
  const html = await (await page.request.get(payment.url)).text();
  const tries = new Map<string, number>();
  await page.route("**/_next/static/chunks/**", (route) => {
    const { pathname } = new URL(route.request().url());
    const count = tries.get(pathname) ?? 0;
    tries.set(pathname, count + 1);
    // The page itself came, and Next asks twice for each of its parts.
    return html.includes(pathname) || count > 2 ? route.continue() : route.abort();
  });
  const buyer = buyerOn(page);
  await page.goto(payment.url);
  await buyer.connect();
  await buyer.sees("Test Wallet did not connect");
  const headline = page.getByRole("heading", { level: 1 });
  // Parts that are still on their second way may need one more press.
  await expect(async () => {
    if ((await headline.textContent()) === "Test Wallet did not connect")
      await buyer.click("Try again");
    await expect(buyer.option(USDC)).toBeVisible({ timeout: 3_000 });
  }).toPass({ timeout: CHAIN_MS });
  await buyer.pick(USDC);
  await buyer.click(/^Pay /);
  await buyer.seesPaid();
  await shop.reaches(payment, "succeeded");
  expect([...tries.values()].filter((count) => count > 2).length).toBeGreaterThan(2);
});

// Guarantee: who sent the money while the payment closed is never told that nothing was charged, and never asked again: first that it was sent too late, then that it arrived.
test("sent, then refused", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account());
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  const held = wallet.holdNext("eth_sendTransaction");
  await buyer.pay(/ETH/);
  await buyer.sees("Confirm in Test Wallet");
  await held.reached;
  await shop.cancel(payment);
  await buyer.reads("Test Wallet still shows the request. Decline it there");
  const goOn = await shop.holdBlocks();
  try {
    held.release();
    await buyer.sees("Your money arrived too late");
    await buyer.reads(/You sent .* after this payment had closed/);
    // So it says after a reload and in another tab, before the money is there.
    for (const one of [page, await context.newPage()]) {
      await one.goto(payment.url);
      const reader = buyerOn(one);
      await reader.sees("Your money arrived too late");
      await reader.reads(/You sent .* after this payment had closed/);
    }
  } finally {
    await goOn();
  }
  await buyer.reads(/ETH on .* arrived after this payment had closed/);
  await page.reload();
  await buyer.sees("Your money arrived too late");
  await buyer.reads(/arrived after this payment had closed\. It is not lost/);
  expect(wallet.count("eth_sendTransaction")).toBe(1);
});

// Guarantee: a wallet that went away while it sent may have sent: its buyer is not told that nothing was charged, and sees the money when it is there.
test("closed while it is not clear whether it was sent", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account());
  const payment = await shop.create();
  const buyer = buyerOn(page);
  await buyer.open(payment);
  wallet.vanishNext("eth_sendTransaction");
  const goOn = await shop.holdBlocks();
  try {
    await buyer.pay(/ETH/);
    await buyer.sees("Did Test Wallet send the payment?");
    expect((await shop.cancel(payment)).status).toBe(200);
    await buyer.sees("Demo Shop cancelled this payment");
    await buyer.reads("Test Wallet gave no clear answer. If it shows the payment as sent");
    await expect(page.getByText("Nothing was charged")).toHaveCount(0);
  } finally {
    await goOn();
  }
  await buyer.sees("Your money arrived too late");
  await buyer.reads(/ETH on .* arrived after this payment had closed/);
});

// Guarantee: once a page knows that its payment is closed, no wallet is asked for anything any more, and none is said to have been, at whatever step the buyer was.
test("closed before the wallet is asked", async ({ page, context, shop }) => {
  const wallet = await shop.wallet(context, await shop.account());
  const buyer = buyerOn(page);
  const seesClosed = async () => {
    await buyer.sees(/cancelled this payment/);
    await expect(page.getByText("still shows the request")).toHaveCount(0);
  };
  const proved = await shop.create({ merchant: shop.merchants.proving });
  const held = wallet.holdNext("personal_sign");
  await buyer.open(proved);
  await buyer.pay(/ETH/);
  await held.reached;
  await shop.cancel(proved);
  await seesClosed();
  held.release();
  await seesClosed();
  // The calls for the wallet are asked for before the shop cancels, or come too late for that.
  for (const isServed of [true, false]) {
    const payment = await shop.create();
    const [underway, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    await page.route("**/checkout.fetch**", async (route) => {
      const early = isServed ? await route.fetch() : null;
      underway.resolve();
      await closed.promise;
      await route.fulfill({ response: early ?? (await route.fetch()) });
    });
    await buyer.open(payment);
    await buyer.pay(/ETH/);
    await underway.promise;
    await shop.cancel(payment);
    await seesClosed();
    const answer = page.waitForResponse(/checkout\.fetch/);
    closed.resolve();
    expect((await answer).ok()).toBe(isServed);
    await seesClosed();
    await page.unroute("**/checkout.fetch**");
  }
  expect(wallet.count("eth_sendTransaction")).toBe(0);
});

// Guarantee: a buyer can call a payment off, the shop too; both see by whom, and nobody can pay it any more.
test("cancelling", async ({ page, shop }) => {
  const [mine, theirs] = [await shop.create(), await shop.create()];
  const buyer = buyerOn(page);
  await buyer.open(mine);
  await buyer.click("Cancel payment");
  await page.getByRole("dialog").getByRole("button", { name: "Keep this payment" }).click();
  await buyer.click("Cancel payment");
  await page.getByRole("dialog").getByRole("button", { name: "Cancel payment" }).click();
  await buyer.sees("You cancelled this payment");
  await shop.reaches(mine, "cancelled");
  await buyer.open(theirs);
  await shop.cancel(theirs);
  await buyer.sees("Demo Shop cancelled this payment");
});
