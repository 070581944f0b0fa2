import { type BrowserContext, expect, type Locator } from "@playwright/test";
import { makeCollectUrl } from "#server/domain/collect/token.ts";
import { call } from "#server/testing/api.ts";
import { FORM, linkOf, rowsOf } from "#server/testing/collect.ts";
import { confirmButton, fill, type HostName, inHost } from "./collect-hosts.ts";
import type { FormShop } from "./collect-world.ts";
import { test } from "./fixtures.ts";

/** Whether an element has its document's focus; whether the document has the window's is the wallet's affair. */
const isActive = (one: Locator): Promise<boolean> =>
  one.evaluate((element) => element === element.ownerDocument.activeElement).catch(() => false);

/** Presses the button twice while the form is being sent: a press after the answer would fall on other words and take their focus. */
async function pressTwice(context: BrowserContext, place: Parameters<typeof confirmButton>[0]) {
  const isPressed = Promise.withResolvers<void>();
  await context.route(
    "**/api/trpc/**",
    async (route) => {
      await isPressed.promise;
      await route.continue();
    },
    { times: 1 },
  );
  await confirmButton(place).dblclick();
  isPressed.resolve();
}

const COMPLETE = { type: "IC_COMPLETE", success: true };
const asText = (bridge: string) => bridge === "android" || bridge === "react native";
/** What a bridge has to hear: apps that read text get text, all others the object. */
const said = (bridge: string, outcome: object) => ({
  bridge,
  said: asText(bridge) ? JSON.stringify(outcome) : outcome,
});

const HOSTS: HostName[] = ["android", "webkit", "react native", "iframe", "pop-up"];

// Guarantee: every kind of wallet hears once, and only once the data is stored, that it can go on; pressing twice and loading again change nothing.
for (const name of HOSTS)
  test(`one message of success: ${name}`, async ({ context, formShop: shop }) => {
    const { id, url } = await shop.open();
    await inHost(context, name, url, async ({ place, heard }) => {
      await fill(place);
      expect(heard).toEqual([]);
      await pressTwice(context, place);
      await expect.poll(() => isActive(place.getByRole("heading", { name: "stored" }))).toBe(true);
      await expect(place.getByText("Your wallet goes on from here")).toBeVisible();
      await expect.poll(() => heard).toEqual([said(name, COMPLETE)]);
      expect(await rowsOf(shop.world, id)).toHaveLength(Object.keys(FORM).length);
      await place.evaluate(() => location.reload());
      await expect(place.getByRole("heading", { name: "here already" })).toBeVisible();
      expect(heard).toEqual([said(name, COMPLETE)]);
    });
  });

// Guarantee: who gave the details before need not type them again, sees nothing of them, and the wallet can still go on.
test("details that are here already", async ({ context, formShop: shop }) => {
  const { url } = await shop.open();
  await inHost(context, "none", url, async ({ place }) => {
    await fill(place);
    await confirmButton(place).click();
    await expect(place.getByText("Go back to your wallet to pay")).toBeVisible();
  });
  await inHost(context, "webkit", url, async ({ page, place, heard }) => {
    await expect(place.getByRole("heading", { name: "here already" })).toBeVisible();
    expect(await page.content()).not.toContain("Canary");
    await place.getByRole("button", { name: "Go on with these" }).click();
    await expect.poll(() => heard).toEqual([said("webkit", COMPLETE)]);
  });
  await inHost(context, "android", url, async ({ place, heard }) => {
    await place.getByRole("button", { name: "Enter them again" }).click();
    await fill(place);
    await confirmButton(place).click();
    await expect.poll(() => heard).toEqual([said("android", COMPLETE)]);
  });
});

/** An address of the form that has to be refused, made from a good one. */
const BAD: Record<string, (shop: FormShop, good: string, other: string) => string> = {
  changed: (_, good) => good.replace(/.$/, (last) => (last === "A" ? "B" : "A")),
  expired(shop, good) {
    const { paymentId, accounts } = linkOf(good);
    const secret = shop.world.world.serverEnv.FLORIN_TOKEN_SECRET ?? "";
    const checkoutUrl = shop.server.baseUrl;
    return makeCollectUrl({ secret, checkoutUrl }, paymentId, accounts, 1_700_000_000);
  },
  "of another payment": (_, good, other) => good.replace(/t=.*/, `t=${linkOf(other).token}`),
  "without anything": (shop) => `${shop.server.baseUrl}/collect`,
  "of no payment": (_, good) => good.replace(/pid=[^&]*/, "pid=pay_none"),
};

// Guarantee: a link that was changed, outlived, swapped or made up shows no form and what to do, and the wallet hears of it once.
test("links that do not work", async ({ context, formShop: shop }) => {
  const [{ url }, other] = [await shop.open(), await shop.open()];
  const error = { type: "IC_ERROR", error: "This link does not work" };
  for (const [name, bend] of Object.entries(BAD))
    for (const host of name === "expired"
      ? (["webkit", "iframe", "pop-up"] as const)
      : (["android"] as const))
      await inHost(context, host, bend(shop, url, other.url), async ({ place, heard }) => {
        await expect(place.getByRole("heading", { name: error.error }), name).toBeVisible();
        await expect(place.getByText("Go back to your wallet")).toBeVisible();
        await expect.poll(() => heard, name).toEqual([said(host, error)]);
        expect(await place.locator("input").count()).toBe(0);
      });
});

// Guarantee: when the payment ends while the form is open, the wallet hears of an error once and nothing is stored.
test("a payment that ended meanwhile", async ({ context, formShop: shop }) => {
  const { id, url, buyer } = await shop.open();
  await inHost(context, "react native", url, async ({ place, heard }) => {
    await fill(place);
    const cancelled = await call(shop.server.baseUrl, "POST", `/v1/payments/${id}/cancel`, {
      headers: shop.merchantHeaders,
      body: {},
    });
    expect(cancelled.status).toBe(200);
    await confirmButton(place).click();
    const error = { type: "IC_ERROR", error: "This payment needs no details now" };
    await expect(place.getByRole("heading", { name: error.error })).toBeFocused();
    await expect.poll(() => heard).toEqual([said("react native", error)]);
  });
  expect(await rowsOf(shop.world, id)).toEqual([]);
  expect(buyer.account).toContain("eip155:");
});

// Guarantee: a connection that fails is no end: nothing typed is lost, the wallet hears nothing, and trying again can succeed.
test("a lost connection and a crowded server", async ({ context, formShop: shop }) => {
  const { id, url } = await shop.open();
  await inHost(context, "webkit", url, async ({ page, place, heard }) => {
    await fill(place);
    await page.route("**/api/trpc/**", (route) => route.abort(), { times: 1 });
    await confirmButton(place).click();
    await expect(place.getByText("may not have arrived")).toBeVisible();
    const gateway = { status: 502, contentType: "text/html", body: "<h1>Bad gateway</h1>" };
    await page.route("**/api/trpc/**", (route) => route.fulfill(gateway), { times: 1 });
    await place.getByRole("button", { name: "Try again" }).click();
    await expect(place.getByText("may not have arrived")).toBeVisible();
    await expect(place.getByRole("button", { name: "Try again" })).toBeEnabled();
    await expect(place.getByLabel("Full name")).toHaveValue(FORM.fullName);
    expect(heard).toEqual([]);
    expect(await rowsOf(shop.world, id)).toEqual([]);
    await place.getByRole("button", { name: "Try again" }).click();
    await expect.poll(() => heard).toEqual([said("webkit", COMPLETE)]);
  });
  expect(await rowsOf(shop.world, id)).toHaveLength(Object.keys(FORM).length);
});
