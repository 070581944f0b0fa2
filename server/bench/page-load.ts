import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type Browser, chromium, devices } from "@playwright/test";
import type { BenchServer } from "./bench-world.ts";

/** One page in one kind of window: medians in milliseconds, and the layout shift of the worst load (0.1 is where it is felt). */
export type Painted = { name: string; firstByteMs: number; largestMs: number; shift: number };

type Load = Omit<Painted, "name">;

/** Loads of each page; the browser is new to the page every time. */
const LOADS = 7;
/** How long after its load a page may still paint and shift. */
const SETTLED_MS = 1_500;
const BARE =
  "<!doctype html><html lang=en><meta name=viewport content='width=device-width'><title>.</title><h1>Pay</h1></html>";

const median = (values: number[]): number =>
  values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? Number.NaN;

/** What the browser itself counts, from the first byte on; runs in the page. */
function readPaint(settledMs: number): Promise<Load> {
  return new Promise((resolve) => {
    let largestMs = Number.NaN;
    let shift = 0;
    new PerformanceObserver((list) => {
      largestMs = list.getEntries().at(-1)?.startTime ?? largestMs;
    }).observe({ type: "largest-contentful-paint", buffered: true });
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries() as (PerformanceEntry & { value: number })[])
        shift += entry.value;
    }).observe({ type: "layout-shift", buffered: true });
    setTimeout(() => {
      const [navigation] = performance.getEntriesByType(
        "navigation",
      ) as PerformanceNavigationTiming[];
      resolve({ firstByteMs: navigation?.responseStart ?? Number.NaN, largestMs, shift });
    }, settledMs);
  });
}

async function paint(browser: Browser, name: string, url: string, phone: boolean) {
  const loads: Load[] = [];
  for (let turn = 0; turn < LOADS; turn++) {
    const context = await browser.newContext(devices[phone ? "Pixel 7" : "Desktop Chrome"]);
    const page = await context.newPage();
    await page.goto(url, { waitUntil: "load" });
    loads.push(await page.evaluate(readPaint, SETTLED_MS));
    await context.close();
  }
  return {
    name,
    firstByteMs: median(loads.map(({ firstByteMs }) => firstByteMs)),
    largestMs: median(loads.map(({ largestMs }) => largestMs)),
    shift: Math.max(...loads.map(({ shift }) => shift)),
  };
}

/** The checkout of a payment on a phone and on a desk, after a page of one line from `node:http` in the same browser. */
export async function measurePages(server: BenchServer, paymentId: string): Promise<Painted[]> {
  const bare = createServer((_, response) =>
    response.writeHead(200, { "Content-Type": "text/html; charset=utf-8" }).end(BARE),
  );
  await new Promise<void>((resolve) => bare.listen(0, "127.0.0.1", resolve));
  // biome-ignore lint/style/noProcessEnv: the browser tests take a Chromium by this name too.
  const executablePath = process.env.CHROMIUM_PATH ?? "/usr/bin/chromium";
  const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
  try {
    const floor = `http://127.0.0.1:${(bare.address() as AddressInfo).port}/`;
    const checkout = `${server.baseUrl}/${paymentId}`;
    return [
      await paint(browser, "checkout, phone", checkout, true),
      await paint(browser, "  one line of HTML", floor, true),
      await paint(browser, "checkout, desk", checkout, false),
      await paint(browser, "  one line of HTML", floor, false),
    ];
  } finally {
    await browser.close();
    bare.close();
  }
}
