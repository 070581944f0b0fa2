import { expect, type Locator, type Page } from "@playwright/test";
import type { MadePayment } from "./checkout-world.ts";

/** Longest wait for what needs a few blocks of the chain. */
export const CHAIN_MS = 45_000;

/** What a buyer does on a checkout page, by what the page says; nothing of it knows how the page is built. */
export type Buyer = {
  page: Page;
  open(payment: MadePayment): Promise<void>;
  /** Waits for the one headline of a state. */
  sees(headline: string | RegExp, withinMs?: number): Promise<void>;
  /** Waits for a sentence anywhere on the page. */
  reads(text: string | RegExp): Promise<void>;
  click(name: string | RegExp): Promise<void>;
  connect(wallet?: string | RegExp): Promise<void>;
  /** Chooses a way to pay by what its line says. */
  pick(way: RegExp): Promise<void>;
  /** Connects, chooses and presses the button that pays. */
  pay(way: RegExp, wallet?: string | RegExp): Promise<void>;
  /** Waits for the end of a payment that went well. */
  seesPaid(): Promise<void>;
  option(way: RegExp): Locator;
};

/** Whatever comes between handing in and the end, in whichever order the chain lets it be seen. */
const PAID = "Payment complete";

/** Makes a buyer of a page. */
export function buyerOn(page: Page): Buyer {
  const headline = page.getByRole("heading", { level: 1 });
  const sees = (text: string | RegExp, withinMs?: number) =>
    expect(headline).toHaveText(text, withinMs === undefined ? {} : { timeout: withinMs });
  const click = (name: string | RegExp) => page.getByRole("button", { name }).click();
  const option = (way: RegExp) =>
    page.getByRole("radiogroup", { name: "Ways to pay" }).getByRole("radio", { name: way });
  const connect = async (wallet: string | RegExp = "Test Wallet") => {
    const list = page.getByRole("list", { name: "Wallets" });
    await list.getByRole("button", { name: wallet }).click();
  };
  const pick = (way: RegExp) => option(way).check();
  return {
    page,
    sees,
    click,
    option,
    connect,
    pick,
    open: async ({ url }) => {
      await page.goto(url);
      await sees("Choose how to pay");
      // They are there once the page's scripts run.
      await expect(page.getByRole("list", { name: "Wallets" })).toBeVisible();
    },
    reads: (text) => expect(page.getByText(text).first()).toBeVisible(),
    pay: async (way, wallet) => {
      await connect(wallet);
      await pick(way);
      await click(/^Pay /);
    },
    seesPaid: () => sees(PAID, CHAIN_MS),
  };
}
