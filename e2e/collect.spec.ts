import { spawn } from "node:child_process";
import { join } from "node:path";
import { expect, type Page } from "@playwright/test";
import { environment } from "#server/sandbox/migrate.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { call, until } from "#server/testing/api.ts";
import { CANARIES, FORM, rowsOf } from "#server/testing/collect.ts";
import { violationsInBothThemes, violationsOf } from "./axe.ts";
import { confirmButton, fill, inHost, withWalletPage } from "./collect-hosts.ts";
import type { FormShop } from "./collect-world.ts";
import { onBothScreens, test } from "./fixtures.ts";

const prefillOf = (known: object) =>
  encodeURIComponent(Buffer.from(JSON.stringify(known)).toString("base64"));

/** What an operator reads by `npm run collected`. */
async function collected(shop: FormShop, id: string): Promise<string> {
  const { databaseUrl, memory } = shop.world.world;
  const args = [id, "--reader", "dana", "--reason", "a test of the page"];
  const child = spawn(
    join(ROOT, "node_modules/.bin/node"),
    [join(ROOT, "server/cli/collected.ts"), ...args],
    {
      cwd: ROOT,
      env: {
        ...environment(),
        DATABASE_URL: databaseUrl,
        FLORIN_DATA_SECRET: memory.dataSecret,
      },
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 30_000,
    },
  );
  let text = "";
  for await (const chunk of child.stdout) text += chunk;
  return text;
}

/** The message beside a control, as it is read out with it. */
const messageOf = (page: Page, label: string) =>
  page.getByLabel(label).evaluate((control) =>
    (control.getAttribute("aria-describedby") ?? "")
      .split(" ")
      .map((id) => document.getElementById(id)?.textContent)
      .at(-1),
  );

// Guarantee: what a buyer writes here is what the operator reads, and with it the wallet's confirm passes.
onBothScreens(() => {
  test("given on the page, kept by the server, and the payment goes through", async ({
    page,
    formShop: shop,
  }) => {
    const { id, url, buyer } = await shop.open();
    const option = await buyer.option(id);
    const outputs = await buyer.sign(option);
    const before = await buyer.confirm(id, option.id, outputs);
    expect([before.status, before.body.code]).toEqual([400, "params_validation"]);
    await page.goto(url);
    await fill(page);
    await confirmButton(page).click();
    await expect(page.getByRole("heading", { name: "stored" })).toBeVisible();
    const read = await collected(shop, id);
    for (const value of [FORM.fullName, FORM.dob, FORM.pobCountry, FORM.pobAddress])
      expect(read).toContain(value);
    expect((await buyer.option(id)).collectData).toBeNull();
    expect((await buyer.confirm(id, option.id, outputs)).status).toBe(200);
    expect((await buyer.final(id)).body.status).toBe("succeeded");
  });
});

// Guarantee: what is wrong is said beside its field and to screen readers, what was typed stays, and the wallet hears nothing of it.
test("answers that need correcting", async ({ context, formShop: shop }) => {
  const { id, url } = await shop.open();
  await inHost(context, "android", url, async ({ page, heard }) => {
    await confirmButton(page).click();
    await expect(page.getByLabel("Full name")).toBeFocused();
    await expect(page.getByRole("alert").first()).toContainText("5 answers need to be corrected");
    expect(await messageOf(page, "Full name")).toBe("Fill this in.");
    expect(await messageOf(page, "Date of birth")).toBe("Enter your full date of birth.");
    expect(await messageOf(page, "Country of birth")).toBe("Choose a country.");
    await fill(page, { ...FORM, dob: "2099-01-01" });
    await confirmButton(page).click();
    await expect(page.getByLabel("Date of birth")).toBeFocused();
    expect(await messageOf(page, "Date of birth")).toBe("Enter a date in the past.");
    await expect(page.getByLabel("Full name")).toHaveValue(FORM.fullName);
    await page.getByLabel("Date of birth").fill(FORM.dob);
    // What only the server finds: the form is bent on its way.
    await page.route(
      "**/api/trpc/collect.submit",
      (route) =>
        route.continue({
          postData: route.request().postData()?.replace(FORM.dob, "1850-01-01") ?? "",
        }),
      { times: 1 },
    );
    await confirmButton(page).click();
    await expect(page.getByLabel("Date of birth")).toBeFocused();
    expect(await messageOf(page, "Date of birth")).toMatch(/^Enter a year from \d{4} on\.$/);
    expect(heard).toEqual([]);
    expect(await rowsOf(shop.world, id)).toEqual([]);
    await confirmButton(page).click();
    await expect.poll(() => heard.length).toBe(1);
  });
});

// Guarantee: one place is enough, either one, and only the one on screen is sent.
test("the place of residence instead", async ({ page, formShop: shop }) => {
  const { id, url } = await shop.open();
  await page.goto(url);
  await fill(page);
  await page.getByRole("radio", { name: "Where I live" }).check();
  await expect(page.getByLabel("Place of birth")).toBeHidden();
  await page.getByLabel("Country of residence").selectOption("CH");
  await page.getByLabel("Address").fill("Bahnhofstrasse 1, Zürich");
  await confirmButton(page).click();
  await expect(page.getByRole("heading", { name: "stored" })).toBeVisible();
  const names = ["dob", "fullName", "porAddress", "porCountry", "tosConfirmed"];
  expect((await rowsOf(shop.world, id)).map(({ name }) => name)).toEqual(names);
});

// Guarantee: what the wallet knows stands in the form, and neither it nor the token reaches anybody else: no other server, no referrer, no log, no console.
test("prefill and what does not leak", async ({ page, formShop: shop }) => {
  const { id, url } = await shop.open();
  const token = new URL(url).searchParams.get("t") ?? "";
  const asked: string[] = [];
  const told: string[] = [];
  page.on("request", (request) => asked.push(request.url(), request.headers().referer ?? ""));
  page.on("console", (message) => told.push(message.text()));
  page.on("pageerror", (error) => told.push(String(error)));
  const prefill = prefillOf({ ...FORM, passport: "none" });
  await page.goto(`${url}&prefill=${prefill}`);
  await expect(page.getByLabel("Full name")).toHaveValue(FORM.fullName);
  await expect(page.getByLabel("Country of birth")).toHaveValue(FORM.pobCountry);
  await expect(page.getByRole("checkbox")).not.toBeChecked();
  await expect.poll(() => page.url()).not.toContain("prefill");
  await page.getByRole("checkbox").check();
  await confirmButton(page).click();
  await expect(page.getByRole("heading", { name: "stored" })).toBeVisible();
  const origin = new URL(shop.server.baseUrl).origin;
  // The log is written a little later than what it tells.
  await until(
    async () => shop.server.output().split("\n"),
    (lines) => lines.some((line) => line.includes("collect.submit") && line.includes(id)),
  );
  const [first, , ...later] = asked;
  expect(first).toContain(prefill);
  expect(later.filter((one) => one !== "" && new URL(one).origin !== origin)).toEqual([]);
  const elsewhere = [...later, ...told, shop.server.output()].join("\n");
  for (const secret of [prefill, token, ...CANARIES]) expect(elsewhere).not.toContain(secret);
  expect(told).toEqual([]);
  const broken = await page.goto(`${(await shop.open()).url}&prefill=%25%E0!!`);
  expect(broken?.status()).toBe(200);
  await expect(page.getByLabel("Full name")).toHaveValue("");
});

/** Every control is big enough for a thumb: its own box, or the line of its label. */
const smallTargets = (page: Page) =>
  page.locator("main :is(input, select, button, summary):visible").evaluateAll((controls) =>
    controls.flatMap((control) => {
      const line = control.matches("[type=checkbox], [type=radio]")
        ? control.closest("label")
        : control;
      const height = line?.getBoundingClientRect().height ?? 0;
      return height < 44 ? [`${control.outerHTML.slice(0, 80)}: ${height}`] : [];
    }),
  );

/** Leaves the first few of 250 countries; looking at all of them takes half a minute. */
const shorten = (page: Page) =>
  page.locator("option:nth-child(n + 4)").evaluateAll((options) => {
    for (const option of options) option.remove();
  });

// Guarantee: people who see little or use a thumb can fill it in, in both schemes and both directions of writing, and nothing is cut off on a small phone.
onBothScreens(() => {
  test("accessible in light, dark and Arabic", async ({ page, formShop: shop }) => {
    const { url } = await shop.open();
    for (const [language, send] of [
      ["en", "Confirm"],
      ["ar", "تأكيد"],
    ] as const) {
      await page.setViewportSize({ width: 320, height: 700 });
      await page.goto(`${url}&lang=${language}`);
      await page.getByRole("button", { name: send }).click();
      await expect(page.locator("[aria-invalid]")).toHaveCount(5);
      expect(await smallTargets(page)).toEqual([]);
      await shorten(page);
      const [width, screen] = await page.evaluate(() => [
        document.documentElement.scrollWidth,
        window.innerWidth,
      ]);
      expect(width).toBeLessThanOrEqual(screen ?? 0);
      expect(await violationsInBothThemes(page)).toEqual([]);
    }
    expect(await page.locator("html").getAttribute("dir")).toBe("rtl");
    await page.goto(`${url}x`);
    await expect(page.getByRole("heading", { level: 1 })).toBeVisible();
    expect(await violationsOf(page)).toEqual([]);
  });
});

// Guarantee: the form can be filled in and sent by keyboard alone, in the order it is read.
test("keyboard only", async ({ page, formShop: shop }) => {
  const { url } = await shop.open();
  await page.goto(url);
  await expect(confirmButton(page)).toBeEnabled();
  const focused = () => page.evaluate(() => document.activeElement?.getAttribute("name"));
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("fullName");
  await page.keyboard.type("Ada Lovelace");
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("dob");
  await page.keyboard.type("12101985");
  while ((await focused()) === "dob") await page.keyboard.press("Tab");
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("porCountry");
  await page.keyboard.type("Norw");
  await page.keyboard.press("Tab");
  await page.keyboard.type("Oslo");
  await page.keyboard.press("Tab");
  await page.keyboard.press("Enter");
  await expect(page.getByText("Nothing else is asked")).toBeVisible();
  await page.keyboard.press("Tab");
  expect(await focused()).toBe("tosConfirmed");
  await page.keyboard.press("Space");
  await page.keyboard.press("Enter");
  await expect(page.getByRole("heading", { name: "stored" })).toBeFocused();
});

// Guarantee: the wallet's scheme wins over the device's, and without it the device's counts.
test("theme", async ({ page, formShop: shop }) => {
  const { url } = await shop.open();
  const ground = async (query: string) => {
    await page.goto(url + query);
    return page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  };
  await page.emulateMedia({ colorScheme: "light" });
  const light = await ground("");
  const dark = await ground("&theme=dark");
  expect(dark).not.toBe(light);
  await page.emulateMedia({ colorScheme: "dark" });
  expect([await ground(""), await ground("&theme=light"), await ground("&theme=pink")]).toEqual([
    dark,
    light,
    dark,
  ]);
});

// Guarantee: without scripts the page says what it needs, and a press sends nothing anywhere.
test("no script", async ({ browser, formShop: shop }) => {
  const { url } = await shop.open();
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(url);
  const sentence = page.locator("noscript p");
  await expect(sentence).toBeVisible();
  await expect(sentence).toContainText("This form needs JavaScript");
  await expect(confirmButton(page)).toBeDisabled();
  await page.close();
});

// Guarantee: a wallet of any origin may frame this page, and nobody may frame the checkout.
test("framing", async ({ page, formShop: shop }) => {
  const { id } = await shop.open();
  const checkout = `${shop.server.baseUrl}/${id}`;
  await withWalletPage("iframe", checkout, async (address) => {
    const refused = page.waitForEvent("console", (one) => /frame/i.test(one.text()));
    await page.goto(address);
    expect((await refused).text()).toContain("frame-ancestors 'none'");
  });
  const { headers } = await call(shop.server.baseUrl, "GET", "/collect");
  expect(headers.get("x-frame-options")).toBeNull();
  expect(headers.get("content-security-policy")).toMatch(/frame-ancestors https: /);
  expect(headers.get("referrer-policy")).toBe("no-referrer");
  expect(headers.get("cache-control")).toContain("no-store");
  expect(headers.get("cross-origin-opener-policy")).toBeNull();
});
