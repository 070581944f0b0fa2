import AxeBuilder from "@axe-core/playwright";
import { test as base, expect } from "@playwright/test";
import { createTestWorld, type TestServer, type TestWorld } from "#server/testing/world.ts";

const test = base.extend<object, { running: { world: TestWorld; server: TestServer } }>({
  running: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads fixtures from this pattern.
    async ({}, use) => {
      const world = await createTestWorld({ chains: 2 });
      const server = await world.startServer({ pages: true });
      await use({ world, server });
      await world.stop();
    },
    { scope: "worker", timeout: 60_000 },
  ],
});

// Guarantee: who opens the address of a running server sees what it is, what runs, and where to read on.
test("the first page says what is running and leads to the README", { tag: "@phone" }, async ({
  page,
  running,
}) => {
  const asked: string[] = [];
  page.on("request", (request) => asked.push(request.url()));
  await page.goto(running.server.baseUrl);
  await expect(page.getByRole("heading", { level: 1 })).toContainText("Florin");
  await expect(page.getByText("Florin Sandbox A")).toBeVisible();
  await expect(page.getByText("Florin Sandbox B")).toBeVisible();
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    expect((await new AxeBuilder({ page }).analyze()).violations).toEqual([]);
  }
  await page
    .getByRole("link", { name: /readme/i })
    .first()
    .click({ timeout: 10_000 });
  await expect(page.getByText("npm start").first()).toBeVisible();
  const origin = new URL(running.server.baseUrl).origin;
  expect(asked.filter((url) => new URL(url).origin !== origin)).toEqual([]);
});

// Guarantee: a page that does not exist is a page too, and an API path that does not exist is JSON.
test("unknown addresses", async ({ page, running }) => {
  const missing = await page.goto(`${running.server.baseUrl}/no-such-page/at-all`);
  expect(missing?.status()).toBe(404);
  const api = await page.request.get(`${running.server.baseUrl}/v1/nothing`);
  expect([api.status(), (await api.json()).code]).toEqual([404, "not_found"]);
});
