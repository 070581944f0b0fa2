import { type Browser, expect, type Page } from "@playwright/test";
import { STATES, type StateName } from "#components/checkout/state.ts";
import { LANGUAGES } from "#components/messages/languages.ts";
import { violationsInBothThemes } from "./axe.ts";
import { test } from "./fixtures.ts";
import type { CheckoutWorld } from "./wallets/checkout-world.ts";

/** States in which there is nothing to do but wait, or nothing to be had. */
const NO_ACTION: readonly StateName[] = ["loading", "finding", "submitted", "unknown"];
/** The form brings its own button. */
const FORMS: readonly StateName[] = ["information", "information_rejected"];

/** Nothing was handed in yet, and the payment is open: what is left of its time matters. */
const UNPAID: readonly StateName[] = [
  "connecting",
  "finding",
  "no_option",
  "information",
  "information_rejected",
  "approval",
  "approval_waiting",
  "in_wallet",
  "refused",
  "quote_changed",
  "nearly_expired",
  "still_due",
];

const address = ({ baseUrl }: CheckoutWorld, state: StateName, lang = "en", more = "") =>
  `${baseUrl}/gallery/${state}?lang=${lang}${more}`;

/** Where the page is wider than the screen, somebody has to scroll sideways to read it. */
const tooWide = (page: Page) =>
  page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);

/** What can be touched and is too small to be hit. */
const smallTargets = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll("button, summary, a[data-main], select")]
      .map((one) => ({ box: one.getBoundingClientRect(), text: one.textContent }))
      .filter(({ box }) => box.width > 0 && (box.height < 44 || box.width < 44))
      .map(({ text }) => text),
  );

/** What can be pressed and has neither an edge nor a line under it where a reader's own colours replace ours. */
async function bareActions(page: Page): Promise<(string | null)[]> {
  await page.emulateMedia({ forcedColors: "active" });
  const bare = await page.evaluate(() =>
    [...document.querySelectorAll("[data-main], form [type=submit]")]
      .filter((one) => {
        const { borderTopWidth, textDecorationLine } = getComputedStyle(one);
        return Number.parseFloat(borderTopWidth) === 0 && textDecorationLine === "none";
      })
      .map((one) => one.textContent),
  );
  await page.emulateMedia({ forcedColors: null });
  return bare;
}

/** By how much a phone's page is too wide for a reader who makes the letters twice as large. */
async function tooWideEnlarged(page: Page): Promise<number> {
  const size = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 844 });
  const enlarge = (letters: string) =>
    page.evaluate((set) => {
      document.documentElement.style.fontSize = set;
    }, letters);
  await enlarge("200%");
  const wide = await tooWide(page);
  await enlarge("");
  if (size !== null) await page.setViewportSize(size);
  return wide;
}

for (const state of STATES) {
  // Guarantee: nobody is shut out of a state by what they see, hear or hold: in light, in dark and in colours of their own, with large letters and large thumbs; a keyboard alone sets off what it is for.
  test(`${state} is accessible`, async ({ page, shop }) => {
    const problems: string[] = [];
    page.on("pageerror", (error) => problems.push(error.message));
    page.on("console", (message) => {
      if (message.type() === "error") problems.push(message.text());
    });
    await page.goto(address(shop, state));
    await expect(page.getByRole("heading", { level: 1 })).toHaveCount(1);
    await showsForm(page, state);
    expect(await violationsInBothThemes(page)).toEqual([]);
    expect(await tooWide(page)).toBeLessThanOrEqual(0);
    expect(await tooWideEnlarged(page)).toBe(0);
    expect(await smallTargets(page)).toEqual([]);
    expect(await bareActions(page)).toEqual([]);
    expect(problems).toEqual([]);
    await firesByKeyboard(page, state);
  });
}

/** Waits for the form of a state that has one; its scripts put it in its place, and judge it where it was sent back. */
async function showsForm(page: Page, state: StateName): Promise<void> {
  if (!FORMS.includes(state)) return;
  await expect(page.locator("form [type=submit]")).toBeEnabled();
  if (state === "information_rejected")
    await expect(page.locator("[aria-invalid=true]").first()).toBeFocused();
}

/** Reaches the main action of a state with the tab key, as its first or a later stop, and sets it off. */
async function firesByKeyboard(page: Page, state: StateName): Promise<void> {
  const main = page.locator(FORMS.includes(state) ? "form [type=submit]" : "[data-main]");
  await expect(main).toHaveCount(NO_ACTION.includes(state) ? 0 : 1);
  if (NO_ACTION.includes(state)) return;
  // Before its scripts run, a page only shows.
  await expect(page.locator("[data-live=true]")).toBeAttached();
  const isReached = () => main.evaluate((one) => one === document.activeElement);
  for (let presses = 0; presses < 40 && !(await isReached()); presses++)
    await page.keyboard.press("Tab");
  expect(await isReached()).toBe(true);
  await page.keyboard.press("Enter");
  if (FORMS.includes(state))
    await expect(page.locator("[aria-invalid=true]").first()).toBeFocused();
  else await expect(page.locator("[data-fired]")).not.toHaveAttribute("data-fired", "");
}

/** Opens every state at one size, which does not depend on scripts, but for the form: one of them puts it in its place. */
async function lookAtStates(
  browser: Browser,
  viewport: { width: number; height: number },
  look: (page: Page, state: StateName) => Promise<void>,
): Promise<void> {
  const scripted = await browser.newPage({ viewport });
  const plain = await browser.newPage({ viewport, javaScriptEnabled: false });
  for (const state of STATES) await look(FORMS.includes(state) ? scripted : plain, state);
  await scripted.close();
  await plain.close();
}

// Guarantee: every language reads in its own direction and fits the screen, down to the narrowest phone.
for (const { code, dir } of LANGUAGES)
  test(`the states fit in ${code}`, async ({ browser, shop }) => {
    await lookAtStates(browser, { width: 320, height: 640 }, async (page, state) => {
      await page.goto(address(shop, state, code));
      await showsForm(page, state);
      await expect(page.locator("html")).toHaveAttribute("lang", code);
      await expect(page.locator("html")).toHaveAttribute("dir", dir);
      expect([state, await tooWide(page)]).toEqual([state, 0]);
    });
  });

// Guarantee: the longest name a shop may have, without a place to break it, stays inside the page.
test("a shop may have a long name", async ({ browser, shop }) => {
  const merchant = `&merchant=${"Kaffeehaus".repeat(26).slice(0, 256)}`;
  await lookAtStates(browser, { width: 320, height: 640 }, async (page, state) => {
    await page.goto(address(shop, state, "en", merchant));
    await showsForm(page, state);
    expect([state, await tooWide(page)]).toEqual([state, 0]);
    const outside = await page.evaluate(() => {
      const edge = document.querySelector("section")?.getBoundingClientRect().right ?? 0;
      const texts = [...document.querySelectorAll("section h1, section p, section a")];
      return texts.filter((one) => one.getBoundingClientRect().right > edge + 1).length;
    });
    expect([state, outside]).toEqual([state, 0]);
  });
});

// Guarantee: in the last quarter the time that is left is in sight wherever the payment is still open.
test("the clock stays in sight", async ({ browser, shop }) => {
  const page = await browser.newPage({ viewport: { width: 320, height: 640 } });
  for (const state of UNPAID) {
    await page.goto(address(shop, state, "en", "&closing"));
    await expect(page.getByText("1:57", { exact: true })).toBeVisible();
    expect([state, await tooWide(page)]).toEqual([state, 0]);
  }
  await page.close();
});

// Guarantee: what stands over the amount, and the title in a row of tabs, say whether there is still something to pay.
test("the label and the title follow the payment", async ({ page, shop }) => {
  const payment = await shop.create();
  await page.goto(payment.url);
  const label = page.locator("main header");
  await expect(page).toHaveTitle(/^Pay Demo Shop · /);
  await expect(label).toContainText("To pay");
  await expect(page.getByRole("list", { name: "Wallets" })).toBeVisible();
  await shop.cancel(payment);
  await expect(page).toHaveTitle(/^Payment to Demo Shop · /);
  await expect(label).toContainText("Amount");
  await expect(label).not.toContainText("To pay");
  await page.reload();
  await expect(page).toHaveTitle(/^Payment to Demo Shop · /);
  await expect(label).toContainText("Amount");
});

// Guarantee: where no script runs there is nothing to press that would do nothing, and nothing that seems to be under way.
test("nothing is dead without scripts", async ({ browser, shop }) => {
  const { url } = await shop.create();
  const page = await browser.newPage({ javaScriptEnabled: false });
  await page.goto(url);
  await expect(page.getByText("To pay", { exact: true })).toBeVisible();
  await expect(page.getByRole("button")).toHaveCount(0);
  await expect(page.getByText("Looking for wallets")).toBeHidden();
  await page.close();
});
