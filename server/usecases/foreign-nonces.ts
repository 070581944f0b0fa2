import type { NonceChain } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { Intent, StoredTx } from "#server/ports/store.ts";
import { FILL_GAS, signAndStore, UNMINED } from "./push-intent.ts";

/** How long the use of a nonce must have been on record before an intent ends by it: a node that answers late ends none. */
const SURE_AFTER_S = 10;
/** Most nonces of one key that are taken over in one look. */
const MOST_AT_ONCE = 20;

/** How a use of one of our nonces by somebody else is named, where a transaction's hash would stand. */
const refOf = (signer: string, nonce: bigint): string => `${signer}:${nonce}`;

const inWords = (chain: NonceChain, signer: string, nonce: bigint): string =>
  `nonce ${nonce} of ${signer} on ${chain.facts.chain} was used by a transaction made outside Florin`;

/** A nonce of ours was used by a transaction we never stored: payouts stop until somebody has looked, once for each nonce. */
async function recordForeign(
  services: Services,
  chain: NonceChain,
  signer: string,
  nonce: bigint,
): Promise<void> {
  const what = inWords(chain, signer, nonce);
  await services.store.transaction(async (tx) => {
    const isNew = await tx.insertException({
      kind: "unknown_outflow",
      environment: chain.facts.environment,
      merchantId: null,
      paymentId: null,
      chain: chain.facts.chain,
      txHash: refOf(signer, nonce),
      logIndex: 0,
      blockHash: "",
      asset: `${chain.facts.chain}/native`,
      payer: signer,
      amount: 0n,
      detail: `The ${what}`,
    });
    if (isNew) await tx.hold("*", what);
  });
}

async function isAnyMined(chain: NonceChain, txs: StoredTx[]): Promise<boolean> {
  for (const { hash } of txs) {
    if ((await chain.receipt(hash)) !== null) return true;
    if ((await chain.transaction(hash))?.mined === true) return true;
  }
  return false;
}

/**
 * Whether an intent's nonce is used at finalized and by none of its stored transactions. The count is read before and after
 * them: whoever says that none of them is mined has seen the block that used the nonce.
 */
async function isForeign(
  chain: NonceChain,
  { signer, nonce }: Intent,
  txs: StoredTx[],
): Promise<boolean> {
  const isUsed = async () => (await chain.transactionCount(signer, "finalized")) > nonce;
  return (await isUsed()) && !(await isAnyMined(chain, txs)) && (await isUsed());
}

/** Ends an intent that can never land: a capture is to be submitted again, a settlement waits for an operator. */
async function endForeign(services: Services, chain: NonceChain, intent: Intent): Promise<void> {
  const { store, log } = services;
  const settlements =
    intent.kind === "settlement" ? await store.settlementsOfIntent(intent.id) : [];
  const sent = settlements.filter(({ state }) => state === "sent");
  const payments = [intent.paymentId, ...sent.map(({ paymentId }) => paymentId)];
  const what = inWords(chain, intent.signer, intent.nonce);
  await store.transaction(async (tx) => {
    // Payments before everything else, in one order, so that no two wait for each other.
    for (const id of payments.filter((id) => id !== null).toSorted()) await tx.lockPayment(id);
    await tx.setIntent(intent.id, { state: "superseded", ...UNMINED });
    await tx.setSettlements(
      sent.map(({ id }) => id),
      { state: "blocked", detail: `${what}; find out what it did before another try` },
    );
  });
  log.warn({ intentId: intent.id }, "an intent ended, since its nonce was used outside Florin");
}

/**
 * Looks into a nonce that is used while no receipt of ours is known; unknown is never failed, so this waits until it is proved. A
 * refund is left as it is even then: its amount would be free to be paid out again, with no operator in between.
 */
export async function takeForeign(
  services: Services,
  chain: NonceChain,
  intent: Intent,
  txs: StoredTx[],
): Promise<void> {
  if (!(await isForeign(chain, intent, txs))) return;
  const { signer, nonce } = intent;
  await recordForeign(services, chain, signer, nonce);
  const age = await services.store.exceptionAge(
    "unknown_outflow",
    chain.facts.chain,
    refOf(signer, nonce),
  );
  if (intent.kind === "refund") return;
  if (age !== null && age >= SURE_AFTER_S) await endForeign(services, chain, intent);
}

/** Gives a nonce that is gone to an intent of its own, so that no payment is given it; it ends as every such intent does. */
async function takeOver(
  services: Services,
  chain: NonceChain,
  signer: string,
  nonce: bigint,
): Promise<void> {
  const intent = await services.store.transaction((tx) =>
    tx.reserveIntent({
      id: `fill:${chain.facts.chain}:${refOf(signer, nonce)}`,
      kind: "fill",
      paymentId: null,
      attemptId: null,
      chain: chain.facts.chain,
      signer,
      plan: { kind: "fill" },
    }),
  );
  if ((await services.store.intentTxs(intent.id)).length > 0) return;
  const fees = await chain.fees();
  await signAndStore(services, chain, intent, { role: "fill", gas: FILL_GAS, fees });
}

/** Compares what each key has sent, by final blocks, with what was given out: whatever is more, somebody else has sent. */
export async function watchOutflows(
  services: Services,
  chain: NonceChain,
  signers: string[],
): Promise<void> {
  // The chain first: what was given out meanwhile only makes the difference smaller.
  const counts = await Promise.all(
    signers.map((signer) => chain.transactionCount(signer, "finalized")),
  );
  const known = await services.store.signers(chain.facts.chain);
  for (const [place, signer] of signers.entries()) {
    const next = known.find((one) => one.signer === signer)?.next;
    if (next === undefined) continue;
    const used = counts[place] ?? 0n;
    const end = used < next + BigInt(MOST_AT_ONCE) ? used : next + BigInt(MOST_AT_ONCE);
    for (let nonce = next; nonce < end; nonce++) {
      await recordForeign(services, chain, signer, nonce);
      await takeOver(services, chain, signer, nonce);
    }
  }
}
