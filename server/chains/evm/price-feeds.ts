import { decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { pow10 } from "#server/domain/money/amount.ts";
import { PRICE_SCALE, type Price } from "#server/domain/money/convert.ts";
import type { Log } from "#server/platform/log.ts";
import type { FeedEntry, ForeignPrice, Registry } from "#server/platform/registry.ts";
import type { PriceSource } from "#server/ports/prices.ts";
import { shortCache } from "../short-cache.ts";
import { FEED_ABI } from "./abi.ts";
import { assetOf, nativeAssetOf, toNumber } from "./context.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";

/** How long a read price is used again: less than a block of most chains. */
const KEEP_MS = 500;
const USD: Price = { usdE8: 100_000_000n, source: "USD", updatedAt: 0 };

const callFeed = (address: string, functionName: "latestRoundData" | "decimals") => ({
  method: "eth_call",
  params: [{ to: address, data: encodeFunctionData({ abi: FEED_ABI, functionName }) }, "latest"],
});

type Round = { roundId: bigint; answer: bigint; updatedAt: bigint; decimals: number };

/** A feed's answer; null: there is no such contract at this address. */
function decodeRound(round: unknown, digits: unknown): Round | null {
  if (typeof round !== "string" || typeof digits !== "string") return null;
  try {
    const data = { abi: FEED_ABI } as const;
    const [roundId, answer, , updatedAt] = decodeFunctionResult({
      ...data,
      functionName: "latestRoundData",
      data: round as Hex,
    });
    const decimals = decodeFunctionResult({
      ...data,
      functionName: "decimals",
      data: digits as Hex,
    });
    return { roundId, answer, updatedAt, decimals };
  } catch {
    // The answer is not that of a feed.
    return null;
  }
}

/** Reads a feed; null: its answer is not positive, is older than its heartbeat by the chain's own clock, or it refuses. */
async function readFeed(rpc: Rpc, { address, heartbeatS }: FeedEntry): Promise<Price | null> {
  const [round, digits, block] = await rpc.batch([
    callFeed(address, "latestRoundData"),
    callFeed(address, "decimals"),
    { method: "eth_getBlockByNumber", params: ["latest", false] },
  ]);
  const read = decodeRound(round, digits);
  if (read === null || block == null || block instanceof RpcRefusal) return null;
  const { roundId, answer, updatedAt, decimals } = read;
  const now = toNumber((block as { timestamp?: unknown }).timestamp);
  if (updatedAt === 0n || updatedAt + BigInt(heartbeatS) < now) return null;
  const usdE8 =
    decimals >= PRICE_SCALE
      ? answer / pow10(decimals - PRICE_SCALE)
      : answer * pow10(PRICE_SCALE - decimals);
  if (usdE8 <= 0n) return null;
  return { usdE8, source: `${address}#${roundId}`, updatedAt: Number(updatedAt) };
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
      const price = await readFeed(rpc, feed);
      if (price === null)
        log.warn({ chain, feed: feed.address }, "a price feed is stale or refuses");
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
