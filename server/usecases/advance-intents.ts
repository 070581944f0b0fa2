import { failpoint } from "#server/platform/failpoint.ts";
import type { ChainHead, Fees, NonceChain, Receipt } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { Intent, StoredTx, Tx } from "#server/ports/store.ts";
import { finishRefund } from "./execute-refunds.ts";
import { takeForeign } from "./foreign-nonces.ts";
import { broadcastStored, FILL_GAS, pushIntent, signAndStore, UNMINED } from "./push-intent.ts";
import { knowsTransfer } from "./scan-chain.ts";

/** An unfinished intent with its signed transactions, newest first. */
export type OpenIntent = { intent: Intent; txs: StoredTx[] };

const LIMIT = 500;
/** A reserved nonce without a stored transaction belongs to a process that died if it is this old. */
export const ABANDONED_AFTER_S = 5;
/** Pause between two sends of the same bytes. */
const RESEND_EVERY_S = 10;
/** Nodes ask for at least 10 % more on both fees before they replace a transaction; 12.5 % clears all of them. */
const BUMP_NUMERATOR = 1125n;

const bump = (value: bigint): bigint => (value * BUMP_NUMERATOR) / 1000n + 1n;

/** No replacement pays more than this many times what the market asks: a chain that stands still must not drive fees up. */
const FEE_CAP_TIMES = 10n;

/** Fees for a replacement: at least the bump over the last ones and what the market asks; null: more than any hurry is worth. */
export function replacementFees(last: Fees, market: Fees): Fees | null {
  const higher = (a: bigint, b: bigint) => (a > b ? a : b);
  const maxPriorityFee = higher(bump(last.maxPriorityFee), market.maxPriorityFee);
  const maxFee = higher(higher(bump(last.maxFee), market.maxFee), maxPriorityFee);
  return maxFee > market.maxFee * FEE_CAP_TIMES ? null : { maxFee, maxPriorityFee };
}

/** Books what a transaction of an intent has cost, once. */
const postGas = (tx: Tx, { id, chain }: Intent, { hash, gasCost }: Receipt): Promise<boolean> =>
  tx.post("gas", `${id}:${hash}`, hash, [
    { kind: "gas_expense", asset: `${chain}/native`, merchantId: null, amount: gasCost },
    { kind: "network", asset: `${chain}/native`, merchantId: null, amount: -gasCost },
  ]);

/** A receipt was found: mined, or for a capture that reverted, at its end. */
export async function recordMined(
  services: Services,
  { intent, txs }: OpenIntent,
  receipt: Receipt,
) {
  const role = txs.find(({ hash }) => hash === receipt.hash)?.role ?? "main";
  await failpoint(`${intent.kind}.before_record_mined`);
  const lost = receipt.status === "reverted" && intent.kind === "capture" && role === "main";
  await services.store.transaction(async (tx) => {
    if (intent.paymentId !== null) await tx.lockPayment(intent.paymentId);
    const isNews = await tx.setIntent(intent.id, {
      state: lost ? "reverted" : "mined",
      minedHash: receipt.hash,
      minedBlock: receipt.blockNumber,
      minedBlockHash: receipt.blockHash,
      // What a revert costs is known once its block is final: until then it may come undone.
      ...(lost ? {} : { gasCost: receipt.gasCost }),
    });
    if (!isNews)
      services.log.info({ intentId: intent.id }, "the end of a transaction was recorded already");
    if (!isNews || !lost) return;
    if (intent.attemptId !== null) await tx.countRevert(intent.attemptId);
  });
  if (lost)
    services.log.warn({ intentId: intent.id, txId: receipt.hash }, "a capture reverted on chain");
}

/** The settlements of a mined, final transfer are paid: posted once each, announced once each. */
async function finishSettlement(services: Services, intent: Intent, receipt: Receipt) {
  const settlements = await services.store.settlementsOfIntent(intent.id);
  await failpoint("settlement.before_final");
  await services.store.transaction(async (tx) => {
    // Payments before ledger accounts, as everywhere, so that no two postings wait for each other.
    for (const id of settlements.map(({ paymentId }) => paymentId).toSorted())
      await tx.lockPayment(id);
    if (receipt.status === "reverted") {
      await tx.setSettlements(
        settlements.map(({ id }) => id),
        { state: "blocked", txHash: receipt.hash, detail: "the transfer reverted on chain" },
      );
      return;
    }
    for (const s of settlements)
      await tx.post("settle", s.id, receipt.hash, [
        { kind: "merchant_payable", asset: s.asset, merchantId: s.merchantId, amount: s.amount },
        { kind: "intermediary", asset: s.asset, merchantId: null, amount: -s.amount },
      ]);
    await tx.setSettlements(
      settlements.map(({ id }) => id),
      { state: "final", txHash: receipt.hash },
    );
  });
}

/** Ends an intent by the final receipt of one of its transactions, with everything that follows. */
export async function finish(
  services: Services,
  { intent, txs }: OpenIntent,
  receipt: Receipt,
): Promise<void> {
  const filled = txs.find(({ hash }) => hash === receipt.hash)?.role === "fill";
  if (intent.kind === "settlement" && !filled) await finishSettlement(services, intent, receipt);
  if (intent.kind === "refund") await finishRefund(services, intent, receipt, filled);
  await services.store.transaction(async (tx) => {
    await tx.setIntent(intent.id, {
      state: filled ? "superseded" : receipt.status === "reverted" ? "reverted" : "final",
    });
    await postGas(tx, intent, receipt);
  });
}

async function firstReceipt(chain: NonceChain, txs: StoredTx[]): Promise<Receipt | null> {
  for (const { hash } of txs) {
    const receipt = await chain.receipt(hash);
    if (receipt !== null) return receipt;
  }
  return null;
}

/** A mined intent is final once its block is; if its block vanished, it is on its way again. */
async function settleMined(
  services: Services,
  chain: NonceChain,
  open: OpenIntent,
  head: ChainHead,
) {
  const receipt = await firstReceipt(chain, open.txs);
  if (receipt === null) {
    await services.store.transaction((tx) =>
      tx.setIntent(open.intent.id, {
        state: "broadcast",
        ...UNMINED,
      }),
    );
    const newest = open.txs[0];
    if (newest !== undefined) await broadcastStored(services, chain, open.intent, newest);
    return;
  }
  if (receipt.blockHash !== open.intent.minedBlockHash) await recordMined(services, open, receipt);
  if (receipt.blockNumber > head.finalized.number) return;
  const role = open.txs.find(({ hash }) => hash === receipt.hash)?.role;
  const moved = open.intent.kind === "capture" && role === "main" && receipt.status === "success";
  if (moved && !(await knowsTransfer(services, chain, receipt))) return;
  await finish(services, open, receipt);
}

/**
 * A capture that reverted has ended, its transaction only once its block is final. If a reorganisation takes that away, the nonce is free again
 * and every later one of the signer waits for it: the stored bytes go out once more, as the token takes their authorization once at most.
 */
async function settleReverted(
  services: Services,
  chain: NonceChain,
  open: OpenIntent,
  head: ChainHead,
  mined: bigint,
) {
  const { intent, txs } = open;
  const receipt = await firstReceipt(chain, txs);
  if (receipt === null) {
    const [newest] = txs;
    if (intent.nonce < mined) return takeForeign(services, chain, intent, txs);
    if (intent.nonce > mined || newest === undefined) return;
    await replaceStuck(services, chain, open);
    await broadcastStored(services, chain, intent, newest);
    return;
  }
  if (receipt.blockNumber > head.finalized.number) return;
  // Sent again it may have paid after all.
  if (receipt.status === "success" && !(await knowsTransfer(services, chain, receipt))) return;
  await services.store.transaction(async (tx) => {
    await tx.bookRevert(intent.id, receipt);
    await postGas(tx, intent, receipt);
  });
}

/** The transaction all others of its signer wait for: replaced with higher fees once it is overdue. */
async function replaceStuck(services: Services, chain: NonceChain, { intent, txs }: OpenIntent) {
  const last = txs[0];
  if (last === undefined) return;
  const age = services.clock.now() - last.createdAt;
  if (age < chain.facts.stuckAfterS) return;
  const fees = replacementFees(last.fees, await chain.fees());
  if (fees === null) return;
  const gas = last.role === "fill" ? FILL_GAS : last.gas;
  // A higher fee helps nobody while the key cannot pay it.
  if ((await chain.nativeBalance(intent.signer)) < gas * fees.maxFee) return;
  const tx = await signAndStore(services, chain, intent, { role: last.role, gas, fees });
  await failpoint("replace.after_store");
  await broadcastStored(services, chain, intent, tx);
  services.log.info({ intentId: intent.id, txId: tx.hash }, "replaced a stuck transaction");
}

async function advanceOne(
  services: Services,
  chain: NonceChain,
  open: OpenIntent,
  head: ChainHead,
  mined: bigint,
): Promise<void> {
  const { intent, txs } = open;
  const now = services.clock.now();
  if (intent.state === "mined") return settleMined(services, chain, open, head);
  if (intent.state === "reverted") return settleReverted(services, chain, open, head, mined);
  if (txs.length === 0) {
    if (now - intent.createdAt >= ABANDONED_AFTER_S) await pushIntent(services, chain, intent);
    return;
  }
  if (intent.nonce < mined) {
    const receipt = await firstReceipt(chain, txs);
    if (receipt === null) return takeForeign(services, chain, intent, txs);
    await recordMined(services, open, receipt);
    return;
  }
  if (intent.nonce === mined) await replaceStuck(services, chain, open);
  const newest = txs[0];
  const sinceSend = now - Math.max(intent.broadcastAt ?? 0, newest?.createdAt ?? 0);
  const due =
    intent.broadcastAt === null
      ? sinceSend >= 1
      : sinceSend % RESEND_EVERY_S === 0 && sinceSend > 0;
  if (newest !== undefined && due) await broadcastStored(services, chain, intent, newest);
}

/**
 * Moves every unfinished transaction of a chain on: resumes what a dead process left, records what was mined, re-sends,
 * replaces what is stuck, fills holes, and finishes what is final. Each one alone: a failure of one stops no other.
 */
export async function advanceIntents(
  services: Services,
  chain: NonceChain,
  head: ChainHead,
): Promise<void> {
  const open = await services.store.openIntents(chain.facts.chain, LIMIT);
  const counts = new Map<string, bigint>();
  for (const { intent } of open)
    if (!counts.has(intent.signer))
      counts.set(intent.signer, await chain.transactionCount(intent.signer, "latest"));
  for (const one of open) {
    try {
      await advanceOne(services, chain, one, head, counts.get(one.intent.signer) ?? 0n);
    } catch (error) {
      services.log.warn({ intentId: one.intent.id, err: error }, "an intent did not advance");
    }
  }
}
