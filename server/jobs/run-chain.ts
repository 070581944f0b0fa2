import type { ChainPort } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { NewException, Store } from "#server/ports/store.ts";
import { workOf } from "#server/usecases/by-model.ts";
import { executeRefunds } from "#server/usecases/execute-refunds.ts";
import { finalizeCaptures, orphanCaptures } from "#server/usecases/finalize-captures.ts";
import { followPushes } from "#server/usecases/follow-pushes.ts";
import { judgeArrivals } from "#server/usecases/judge-arrivals.ts";
import type { Scanned } from "#server/usecases/scan-chain.ts";
import { settle } from "#server/usecases/settle.ts";
import { submitCapture } from "#server/usecases/submit-capture.ts";
import { watchRefunds } from "#server/usecases/watch-refunds.ts";
import { signersOf, watchSigners } from "#server/usecases/watch-signers.ts";

/** Pause between two sweeps for work that no new block brought about; a turn with a new block sweeps too when half of it is over. */
const SWEEP_EVERY_MS = 1_000;
const SUBMIT_BATCH = 500;
/** Part of a chain's block time after a block in which nobody asks for the next one. */
const QUIET_PART = 0.75;
/** Pause between two looks at our keys: so many blocks, and never less than the second figure. */
const KEYS_EVERY_BLOCKS = 10;
const KEYS_EVERY_MS = 5_000;

/** Starts the nonce counters of a chain's signers where they are on chain; an existing counter is left alone. */
export async function registerSigners(services: Services, chain: ChainPort): Promise<void> {
  for (const signer of signersOf(chain))
    await services.store.ensureSigner(
      chain.facts.chain,
      signer,
      await chain.transactionCount(signer, "latest"),
    );
}

/** Finds accepted payments nobody has submitted; the ones whose nonce looks used come back for proof. */
async function sweepSubmissions(services: Services, chain: ChainPort): Promise<string[]> {
  const waiting = await services.store.attemptsToSubmit(chain.facts.chain, SUBMIT_BATCH);
  const suspects: string[] = [];
  for (const paymentId of waiting) {
    try {
      const outcome = await submitCapture(services, paymentId);
      if (outcome.kind === "waiting" && outcome.reason === "nonce_used") suspects.push(paymentId);
    } catch (error) {
      services.log.warn({ paymentId, err: error }, "a submission waits");
    }
  }
  return suspects;
}

/** One turn of a chain's work; a sweep adds what does not depend on new blocks. */
async function chainTurn(
  services: Services,
  chain: ChainPort,
  scanned: Scanned,
  sinceSweepMs: number,
): Promise<{ swept: boolean; hasNew: boolean }> {
  const work = workOf(services, chain);
  const { head, moved, caughtUp } = await work.scan(scanned);
  const hasNew = moved && caughtUp;
  const sweep = sinceSweepMs >= (moved ? SWEEP_EVERY_MS / 2 : SWEEP_EVERY_MS);
  if (moved) {
    await orphanCaptures(services, chain);
    await judgeArrivals(services, chain);
    await finalizeCaptures(services, chain);
  }
  if (moved || sweep) {
    await work.advance(head);
    await executeRefunds(services, chain);
    await settle(services, chain);
    await watchRefunds(services, chain);
  }
  if (!sweep) return { swept: false, hasNew };
  if (!moved) await judgeArrivals(services, chain);
  await followPushes(services, chain);
  const suspects = await sweepSubmissions(services, chain);
  await work.endImpossible(suspects);
  return { swept: true, hasNew };
}

function tellException(services: Services, found: NewException): void {
  const { kind, paymentId, chain, txHash, asset, amount, detail } = found;
  const facts = { kind, paymentId, chain, txId: txHash, asset, amount: amount.toString(), detail };
  const level = kind === "unknown_outflow" || kind === "orphaned" ? "error" : "warn";
  services.log[level](facts, "an exception was recorded (npm run exceptions)");
}

/** The same services, which tell the log of every exception a transaction recorded, once it is committed. */
function tellingExceptions(services: Services): Services {
  const transaction: Store["transaction"] = async (work) => {
    let found: NewException[] = [];
    const result = await services.store.transaction((tx) => {
      // A transaction may run again from its start.
      found = [];
      return work({
        ...tx,
        async insertException(exception) {
          const isNew = await tx.insertException(exception);
          if (isNew) found.push(exception);
          return isNew;
        },
      });
    });
    for (const one of found) tellException(services, one);
    return result;
  };
  return { ...services, store: { ...services.store, transaction } };
}

/** A turn-taker for one chain: call it again and again; it sweeps at its own pace. */
export function createChainRunner(given: Services, chain: ChainPort): () => Promise<void> {
  const services = tellingExceptions(given);
  const keysEveryMs = Math.max(KEYS_EVERY_MS, KEYS_EVERY_BLOCKS * chain.facts.blockTimeMs);
  let registered = false;
  let sweptAt = 0;
  let keysAt = Number.NEGATIVE_INFINITY;
  let newAt = Number.NEGATIVE_INFINITY;
  const scanned: Scanned = { head: "" };
  return async () => {
    if (!registered) {
      await registerSigners(services, chain);
      registered = true;
    }
    const now = performance.now();
    const isQuiet = now - newAt < chain.facts.blockTimeMs * QUIET_PART;
    if (isQuiet && now - sweptAt < SWEEP_EVERY_MS) return;
    if (now - keysAt >= keysEveryMs) {
      await watchSigners(services, chain);
      keysAt = now;
    }
    const { swept, hasNew } = await chainTurn(services, chain, scanned, now - sweptAt);
    if (swept) sweptAt = now;
    if (hasNew) newAt = now;
  };
}
