import { expect } from "@playwright/test";
import { checkoutTest as test } from "./fixtures.ts";
import { buyerOn, CHAIN_MS } from "./wallets/buyer.ts";

const USDC = /USDC/;
const SHOP = "https://shop.example";
const REDIRECT = { successUrl: `${SHOP}/thanks?order=7`, errorUrl: `${SHOP}/sorry` };

// Guarantee: after three seconds the buyer is back at the shop, with the payment's id and what the shop put into its address; who does not want that stops it for good.
test("back to the shop after a success", async ({ page, context, shop }) => {
  await context.route(`${SHOP}/**`, (route) => route.fulfill({ body: "the shop" }));
  await shop.wallet(context, await shop.account({ usdc: 50_000_000n }));
  const payment = await shop.create({ redirect: REDIRECT });
  const leaving = buyerOn(page);
  await leaving.open(payment);
  await leaving.pay(USDC);
  const thanks = `${SHOP}/thanks?order=7&payment_id=${payment.id}`;
  await page.waitForURL(thanks, { timeout: CHAIN_MS });

  // Another tab counts down anew; its clock stands still, so that each second is one of the test.
  const other = await context.newPage();
  await other.clock.install();
  await other.clock.pauseAt(Date.now() + 60_000);
  const staying = buyerOn(other);
  await other.goto(payment.url);
  await staying.seesPaid();
  await staying.reads("Back to Demo Shop in 3 seconds");
  await other.clock.runFor(1_000);
  await staying.reads("Back to Demo Shop in 2 seconds");
  await staying.click("Stay on this page");
  const link = other.getByRole("link", { name: "Back to Demo Shop" });
  await expect(link).toHaveAttribute("href", thanks);
  const stays = async () => {
    await other.clock.runFor(10_000);
    await staying.seesPaid();
    await expect(other.getByText(/Back to Demo Shop in/)).toHaveCount(0);
    expect(other.url()).toBe(payment.url);
  };
  await stays();
  await other.reload();
  await expect(link).toBeVisible();
  await stays();
});

// Guarantee: a payment that did not happen never leaves the page by itself; without addresses of the shop there is no way there at all.
test("no way back that was not wanted", async ({ page, shop }) => {
  const buyer = buyerOn(page);
  const [away, here] = [await shop.create({ redirect: REDIRECT }), await shop.create()];
  for (const payment of [away, here]) {
    await buyer.open(payment);
    await shop.cancel(payment);
    await buyer.sees("Demo Shop cancelled this payment");
    const link = page.getByRole("link", { name: /Demo Shop/ });
    if (payment === here) await expect(link).toHaveCount(0);
    else await expect(link).toHaveAttribute("href", `${SHOP}/sorry?payment_id=${payment.id}`);
    await expect(page.getByText(/Back to Demo Shop in/)).toHaveCount(0);
  }
});
