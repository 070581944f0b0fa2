import { type BrowserContext, test as base, devices, expect } from "@playwright/test";
import { type Anvil, startAnvil } from "#server/sandbox/anvil.ts";
import { type FormShop, openFormShop } from "./collect-world.ts";
import { type BuiltKit, buildKit } from "./wallets/build-kit.ts";
import { type CheckoutWorld, openCheckoutWorld } from "./wallets/checkout-world.ts";

type OfWorker = {
  /** A shop in a world with one chain. */
  shop: CheckoutWorld;
  /** A shop in a world with two chains and one of Solana. */
  everyChain: CheckoutWorld;
  /** The same world as `shop`, by a merchant that asks for data. */
  formShop: FormShop;
  /** The wallet code alone, bundled. */
  kit: BuiltKit;
  /** A chain without contracts. */
  anvil: Anvil;
};

const START_MS = 180_000;

const shopWith =
  (chains: "one" | "every") =>
  // biome-ignore lint/correctness/noEmptyPattern: the runner reads fixtures from this pattern.
  async ({}, use: (shop: CheckoutWorld) => Promise<void>) => {
    const shop = await openCheckoutWorld(chains);
    await use(shop);
    await shop.world.stop();
  };

/**
 * Every test begins here. Worlds belong to a worker and start when its first test asks for them. The runner keeps a worker only for
 * tests with the same worker fixtures, so they are all here: with others a file would cost a world of its own.
 */
export const test = base.extend<object, OfWorker>({
  shop: [shopWith("one"), { scope: "worker", timeout: START_MS }],
  everyChain: [shopWith("every"), { scope: "worker", timeout: START_MS }],
  formShop: [
    async ({ shop }, use) => use(await openFormShop(shop)),
    { scope: "worker", timeout: START_MS },
  ],
  kit: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads fixtures from this pattern.
    async ({}, use) => use(await buildKit()),
    { scope: "worker", timeout: START_MS },
  ],
  anvil: [
    // biome-ignore lint/correctness/noEmptyPattern: the runner reads fixtures from this pattern.
    async ({}, use) => {
      const anvil = await startAnvil({ chainId: 31337 });
      await use(anvil);
      await anvil.stop();
    },
    { scope: "worker", timeout: START_MS },
  ],
});

// The browser is the same one; naming it again would take another worker, with worlds of its own.
const { defaultBrowserType: _, ...PHONE } = devices["Pixel 7"];

/** Declares tests twice: for a desk and for a phone. */
export function onBothScreens(declare: () => void): void {
  test.describe("desk", declare);
  test.describe("phone", () => {
    test.use(PHONE);
    declare();
  });
}

/** What no page may do: throw, or try what its policy forbids. */
function listenForFaults(context: BrowserContext): string[] {
  const faults: string[] = [];
  context.on("weberror", (fault) => faults.push(fault.error().stack ?? fault.error().message));
  context.on("console", (message) => {
    if (/content security policy/i.test(message.text())) faults.push(message.text());
  });
  return faults;
}

/** A test of the checkout; it fails if a page of its context throws or breaks its policy. */
export const checkoutTest = test.extend<{ faultless: undefined }>({
  faultless: [
    async ({ context }, use) => {
      const faults = listenForFaults(context);
      await use(undefined);
      expect(faults).toEqual([]);
    },
    { auto: true },
  ],
});
