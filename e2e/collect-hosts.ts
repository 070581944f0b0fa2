import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type BrowserContext, expect, type Frame, type Page } from "@playwright/test";
import { FORM } from "#server/testing/collect.ts";

/** One thing a wallet heard: through which bridge, and exactly what. */
export type Heard = { bridge: string; said: unknown };

type Place = Page | Frame;

/** A wallet of one platform showing the page. `heard` grows while it lives, over reloads. */
export type Host = { page: Page; place: Place; heard: Heard[] };

export type HostName = "android" | "webkit" | "react native" | "iframe" | "pop-up" | "none";

/** Puts the bridge of an app's web view where its page looks for it. */
function injectBridge(name: HostName): void {
  const record = (bridge: string) => (said: unknown) =>
    (window as unknown as { heardByTest(one: Heard): void }).heardByTest({ bridge, said });
  const bridges: Partial<Record<HostName, object>> = {
    android: { AndroidWallet: { onDataCollectionComplete: record("android") } },
    webkit: {
      webkit: { messageHandlers: { payDataCollectionComplete: { postMessage: record("webkit") } } },
    },
    "react native": { ReactNativeWebView: { postMessage: record("react native") } },
  };
  Object.assign(window, bridges[name]);
}

/** A wallet's own page on another origin: it shows the form in a frame or opens it, and writes down all it is told. */
const walletPage = (how: string, url: string): string => `<!doctype html><title>Wallet</title>
<script>
addEventListener("message", (event) => heardByTest({ bridge: ${JSON.stringify(how)}, said: event.data }));
</script>
${how === "iframe" ? `<iframe src="${url.replaceAll("&", "&amp;")}" width="390" height="1400"></iframe>` : ""}
<button onclick='window.open(${JSON.stringify(url)})'>Open</button>`;

/** Serves one wallet page on an origin of its own for as long as `work` runs. */
export async function withWalletPage<T>(
  how: "iframe" | "pop-up",
  url: string,
  work: (address: string) => Promise<T>,
): Promise<T> {
  const server = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end(walletPage(how, url));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    return await work(`http://localhost:${(server.address() as AddressInfo).port}/`);
  } finally {
    server.closeAllConnections();
    server.close();
  }
}

async function openInWallet(page: Page, how: "iframe" | "pop-up"): Promise<Place> {
  if (how === "iframe") {
    const frame = await (await page.waitForSelector("iframe")).contentFrame();
    if (frame === null) throw new Error("no frame");
    return frame;
  }
  const [opened] = await Promise.all([
    page.waitForEvent("popup"),
    page.getByRole("button", { name: "Open" }).click(),
  ]);
  return opened;
}

/** Shows the page as a wallet of this platform does, for as long as `work` runs. */
export async function inHost(
  context: BrowserContext,
  name: HostName,
  url: string,
  work: (host: Host) => Promise<void>,
): Promise<void> {
  const heard: Heard[] = [];
  const page = await context.newPage();
  await page.exposeFunction("heardByTest", (one: Heard) => {
    heard.push(one);
  });
  if (name === "iframe" || name === "pop-up")
    await withWalletPage(name, url, async (address) => {
      await page.goto(address);
      await work({ page, place: await openInWallet(page, name), heard });
    });
  else {
    await page.addInitScript(injectBridge, name);
    await page.goto(url);
    await work({ page, place: page, heard });
  }
  await page.close();
}

/** Fills the form in as a buyer does, and leaves it unsent. */
export async function fill(place: Place, form: typeof FORM = FORM): Promise<void> {
  // Before its scripts run, the page only shows.
  await expect(confirmButton(place)).toBeEnabled();
  await place.getByLabel("Full name").fill(form.fullName);
  await place.getByLabel("Date of birth").fill(form.dob);
  await place.getByLabel("Country of birth").selectOption(form.pobCountry);
  await place.getByLabel("Place of birth").fill(form.pobAddress);
  await place.getByRole("checkbox", { name: "I agree" }).check();
}

/** The button that sends the form, once it can. */
export const confirmButton = (place: Place) => place.getByRole("button", { name: "Confirm" });
