import { failpoint } from "#server/platform/failpoint.ts";
import type { BroadcastOutcome, ChainPort, Fees, TxPlan } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { Intent, StoredTx } from "#server/ports/store.ts";

/** Gas of a zero-value self-transfer. */
export const FILL_GAS = 21_000n;

/** What an intent says of its block while it is in none. */
export const UNMINED = { minedHash: null, minedBlock: null, minedBlockHash: null };

const ENDED = new Set<Intent["state"]>(["final", "reverted", "superseded"]);

/**
 * Signs a plan with the intent's nonce and commits the raw bytes; nothing has left the process when this returns.
 * `role` `fill` burns the nonce with a zero-value self-transfer; `replaces` is the hash of a lapsed transaction whose place it takes.
 */
export async function signAndStore(
  services: Services,
  chain: ChainPort,
  intent: Intent,
  tx: { role: "main" | "fill"; gas: bigint; fees: Fees },
  replaces = "",
): Promise<StoredTx> {
  const plan: TxPlan = tx.role === "fill" ? { kind: "fill" } : intent.plan;
  const { signer, nonce } = intent;
  const signed = await chain.sign(plan, { signer, nonce, gas: tx.gas, fees: tx.fees });
  await failpoint(`${intent.kind}.before_commit_raw`);
  const stored = {
    hash: signed.hash,
    chain: intent.chain,
    intentId: intent.id,
    role: tx.role,
    raw: signed.raw,
    fees: tx.fees,
    gas: tx.gas,
    lapsesAt: signed.lapsesAt,
    replaces: signed.lapsesAt === null ? "" : replaces,
  };
  const kept = await services.store.transaction((work) => work.insertTx(stored));
  await failpoint(`${intent.kind}.after_commit_raw`);
  if (!kept) {
    // Another process stored its own transaction in this place: that one goes out, and this one never does.
    const [theirs] = await services.store.intentTxs(intent.id);
    if (theirs === undefined) throw new Error(`no transaction of ${intent.id} was stored`);
    return theirs;
  }
  return { ...stored, createdAt: services.clock.now() };
}

/** Sends stored bytes. Sending the same bytes again is always safe: one nonce, one transaction. */
export async function broadcastStored(
  services: Services,
  chain: ChainPort,
  intent: Intent,
  tx: StoredTx,
): Promise<BroadcastOutcome> {
  const outcome = await chain.broadcast(tx.raw);
  await failpoint(`${intent.kind}.after_broadcast`);
  if (outcome.kind !== "accepted" && outcome.kind !== "already_known")
    services.log.warn(
      { intentId: intent.id, txId: tx.hash, outcome },
      "broadcast was not accepted",
    );
  // Whatever the answer, the bytes may be on their way: from here on only the chain says what happened.
  await services.store.transaction((work) =>
    work.setIntent(intent.id, {
      ...(intent.state === "signed" ? { state: "broadcast" as const } : {}),
      broadcastNow: true,
    }),
  );
  await failpoint(`${intent.kind}.after_mark`);
  return outcome;
}

/** Gas for an intent that was reserved before a crash; null: its call would revert now, so its nonce must be filled. */
async function gasFor(chain: ChainPort, intent: Intent): Promise<bigint | null> {
  const simulated = await chain.simulate(intent.plan, intent.signer);
  return simulated.kind === "ok" ? simulated.gas : null;
}

/** Without a nonce there is nothing to fill: a capture is given up, a payout waits until it would go through. */
async function leaveUnsigned(services: Services, intent: Intent): Promise<void> {
  services.log.warn({ intentId: intent.id }, "a reserved transaction would not go through now");
  if (intent.kind === "capture")
    await services.store.transaction((tx) => tx.setIntent(intent.id, { state: "superseded" }));
}

/**
 * Takes an intent from wherever it stands to broadcast. `gas` is known when it was simulated a moment ago; without it the
 * intent is one that an earlier process left behind.
 */
export async function pushIntent(
  services: Services,
  chain: ChainPort,
  intent: Intent,
  gas?: bigint,
): Promise<void> {
  if (ENDED.has(intent.state) || intent.state === "mined") return;
  const stored = await services.store.intentTxs(intent.id);
  const newest = stored[0];
  if (newest !== undefined) {
    await broadcastStored(services, chain, intent, newest);
    return;
  }
  const wanted = gas ?? (await gasFor(chain, intent));
  if (wanted === null && chain.model === "lifetimes") {
    await leaveUnsigned(services, intent);
    return;
  }
  // A settlement's nonce is never burnt by the machine: an operator decides what becomes of it.
  if (wanted === null && intent.kind === "settlement") {
    services.log.error({ intentId: intent.id }, "a reserved settlement would revert now");
    return;
  }
  const role = wanted === null ? "fill" : "main";
  const fees = await chain.fees();
  const tx = await signAndStore(services, chain, intent, { role, gas: wanted ?? FILL_GAS, fees });
  await broadcastStored(services, chain, intent, tx);
}
