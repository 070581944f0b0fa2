import { formatMinor } from "#server/domain/money/amount.ts";
import type { Money, Progress } from "./situation.ts";

/** An amount as people read it: `25.00 USDC on Base`, or `25.00 USD` for money of a country. */
export function inWords({ minor, decimals, symbol, network }: Money): string {
  const amount = `${formatMinor(minor, decimals)} ${symbol}`;
  return network === null ? amount : `${amount} on ${network}`;
}

/** Unix seconds as `2026-11-21 12:00:00 UTC`. */
export const timeInWords = (seconds: number): string =>
  // biome-ignore lint/style/noRestrictedGlobals: writes a time that is given, reads no clock.
  `${new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ")} UTC`;

/** `1 block` or `3 blocks`. */
export const counted = (count: number | bigint, noun: string): string =>
  `${count} ${noun}${BigInt(count) === 1n ? "" : "s"}`;

/** What is still awaited before a transfer counts. */
export function progressInWords(progress: Progress): string {
  if ("need" in progress)
    return `${progress.have} of ${counted(progress.need, "confirmation")} so far`;
  return progress.tag === "safe"
    ? "it counts once the network calls its block safe"
    : "it counts once the network calls its block final";
}

/** Since when the service is without word from a network; null: it never had any. */
export const silence = (since: number | null, network: string): string =>
  since === null
    ? `has not heard from ${network}`
    : `has heard nothing from ${network} since ${timeInWords(since)}`;
