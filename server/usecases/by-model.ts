import type { ChainHead, ChainPort } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import { advanceIntents } from "./advance-intents.ts";
import { advanceLifetimes, endLapsed } from "./advance-lifetimes.ts";
import { endImpossible } from "./end-impossible.ts";
import { type Scanned, scanChain } from "./scan-chain.ts";
import { scanStretches } from "./scan-stretches.ts";

/** What a chain's model decides: how it is read, how transactions are brought to their end, and what proves that one never lands. */
export type ModelWork = {
  /** `caughtUp`: everything up to the head was read, and the next block is not due before its time. */
  scan(scanned: Scanned): Promise<{ head: ChainHead; moved: boolean; caughtUp: boolean }>;
  advance(head: ChainHead): Promise<void>;
  /** `suspects` are payments whose authorization looks used. */
  endImpossible(suspects: string[]): Promise<void>;
};

/** The work of a chain by its model: the one place where models are told apart by the worker. */
export function workOf(services: Services, chain: ChainPort): ModelWork {
  if (chain.model === "nonces")
    return {
      scan: (scanned) => scanChain(services, chain, scanned),
      advance: (head) => advanceIntents(services, chain, head),
      endImpossible: (suspects) => endImpossible(services, chain, suspects),
    };
  return {
    scan: async () => ({ ...(await scanStretches(services, chain)), caughtUp: false }),
    advance: () => advanceLifetimes(services, chain),
    endImpossible: () => endLapsed(services, chain),
  };
}
