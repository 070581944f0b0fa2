import { expect } from "@playwright/test";
import { violationsInBothThemes } from "./axe.ts";
import { onBothScreens, test } from "./fixtures.ts";

// Guarantee: who opens the address of a running server sees what it is, what runs, and where to read on.
onBothScreens(() => {
  test("the first page says what is running and leads to the README", async ({
    page,
    everyChain,
  }) => {
    const asked: string[] = [];
    page.on("request", (request) => asked.push(request.url()));
    await page.goto(everyChain.baseUrl);
    await expect(page.getByRole("heading", { level: 1 })).toContainText("Florin");
    await expect(page.getByText("Florin Sandbox A")).toBeVisible();
    await expect(page.getByText("Florin Sandbox B")).toBeVisible();
    expect(await violationsInBothThemes(page)).toEqual([]);
    await page
      .getByRole("link", { name: /readme/i })
      .first()
      .click();
    await expect(page.getByText("npm start").first()).toBeVisible();
    const origin = new URL(everyChain.baseUrl).origin;
    expect(asked.filter((url) => new URL(url).origin !== origin)).toEqual([]);
  });
});

// Guarantee: a page that does not exist is a page too, and an API path that does not exist is JSON.
test("unknown addresses", async ({ page, shop }) => {
  const missing = await page.goto(`${shop.baseUrl}/no-such-page/at-all`);
  expect(missing?.status()).toBe(404);
  const unreadable = await page.request.get(`${shop.baseUrl}/%E0%A4%A`);
  expect([unreadable.status(), unreadable.headers()["content-type"]]).toEqual([
    404,
    "text/html; charset=utf-8",
  ]);
  const api = await page.request.get(`${shop.baseUrl}/v1/nothing`);
  expect([api.status(), (await api.json()).code]).toEqual([404, "not_found"]);
});
