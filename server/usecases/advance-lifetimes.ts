import type { PaymentEventType } from "#server/domain/payment/state.ts";
import { failpoint } from "#server/platform/failpoint.ts";
import type { LifetimeChain, Receipt } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { StoredTx } from "#server/ports/store.ts";
import { ABANDONED_AFTER_S, finish, type OpenIntent, recordMined } from "./advance-intents.ts";
import { broadcastStored, pushIntent, signAndStore, UNMINED } from "./push-intent.ts";
import { knowsArrival } from "./scan-stretches.ts";

const LIMIT = 500;
/** Pause between two sends of the same bytes: leaders drop what they cannot place. */
const RESEND_EVERY_S = 2;

/** The transaction that no other one replaces. */
const lastOf = (txs: StoredTx[]): StoredTx | undefined =>
  txs.find(({ hash }) => !txs.some(({ replaces }) => replaces === hash));

/** A transaction is in a confirmed block: recorded at once, finished once that block is final. */
async function landed(
  services: Services,
  chain: LifetimeChain,
  open: OpenIntent,
  receipt: Receipt,
  final: boolean,
): Promise<void> {
  const { intent } = open;
  const failedCapture = intent.kind === "capture" && receipt.status === "reverted";
  if (failedCapture) {
    if (!final) return;
    services.log.warn({ intentId: intent.id, txId: receipt.hash }, "a capture failed on chain");
    // Counted first: what failed for good is not sent again, however this process ends.
    if (intent.attemptId !== null) {
      const { attemptId } = intent;
      await services.store.transaction(async (tx) => {
        await tx.countRevert(attemptId);
        await tx.setIntent(intent.id, {
          minedHash: receipt.hash,
          minedBlock: receipt.blockNumber,
          minedBlockHash: receipt.blockHash,
          gasCost: receipt.gasCost,
        });
      });
    }
    await finish(services, open, receipt);
    return;
  }
  if (receipt.blockHash !== intent.minedBlockHash) await recordMined(services, open, receipt);
  if (!final) return;
  if (intent.kind === "capture" && !(await knowsArrival(services, chain, receipt))) return;
  await finish(services, open, receipt);
}

/** Nothing of this lifetime can land any more: a payout is signed with a new one, a capture needs its buyer again. */
async function lapsed(
  services: Services,
  chain: LifetimeChain,
  { intent }: OpenIntent,
  last: StoredTx,
): Promise<void> {
  if (intent.kind === "capture") {
    await services.store.transaction((tx) => tx.setIntent(intent.id, { state: "superseded" }));
    return;
  }
  const simulated = await chain.simulate(intent.plan, intent.signer);
  if (simulated.kind === "revert") {
    services.log.error({ intentId: intent.id, ...simulated }, "a payout would not go through now");
    return;
  }
  const fees = await chain.fees();
  const tx = await signAndStore(
    services,
    chain,
    intent,
    { role: "main", gas: simulated.gas, fees },
    last.hash,
  );
  await failpoint("replace.after_store");
  await broadcastStored(services, chain, intent, tx);
  services.log.info({ intentId: intent.id, txId: tx.hash }, "a lapsed transaction was signed anew");
}

async function advanceOne(
  services: Services,
  chain: LifetimeChain,
  open: OpenIntent,
): Promise<void> {
  const { intent, txs } = open;
  const now = services.clock.now();
  const last = lastOf(txs);
  if (last === undefined) {
    if (now - intent.createdAt >= ABANDONED_AFTER_S) await pushIntent(services, chain, intent);
    return;
  }
  const fate = await chain.fate(last.hash, last.lapsesAt ?? 0n);
  if (fate.kind === "landed") return landed(services, chain, open, fate.receipt, fate.final);
  if (intent.state === "mined")
    // A fork took its block away: it is on its way again.
    await services.store.transaction((tx) =>
      tx.setIntent(intent.id, {
        state: "broadcast",
        ...UNMINED,
      }),
    );
  if (fate.kind === "lapsed") return lapsed(services, chain, open, last);
  const sinceSend = now - Math.max(intent.broadcastAt ?? 0, last.createdAt);
  if (intent.broadcastAt === null || sinceSend % RESEND_EVERY_S === 0)
    await broadcastStored(services, chain, intent, last);
}

/**
 * Moves every unfinished transaction of a chain without nonces on: the same bytes are sent until they landed or provably never
 * will. Each one alone: a failure of one stops no other.
 */
export async function advanceLifetimes(services: Services, chain: LifetimeChain): Promise<void> {
  for (const open of await services.store.openIntents(chain.facts.chain, LIMIT)) {
    try {
      await advanceOne(services, chain, open);
    } catch (error) {
      services.log.warn({ intentId: open.intent.id, err: error }, "an intent did not advance");
    }
  }
}

async function endOne(
  services: Services,
  chain: LifetimeChain,
  { id, paymentId }: { id: string; paymentId: string },
): Promise<void> {
  const { store } = services;
  const head = await chain.head();
  const scanned = await store.cursor(chain.facts.chain);
  const payment = await store.payment(paymentId);
  const option = payment?.optionId == null ? null : await store.option(payment.optionId);
  if (payment?.status !== "processing" || option === null || scanned === null) return;
  if (scanned.scannedNumber < head.finalized.number) return;
  if (await store.hasArrival(option.chain, option.payer, option.authorization.nonce)) return;
  if (await store.hasTransferOf(paymentId)) return;
  await store.transaction(async (tx) => {
    const locked = await tx.lockPayment(paymentId);
    const attempt = await tx.liveAttempt(paymentId);
    if (locked?.status !== "processing" || attempt?.id !== id) return;
    // Signed bytes stored meanwhile may still land.
    const intents = await tx.captureIntents(id);
    if (intents.some(({ state }) => state !== "superseded" && state !== "reverted")) return;
    const failed = intents.some(({ state }) => state === "reverted");
    const type: PaymentEventType = failed ? "authorization_cancelled" : "authorization_expired";
    await tx.endAttempt(id);
    await tx.change(locked, {
      type,
      failureCode: failed ? "broadcast_failed" : "authorization_expired",
      body: {
        optionId: option.id,
        lapsesAt: attempt.lapsesAt?.toString() ?? null,
        finalized: head.finalized.number.toString(),
      },
    });
  });
}

/**
 * Fails payments whose transaction can never land any more: its lifetime is past on finalized blocks of every node and nothing of
 * it is on chain. Nothing else ever fails a payment in processing.
 */
export async function endLapsed(services: Services, chain: LifetimeChain): Promise<void> {
  for (const attempt of await services.store.unsentAttempts(chain.facts.chain, LIMIT)) {
    try {
      if (await chain.isPast(attempt.lapsesAt)) await endOne(services, chain, attempt);
    } catch (error) {
      services.log.warn(
        { paymentId: attempt.paymentId, err: error },
        "negative proof not possible now",
      );
    }
  }
}
