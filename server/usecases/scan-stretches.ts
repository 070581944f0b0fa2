import type { Arrival, ChainHead, LifetimeChain, Receipt } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { Cursor } from "#server/ports/store.ts";
import { watchedAccounts } from "./watched-accounts.ts";

/** Slots below the cursor that are read again each time: a node may list a transaction a little after its slot. */
const OVERLAP = 150n;
/** Most slots read in one go. */
const STRETCH = 5_000n;
/** Final slots above one whose transaction no node knows any more, after which it counts as gone. */
const GONE_AFTER = 300n;

/** Arrivals that this process has recorded; they come again because stretches overlap. */
let recorded = new WeakSet<Arrival>();

async function startCursor(
  services: Services,
  chain: LifetimeChain,
  { finalized }: ChainHead,
): Promise<Cursor> {
  await services.store.transaction((tx) => tx.initCursor(chain.facts.chain, finalized));
  const cursor = await services.store.cursor(chain.facts.chain);
  if (cursor === null) throw new Error("the scan cursor was not stored");
  return cursor;
}

/**
 * Compares arrivals in slots that are final now, of the slots up to `readUpTo`, with what the chain knows of their transactions. Returns the slot up to which all
 * of them are there; those that a fork took away are marked.
 */
async function settleForks(
  services: Services,
  chain: LifetimeChain,
  from: bigint,
  to: bigint,
  readUpTo: bigint,
): Promise<bigint> {
  const name = chain.facts.chain;
  let settled = to;
  const gone: bigint[] = [];
  for (const { id, txHash, blockNumber } of await services.store.unsettledArrivals(
    name,
    from,
    to,
  )) {
    const receipt = await chain.receipt(txHash);
    if (receipt?.blockNumber === blockNumber) continue;
    if (receipt === null && to - blockNumber < GONE_AFTER) {
      if (blockNumber <= settled) settled = blockNumber - 1n;
    } else gone.push(id);
  }
  if (gone.length > 0) {
    services.log.warn({ chain: name, movements: gone.map(String) }, "a fork took arrivals away");
    recorded = new WeakSet();
    await services.store.transaction((tx) => tx.orphanMovements(name, readUpTo, gone));
  }
  return settled;
}

/**
 * Reads what arrived from the cursor to the newest confirmed slot, with an overlap, by the histories of the watched accounts.
 * Returns the head, and whether anything was read.
 */
export async function scanStretches(
  services: Services,
  chain: LifetimeChain,
): Promise<{ head: ChainHead; moved: boolean }> {
  const name = chain.facts.chain;
  const head = await chain.head();
  const cursor = (await services.store.cursor(name)) ?? (await startCursor(services, chain, head));
  const last = cursor.scannedNumber + STRETCH;
  const to = head.latest.number < last ? head.latest.number : last;
  // A head below the cursor is a lagging node.
  if (to <= cursor.scannedNumber) return { head, moved: false };
  const from = cursor.scannedNumber > OVERLAP ? cursor.scannedNumber - OVERLAP + 1n : 0n;
  const arrivals = await chain.inboundBetween(await watchedAccounts(services, chain), from, to);
  const fresh = arrivals.filter((arrival) => !recorded.has(arrival));
  const reached = { ...head.latest, number: to };
  const isOurs = await services.store.transaction(async (tx) => {
    // Two scanners of one chain: the second finds the cursor moved, and what it read is out of date.
    if (!(await tx.moveCursor(name, cursor.scannedNumber, reached))) return false;
    for (const { block, transfer } of fresh) await tx.recordArrivals(name, block, [transfer]);
    return true;
  });
  if (!isOurs) return { head, moved: false };
  for (const arrival of fresh) recorded.add(arrival);
  const final = head.finalized.number < to ? head.finalized.number : to;
  const settled = await settleForks(services, chain, cursor.finalized, final, to);
  await services.store.transaction((tx) =>
    tx.setHeads(name, reached, {
      latest: to,
      safe: settled,
      finalized: settled,
      finalizedTime: 0n,
    }),
  );
  return { head, moved: true };
}

/** Whether the transfer that a receipt proves is known; its slot is read again until it is. */
export async function knowsArrival(
  services: Services,
  chain: LifetimeChain,
  { hash, blockNumber }: Receipt,
): Promise<boolean> {
  const { store } = services;
  const name = chain.facts.chain;
  if (await store.hasMovement(name, hash)) return true;
  const accounts = await watchedAccounts(services, chain);
  const arrivals = await chain.inboundBetween(accounts, blockNumber, blockNumber);
  await store.transaction(async (tx) => {
    for (const { block, transfer } of arrivals) await tx.recordArrivals(name, block, [transfer]);
  });
  return arrivals.some(({ transfer }) => transfer.txHash === hash);
}
