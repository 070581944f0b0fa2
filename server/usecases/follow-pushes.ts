import { paysOffer } from "#server/domain/option/push.ts";
import type { ChainPort } from "#server/ports/chain.ts";
import type { Push, PushState } from "#server/ports/push.ts";
import type { Services } from "#server/ports/services.ts";

const LIMIT = 200;

/** What a node says of a claimed transaction: nothing, that it pays its offer, or that it is something else. */
export async function lookUpPush(
  chain: ChainPort,
  push: Push,
): Promise<{ state: PushState; nonce: bigint | null }> {
  const tx = await chain.transaction(push.hash);
  if (tx === null) return { state: "claimed", nonce: null };
  return paysOffer(tx, push)
    ? { state: "known", nonce: tx.nonce }
    : { state: "foreign", nonce: null };
}

/** A transaction that pays locks its payment as soon as a node knows it; one that no node knows any more frees it again. */
async function follow(services: Services, chain: ChainPort, push: Push): Promise<void> {
  const found = await lookUpPush(chain, push);
  await services.store.transaction(async (tx) => {
    await tx.lockPayment(push.paymentId);
    await tx.updatePush(push, found);
  });
}

/**
 * Fails payments whose transfer a reorganisation removed for good: the sender's nonce is used at finalized, all blocks up to there
 * were read, and none of them pays. Until then they wait, however long: the transfer may be mined again.
 */
async function endLost(services: Services, chain: ChainPort): Promise<void> {
  const { store, log } = services;
  const lost = Map.groupBy(
    await store.lostPushes(chain.facts.chain, LIMIT),
    ({ paymentId }) => paymentId,
  );
  for (const [paymentId, senders] of lost) {
    // Read the nonces first: whatever used them before this moment is in a block the scan below must have covered.
    const used = await Promise.all(
      senders.map(
        async ({ sender, nonce }) => (await chain.transactionCount(sender, "finalized")) > nonce,
      ),
    );
    if (used.includes(false)) continue;
    const head = await chain.head();
    const scanned = await store.cursor(chain.facts.chain);
    if (scanned === null || scanned.scannedNumber < head.finalized.number) continue;
    if (await store.hasPushArrival(paymentId)) continue;
    await store.transaction(async (tx) => {
      const payment = await tx.lockPayment(paymentId);
      if (payment?.status !== "processing") return;
      await tx.endPushes(paymentId);
      await tx.change(payment, {
        type: "authorization_cancelled",
        failureCode: "broadcast_failed",
        body: {
          optionId: payment.optionId,
          nonces: senders.map(({ sender, nonce }) => `${sender}:${nonce}`),
          finalized: head.finalized.number.toString(),
        },
      });
    });
    log.warn({ paymentId }, "a transfer that a reorganisation removed can never come back");
  }
}

/** Follows the transfers that buyers' own wallets send: what was claimed, what waits, what a reorganisation took away. */
export async function followPushes(services: Services, chain: ChainPort): Promise<void> {
  for (const push of await services.store.pushesToFollow(chain.facts.chain, LIMIT)) {
    try {
      await follow(services, chain, push);
    } catch (error) {
      services.log.warn(
        { paymentId: push.paymentId, txId: push.hash, err: error },
        "a claimed transaction was not looked up",
      );
    }
  }
  await endLost(services, chain);
}
