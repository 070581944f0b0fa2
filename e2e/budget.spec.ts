import { gzipSync } from "node:zlib";
import { expect } from "@playwright/test";
import { test } from "./fixtures.ts";

/** Bytes of script, compressed, that a buyer's browser is given before a wallet is chosen. */
const BUDGET = 165_000;

/** Scripts of a page as browsers of today load them: those for old ones carry `nomodule`. */
function scriptsOf(html: string): string[] {
  const tags = [...html.matchAll(/<script\b([^>]*)>/g)].map(([, attributes = ""]) => attributes);
  return tags
    .filter((attributes) => !/\bnomodule\b/i.test(attributes))
    .flatMap((attributes) => /\bsrc="([^"]+)"/.exec(attributes)?.[1] ?? []);
}

// Guarantee: the checkout is there at once on a slow phone.
test("the first load keeps to its budget", async ({ request, shop }) => {
  const { url: checkout } = await shop.create();
  const html = await (await request.get(checkout)).text();
  const sizes = await Promise.all(
    scriptsOf(html).map(async (src) => {
      const body = await (await request.get(new URL(src, checkout).href)).body();
      return gzipSync(body, { level: 9 }).length;
    }),
  );
  expect(sizes.length).toBeGreaterThan(3);
  const total = sizes.reduce((sum, size) => sum + size, 0);
  expect(total).toBeLessThanOrEqual(BUDGET);
});

const SECRETS = [
  /\b[sg]k_(live|test)_[0-9A-Za-z]{8,}/,
  /FLORIN_[A-Z_]*(KEY|SECRET|PEPPER)/,
  /BEGIN [A-Z ]*PRIVATE KEY/,
  /DATABASE_URL|postgres(ql)?:\/\//,
];

// Guarantee: a buyer's browser speaks to the shop's own server alone, and is told nothing secret.
test("nothing from elsewhere and nothing secret", async ({ page, shop }) => {
  const { url: checkout } = await shop.create();
  const asked: string[] = [];
  const texts: Promise<[string, string]>[] = [];
  page.on("request", (request) => asked.push(request.url()));
  page.on("response", (response) => {
    const kind = response.request().resourceType();
    if (kind === "script" || kind === "document")
      texts.push(response.text().then((text) => [response.url(), text]));
  });
  await page.goto(checkout);
  const wallet = page.getByRole("button", { name: /sandbox wallet/i }).first();
  await wallet.click();
  await expect(page.getByRole("heading", { level: 1 })).not.toHaveText(/choose how to pay/i);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText(/choose what|not enough/i);
  const { origin } = new URL(checkout);
  expect(asked.filter((url) => !url.startsWith("data:") && new URL(url).origin !== origin)).toEqual(
    [],
  );
  const told = await Promise.all(texts);
  expect(told.length).toBeGreaterThan(5);
  for (const [url, text] of told)
    for (const secret of SECRETS) expect([url, text.match(secret)?.[0]]).toEqual([url, undefined]);
});

// Guarantee: the page says what is to be paid, to whom and how it stands, before any script runs and where none ever does.
test("it can be read without scripts", async ({ browser, shop }) => {
  const { url: checkout } = await shop.create();
  const page = await browser.newPage({ javaScriptEnabled: false });
  const answer = await page.goto(checkout);
  expect(answer?.status()).toBe(200);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("Choose how to pay");
  await expect(page.getByText("Demo Shop").first()).toBeVisible();
  await expect(page.getByText(/needs a browser that runs scripts/)).toBeVisible();
  expect(await page.locator("[style], [onclick]").count()).toBe(0);
  await page.goto(`${checkout}?lang=ar`);
  await expect(page.locator("html")).toHaveAttribute("dir", "rtl");
  const missing = await page.goto(`${new URL(checkout).origin}/pay_00000000000000000000000000`);
  expect(missing?.status()).toBe(404);
  await expect(page.getByRole("heading", { level: 1 })).toHaveText("This link leads to no payment");
  await page.close();
});
