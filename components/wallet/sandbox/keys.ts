import { type Hex, isHex } from "viem";
import { generatePrivateKey } from "viem/accounts";
import { PERSONALITIES, type Personality } from "./personality.ts";

const PLACE = "florin.sandbox-wallet";

/** 32 bytes of a private key, and whether its account was given money. */
type Purse = { key: Hex; funded: boolean };

/** What a tab remembers of its sandbox wallet over a reload. */
export type Remembered = { personality: Personality; eip155: Purse; solana: Purse };

function readStored(): { [K in keyof Remembered]?: unknown } {
  try {
    const stored: unknown = JSON.parse(sessionStorage.getItem(PLACE) ?? "{}");
    return typeof stored === "object" && stored !== null ? stored : {};
  } catch {
    return {};
  }
}

function purseOf(stored: unknown): Purse {
  const { key, funded } = (typeof stored === "object" && stored !== null ? stored : {}) as {
    key?: unknown;
    funded?: unknown;
  };
  return isHex(key) && key.length === 66
    ? { key, funded: funded === true }
    : { key: generatePrivateKey(), funded: false };
}

/** The tab's wallet, or a fresh one with keys of its own. */
export function recall(): Remembered {
  const { personality, eip155, solana } = readStored();
  return {
    personality: PERSONALITIES.find(({ id }) => id === personality)?.id ?? "asks",
    eip155: purseOf(eip155),
    solana: purseOf(solana),
  };
}

/** Keeps the wallet for this tab; where the browser keeps nothing, it lives until the next reload. */
export function remember(wallet: Remembered): void {
  try {
    sessionStorage.setItem(PLACE, JSON.stringify(wallet));
  } catch {
    // A private window without storage still has a wallet, only a shorter one.
  }
}
