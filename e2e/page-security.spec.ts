import { expect } from "@playwright/test";
import { test } from "./fixtures.ts";

const PATHS = [
  "/",
  "/docs/api",
  "/readme",
  "/nothing",
  "/pay_unknown",
  "/collect?pid=x",
  "payment",
];

// Guarantee: every page works under its policy: the browser reports no violation and no error, and loads nothing from elsewhere.
for (const path of PATHS)
  test(`the browser has nothing to say about ${path}`, async ({ page, shop }) => {
    const found: string[] = [];
    const foreign: string[] = [];
    page.on("console", (message) => {
      // A page that is not found is told of by every browser.
      const expected = message.text().includes("404 (Not Found)");
      if (message.type() === "error" && !expected) found.push(message.text());
    });
    page.on("pageerror", (error) => found.push(error.message));
    page.on("request", (request) => {
      if (!request.url().startsWith(shop.baseUrl) && !request.url().startsWith("data:"))
        foreign.push(request.url());
    });
    await page.addInitScript(() => {
      document.addEventListener("securitypolicyviolation", (event) => {
        // biome-ignore lint/suspicious/noConsole: how a page under test speaks to its test.
        console.error(`violation of ${event.violatedDirective} by ${event.blockedURI}`);
      });
    });
    const isPayment = path === "payment";
    // A checkout loads code once its scripts run, and asks for its status by the last of it.
    const asked = isPayment ? page.waitForRequest(/checkout\.wait/) : null;
    await page.goto(isPayment ? (await shop.create()).url : shop.baseUrl + path);
    await page.waitForLoadState("load");
    await expect(page.locator("main").first()).toBeVisible();
    await asked;
    if (isPayment) await expect(page.getByRole("list", { name: "Wallets" })).toBeVisible();
    expect(found).toEqual([]);
    expect(foreign).toEqual([]);
  });
