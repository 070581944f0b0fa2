import { failpoint } from "#server/platform/failpoint.ts";
import type { BlockRef, ChainHead, NonceChain, Receipt } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { Cursor, ReadUpTo } from "#server/ports/store.ts";
import { watchedAccounts } from "./watched-accounts.ts";

/** Most blocks read in one go, so that other work of the chain gets its turn while catching up. */
const BLOCKS_PER_TURN = 100;

async function startCursor(
  services: Services,
  chain: NonceChain,
  head: ChainHead,
): Promise<Cursor> {
  const { store } = services;
  const block = (await chain.blockAt(head.finalized.number)) ?? head.latest;
  await store.transaction((tx) => tx.initCursor(chain.facts.chain, block));
  const cursor = await store.cursor(chain.facts.chain);
  if (cursor === null) throw new Error("the scan cursor was not stored");
  return cursor;
}

/** The last block that was read, by whichever worker. */
async function readUpTo(services: Services, chain: NonceChain, head: ChainHead): Promise<ReadUpTo> {
  const { scannedNumber, scannedHash } =
    (await services.store.cursor(chain.facts.chain)) ?? (await startCursor(services, chain, head));
  return { number: scannedNumber, hash: scannedHash };
}

/** Walks back from the block that was read last until a stored header is still part of the chain, and forgets everything above it. */
async function rewind(services: Services, chain: NonceChain, scanned: ReadUpTo): Promise<boolean> {
  const { store, log } = services;
  for (let { number } = scanned; number >= 0n; number--) {
    const stored = await store.blockHashAt(chain.facts.chain, number);
    if (stored === null) break;
    const now = await chain.blockAt(number);
    if (now === null || now.hash !== stored.hash) continue;
    log.warn({ chain: chain.facts.chain, from: scanned.number, to: number }, "chain reorganised");
    await failpoint("rewind.before_commit");
    await store.transaction((tx) => tx.rewind(chain.facts.chain, scanned, stored));
    await failpoint("rewind.after_commit");
    return true;
  }
  log.error({ chain: chain.facts.chain }, "the chain does not contain any block read before");
  return false;
}

async function arrivalsIn(services: Services, chain: NonceChain, block: BlockRef) {
  return chain.inboundTransfers(block, await watchedAccounts(services, chain));
}

/** False: another reader has moved the cursor, and nothing was recorded. */
async function scanOne(services: Services, chain: NonceChain, block: BlockRef): Promise<boolean> {
  const transfers = await arrivalsIn(services, chain, block);
  await failpoint("watch.before_record");
  const isRecorded = await services.store.transaction((tx) =>
    tx.recordBlock(chain.facts.chain, block, transfers),
  );
  await failpoint("watch.after_record");
  return isRecorded;
}

/**
 * Whether the transfer that a receipt proves is known. A node may have a block before it has its logs, and the scan then saw
 * none: such a block is read again, until what must be in it is there.
 */
export async function knowsTransfer(
  services: Services,
  chain: NonceChain,
  receipt: Receipt,
): Promise<boolean> {
  const { store, log } = services;
  const name = chain.facts.chain;
  if (await store.hasMovement(name, receipt.hash)) return true;
  const cursor = await store.cursor(name);
  if (cursor === null || cursor.scannedNumber < receipt.blockNumber) return false;
  const block = await chain.blockAt(receipt.blockNumber);
  if (block === null || block.hash !== receipt.blockHash) return false;
  log.warn({ chain: name, block: block.number, txId: receipt.hash }, "a block is read again");
  const transfers = await arrivalsIn(services, chain, block);
  await store.transaction((tx) => tx.recordArrivals(name, block, transfers));
  return transfers.some(({ txHash }) => txHash === receipt.hash);
}

/** What one scanner remembers between two looks: the head it has read up to, with its tags; empty: none yet. */
export type Scanned = { head: string };

const headKey = ({ latest, safe, finalized }: ChainHead): string =>
  [latest.number, latest.hash, safe, finalized.number, finalized.hash].join(":");

/**
 * Reads every block from the cursor to the head, each by its own hash and only on top of its verified parent, and records
 * what arrived. Returns the head, whether anything was read, and whether all was; the head's tags are stored once the scan caught up. A head
 * that `scanned` names already costs neither a read nor a write.
 */
export async function scanChain(
  services: Services,
  chain: NonceChain,
  scanned: Scanned,
): Promise<{ head: ChainHead; moved: boolean; caughtUp: boolean }> {
  const name = chain.facts.chain;
  const head = await chain.head();
  if (headKey(head) === scanned.head) return { head, moved: false, caughtUp: true };
  // Until this one is read to its end: a chain may come back to a head it had left.
  scanned.head = "";
  let at = await readUpTo(services, chain, head);
  let moved = false;
  // A head below what was read is a lagging node, unless its block is not the one we read.
  if (head.latest.number < at.number) {
    const stored = await services.store.blockHashAt(name, head.latest.number);
    if (stored !== null && stored.hash !== head.latest.hash)
      moved = await rewind(services, chain, at);
  } else if (head.latest.number === at.number && head.latest.hash !== at.hash)
    moved = await rewind(services, chain, at);
  if (moved) at = await readUpTo(services, chain, head);
  for (let turn = 0; turn < BLOCKS_PER_TURN && at.number < head.latest.number; turn++) {
    const next = at.number + 1n;
    const block = next === head.latest.number ? head.latest : await chain.blockAt(next);
    if (block === null) break;
    if (block.parent !== at.hash) {
      await rewind(services, chain, at);
      return { head, moved: true, caughtUp: false };
    }
    moved = true;
    // Another reader is ahead of this one.
    if (!(await scanOne(services, chain, block))) return { head, moved, caughtUp: false };
    at = block;
  }
  const reached = at;
  const upTo = (number: bigint) => (number < reached.number ? number : reached.number);
  // Depth and finality count only for blocks whose arrivals were read.
  const stored = await services.store.transaction((tx) =>
    tx.setHeads(name, reached, {
      latest: upTo(head.latest.number),
      safe: upTo(head.safe),
      finalized: upTo(head.finalized.number),
      finalizedTime: head.finalized.number <= reached.number ? head.finalized.time : 0n,
    }),
  );
  const caughtUp = stored && reached.number >= head.latest.number;
  if (caughtUp) scanned.head = headKey(head);
  return { head, moved, caughtUp };
}
