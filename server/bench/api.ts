import type { BenchWorld } from "./bench-world.ts";
import { requestText } from "./raw-http.ts";

/** A purchase of 12.50 USD as a shop's backend describes it. */
export const ORDER = {
  amount: { unit: "iso4217/USD", value: "1250" },
  referenceId: "order-20261120-000117",
  checkout: {
    successUrl: "https://shop.example/orders/117/thanks",
    errorUrl: "https://shop.example/orders/117/payment",
  },
  metadata: { cart: "c_8842190", channel: "web" },
};

/** What a shop's backend sends to be known. */
export const shopHeaders = ({ shop }: BenchWorld): Record<string, string> => ({
  "Api-Key": shop.apiKey,
  "Merchant-Id": shop.id,
});

/** What a wallet sends to be known. */
export const walletHeaders = ({ demo }: BenchWorld): Record<string, string> => ({
  "Api-Key": demo.gateway.apiKey,
});

/** A create as a load process sends it; with `key`, every request has an Idempotency-Key of its own that starts with it. */
export const createText = (
  path: string,
  headers: Record<string, string>,
  key: string | null,
): string =>
  requestText(
    "POST",
    path,
    { ...headers, ...(key === null ? {} : { "Idempotency-Key": `${key}-{n}` }) },
    JSON.stringify(ORDER),
  );

const WITHIN_MS = 40_000;

/** One call; throws unless it is answered with 2xx. `Body` is what the caller knows the answer to be. */
export async function ask<Body>(
  baseUrl: string,
  method: "GET" | "POST",
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Body> {
  const response = await fetch(`${baseUrl}${path}`, {
    method,
    headers: { ...headers, ...(body === undefined ? {} : { "Content-Type": "application/json" }) },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(WITHIN_MS),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text) as Body;
}

/** Makes `count` payments over HTTP, eight at a time; returns their ids. `seconds` is their lifetime. */
export async function createMany(
  world: BenchWorld,
  baseUrl: string,
  count: number,
  seconds = 3_600,
): Promise<string[]> {
  const ids: string[] = [];
  let asked = 0;
  const lane = async () => {
    while (asked < count) {
      asked++;
      const expiresAt = Math.floor(Date.now() / 1000) + seconds;
      const { paymentId } = await ask<{ paymentId: string }>(
        baseUrl,
        "POST",
        "/v1/merchant/payment",
        shopHeaders(world),
        { ...ORDER, expiresAt },
      );
      ids.push(paymentId);
    }
  };
  await Promise.all(Array.from({ length: 8 }, lane));
  return ids;
}
