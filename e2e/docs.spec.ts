import { expect, type Page } from "@playwright/test";
import { QUICK_START } from "#components/docs/quick-start.ts";
import { possibleErrors } from "#server/contract/endpoint.ts";
import { ENDPOINTS } from "#server/contract/index.ts";
import { violationsInBothThemes } from "./axe.ts";
import { onBothScreens, test } from "./fixtures.ts";

const referenceOf = ({ baseUrl }: { baseUrl: string }) => `${baseUrl}/docs/api`;

// Guarantee: everything the contract offers can be read up, with what it takes, answers and refuses.
test("the reference shows every endpoint and the quick start", async ({ page, shop }) => {
  const url = referenceOf(shop);
  await page.goto(url);
  const shown = await page.locator(".docs-operation").evaluateAll((sections) =>
    sections.map((section) => ({
      id: section.id,
      call: section.querySelector(".docs-call")?.textContent,
      titles: [...section.querySelectorAll("figcaption")].map((title) => title.textContent),
      codes: [...section.querySelectorAll("table a")].map((link) => link.textContent),
    })),
  );
  const promised = ENDPOINTS.map((endpoint) => ({
    id: endpoint.operation,
    call: `${endpoint.method} ${endpoint.path}`,
    titles: ["Call", `Answer ${endpoint.status}`],
    codes: possibleErrors(endpoint).toSorted(),
  }));
  const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id);
  expect(
    shown.map((one) => ({ ...one, codes: [...new Set(one.codes)].toSorted() })).toSorted(byId),
  ).toEqual(promised.toSorted(byId));
  const code = await page.locator("#quick-start pre").allInnerTexts();
  expect(code).toEqual(QUICK_START.map((sample) => sample.code));
});

// Guarantee: no link of the page leads nowhere.
test("every link has an end", async ({ page, shop }) => {
  const url = referenceOf(shop);
  await page.goto(url);
  const links = await page
    .locator("a")
    .evaluateAll((found) => found.map((link) => link.getAttribute("href") ?? ""));
  const ids = await page.locator("[id]").evaluateAll((found) => found.map(({ id }) => id));
  expect(new Set(ids).size).toBe(ids.length);
  const inside = links.filter((link) => link.startsWith("#")).map((link) => link.slice(1));
  expect(inside.filter((id) => !ids.includes(id))).toEqual([]);
  for (const link of new Set(links.filter((one) => !one.startsWith("#"))))
    expect((await page.request.get(new URL(link, url).href)).status()).toBe(200);
});

/** Leaves the first few of what one component draws many times; looking at all of them takes minutes. */
const shorten = (page: Page) =>
  page.evaluate(() => {
    for (const many of [".docs-operation", ".docs-object", ".docs-codes > div"])
      for (const one of [...document.querySelectorAll(many)].slice(4)) one.remove();
  });

// Guarantee: people who see little, or use no mouse, can read it, in light and in dark.
test("the reference is accessible", async ({ page, shop }) => {
  const url = referenceOf(shop);
  // Scripts would draw again what is taken away.
  await page.route(url, async (route) => {
    const response = await route.fetch();
    const body = (await response.text()).replace(/<script[\s\S]*?<\/script>/g, "");
    await route.fulfill({ response, body });
  });
  await page.goto(url);
  await shorten(page);
  expect(await violationsInBothThemes(page)).toEqual([]);
});

// Guarantee: nothing of it is wider than a screen, down to a phone's.
onBothScreens(() => {
  test("the reference fits the screen", async ({ page, shop }) => {
    await page.goto(referenceOf(shop));
    const [width, screen] = await page.evaluate(() => [
      document.documentElement.scrollWidth,
      window.innerWidth,
    ]);
    expect(width).toBeLessThanOrEqual(screen ?? 0);
  });
});

// Guarantee: it can be read without scripts, offline, and where the browser may run nothing at all.
test("the reference needs no script and nothing from elsewhere", async ({ browser, shop }) => {
  const url = referenceOf(shop);
  const page = await browser.newPage({ javaScriptEnabled: false });
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.route(url, async (route) => {
    const response = await route.fetch();
    await route.fulfill({
      response,
      headers: {
        ...response.headers(),
        "content-security-policy": "default-src 'none'; style-src 'self'; img-src 'self'",
      },
    });
  });
  await page.goto(url);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("API reference");
  await expect(page.locator("#createPayment pre").first()).toBeVisible();
  const border = await page
    .locator(".docs-code")
    .first()
    .evaluate((block) => getComputedStyle(block).borderTopLeftRadius);
  expect(border).toBe("12px");
  const origin = new URL(url).origin;
  expect(asked.filter((one) => new URL(one).origin !== origin)).toEqual([]);
  expect(await page.locator("[style], [onclick], iframe").count()).toBe(0);
  await page.close();
});
