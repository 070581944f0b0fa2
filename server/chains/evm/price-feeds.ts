import type { Price } from "#server/domain/money/convert.ts";
import type { Log } from "#server/platform/log.ts";
import type { FeedEntry, ForeignPrice, Registry } from "#server/platform/registry.ts";
import type { PriceSource } from "#server/ports/prices.ts";
import { shortCache } from "../short-cache.ts";
import { assetOf, nativeAssetOf } from "./context.ts";
import { CLOCK_CALL, feedCalls, type Reading, readRound } from "./feed.ts";
import type { Rpc } from "./rpc.ts";

/** How long a read price is used again: less than a block of most chains. */
const KEEP_MS = 500;
const USD: Price = { usdE8: 100_000_000n, source: "USD", updatedAt: 0 };

/** Reads a feed by the chain's own clock. */
async function readFeed(rpc: Rpc, feed: FeedEntry): Promise<Reading> {
  const [round, digits, block] = await rpc.batch([...feedCalls(feed), CLOCK_CALL]);
  return readRound(feed, [round, digits, block]);
}

/**
 * Prices from feeds on the configured chains, and fixed rates where the registry names them. `foreign` are the prices of assets on
 * chains that have no feeds of their own.
 */
export function createPriceSource(
  registry: Registry,
  rpcs: Map<string, Rpc>,
  log: Log,
  foreign: ReadonlyMap<string, ForeignPrice> = new Map(),
): PriceSource {
  const cache = shortCache<Price | null>(KEEP_MS);
  const ask = (chain: string, feed: FeedEntry): Promise<Price | null> => {
    const rpc = rpcs.get(chain);
    if (rpc === undefined) return Promise.resolve(null);
    return cache(`${chain} ${feed.address}`, async () => {
      const { price, reason } = await readFeed(rpc, feed);
      if (price === null)
        log.warn({ chain, feed: feed.address, reason }, "a price feed is stale or refuses");
      return price;
    });
  };
  const feeds = new Map(foreign);
  for (const { caip2, native, tokens } of registry.chains) {
    if (native.feed !== null)
      feeds.set(nativeAssetOf({ caip2, native }), { chain: caip2, feed: native.feed });
    for (const { address, feed } of tokens)
      if (feed !== null) feeds.set(assetOf(caip2, address), { chain: caip2, feed });
  }
  const priceOf = async (source: ForeignPrice): Promise<Price | null> =>
    "usdPerUnitE8" in source
      ? { usdE8: BigInt(source.usdPerUnitE8), source: "fixed", updatedAt: 0 }
      : ask(source.chain, source.feed);
  const sourceOf = (code: string) =>
    Object.hasOwn(registry.currencies, code) ? (registry.currencies[code] ?? null) : null;
  return {
    hasFiat(code) {
      const source = sourceOf(code);
      return (
        code === "USD" || (source !== null && (!("chain" in source) || rpcs.has(source.chain)))
      );
    },
    async fiat(code) {
      if (code === "USD") return USD;
      const source = sourceOf(code);
      return source === null ? null : priceOf(source);
    },
    async token(asset) {
      const found = feeds.get(asset);
      return found === undefined ? null : priceOf(found);
    },
  };
}
