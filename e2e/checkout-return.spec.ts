import { expect } from "@playwright/test";
import { checkoutTest as test } from "./fixtures.ts";
import { buyerOn } from "./wallets/buyer.ts";

const USDC = /USDC/;
const SHOP = "https://shop.example";
const REDIRECT = { successUrl: `${SHOP}/thanks?order=7`, errorUrl: `${SHOP}/sorry` };

// Guarantee: after three seconds that can be stopped the buyer is back at the shop, with the payment's id and what the shop put into its address.
test("back to the shop after a success", async ({ page, context, shop }) => {
  await context.route(`${SHOP}/**`, (route) => route.fulfill({ body: "the shop" }));
  await shop.wallet(context, await shop.account({ usdc: 50_000_000n }));
  const buyer = buyerOn(page);
  const stays = await shop.create({ redirect: REDIRECT });
  await buyer.open(stays);
  await buyer.pay(USDC);
  await buyer.seesPaid();
  await buyer.reads(/Back to Demo Shop in \d second/);
  await buyer.click("Stay on this page");
  const link = page.getByRole("link", { name: "Back to Demo Shop" });
  await expect(link).toHaveAttribute("href", `${SHOP}/thanks?order=7&payment_id=${stays.id}`);
  await page.reload();
  await buyer.seesPaid();
  await expect(page.getByText(/Back to Demo Shop in/)).toHaveCount(0);

  const leaves = await shop.create({ redirect: REDIRECT });
  await buyer.open(leaves);
  await buyer.pay(USDC);
  await page.waitForURL(`${SHOP}/thanks?order=7&payment_id=${leaves.id}`, { timeout: 30_000 });
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
