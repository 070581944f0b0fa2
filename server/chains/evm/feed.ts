import { decodeFunctionResult, encodeFunctionData, type Hex } from "viem";
import { pow10 } from "#server/domain/money/amount.ts";
import { PRICE_SCALE, type Price } from "#server/domain/money/convert.ts";
import type { FeedEntry } from "#server/platform/registry.ts";
import { FEED_ABI } from "./abi.ts";
import { toNumber } from "./context.ts";
import { type RpcCall, RpcRefusal } from "./rpc.ts";

/** More digits than any feed has; a number beyond it is not meant as decimals. */
const MOST_DECIMALS = 36;

const callFeed = (address: string, functionName: "latestRoundData" | "decimals"): RpcCall => ({
  method: "eth_call",
  params: [{ to: address, data: encodeFunctionData({ abi: FEED_ABI, functionName }) }, "latest"],
});

/** What a feed is asked: its last round and its decimals, in this order. */
export const feedCalls = ({ address }: FeedEntry): [RpcCall, RpcCall] => [
  callFeed(address, "latestRoundData"),
  callFeed(address, "decimals"),
];

/** What is asked for the time by which a feed is fresh or stale. */
export const CLOCK_CALL: RpcCall = { method: "eth_getBlockByNumber", params: ["latest", false] };

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
    return decimals > MOST_DECIMALS ? null : { roundId, answer, updatedAt, decimals };
  } catch {
    // The answer is not that of a feed.
    return null;
  }
}

/** A price, or why there is none; `isFeed` false: the contract is no feed and never will be. */
export type Reading =
  | { price: Price; isFeed: true; reason: null }
  | { price: null; isFeed: boolean; reason: string };

const none = (reason: string, isFeed = true): Reading => ({ price: null, isFeed, reason });

/** What a feed's answers and the chain's own clock come to. */
export function readRound(
  { address, heartbeatS }: FeedEntry,
  [round, digits, block]: [round: unknown, digits: unknown, block: unknown],
): Reading {
  const read = decodeRound(round, digits);
  if (read === null) return none(`${address} does not answer as a price feed does`, false);
  if (block == null || block instanceof RpcRefusal) return none("the node tells no time");
  const { roundId, answer, updatedAt, decimals } = read;
  const now = toNumber((block as { timestamp?: unknown }).timestamp);
  if (updatedAt === 0n || updatedAt + BigInt(heartbeatS) < now)
    return none(`the answer of ${address} is older than its heartbeat of ${heartbeatS} seconds`);
  const usdE8 =
    decimals >= PRICE_SCALE
      ? answer / pow10(decimals - PRICE_SCALE)
      : answer * pow10(PRICE_SCALE - decimals);
  if (usdE8 <= 0n) return none(`the answer of ${address} is not positive`);
  const price = { usdE8, source: `${address}#${roundId}`, updatedAt: Number(updatedAt) };
  return { price, isFeed: true, reason: null };
}
