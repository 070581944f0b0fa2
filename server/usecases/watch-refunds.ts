import { addressOf } from "#server/domain/asset/caip.ts";
import type { ChainPort, SentTransfer } from "#server/ports/chain.ts";
import type { Refund } from "#server/ports/refunds.ts";
import type { Services } from "#server/ports/services.ts";

/** Most refunds asked about in one call of a node. */
const LIMIT = 100;
/** How many blocks are asked about in one call; fewer when a node refuses, as some answer for a few blocks only. */
const SPANS = [500n, 10n];

type Awaited = Refund & { sender: string; recipient: string };

/** Refunds that wait for their merchants, with the accounts between which the transfer must go. */
async function awaitedUpTo(services: Services, chain: string, upTo: bigint): Promise<Awaited[]> {
  const refunds = await services.store.refundsAwaited(chain, upTo, LIMIT);
  const payments = await Promise.all(
    refunds.map(({ paymentId }) => services.store.payment(paymentId)),
  );
  return refunds.map((refund, index) => ({
    ...refund,
    sender: addressOf(payments[index]?.destinations[refund.asset] ?? ""),
    recipient: addressOf(refund.destination),
  }));
}

const fits = (refund: Awaited, t: SentTransfer): boolean =>
  refund.asset === t.asset &&
  refund.sender === t.payer &&
  refund.recipient === t.recipient &&
  refund.amount === t.amount &&
  refund.fromBlock !== null &&
  refund.fromBlock <= t.blockNumber;

/** False: this transfer ended another refund before. */
async function complete(services: Services, refund: Refund, t: SentTransfer): Promise<boolean> {
  const { txHash, logIndex } = t;
  return services.store.transaction(async (tx) => {
    await tx.lockPayment(refund.paymentId);
    const done = await tx.setRefund(refund.id, { state: "succeeded", txHash, logIndex });
    if (done !== null) await tx.announceRefund(done, "refund.succeeded");
    return done !== null;
  });
}

async function readUpTo(
  services: Services,
  chain: ChainPort,
  awaited: Awaited[],
  { from, to }: { from: bigint; to: bigint },
): Promise<void> {
  const transfers = await chain.transfersBetween({
    assets: awaited.map(({ asset }) => asset),
    senders: awaited.map(({ sender }) => sender),
    recipients: awaited.map(({ recipient }) => recipient),
    from,
    to,
  });
  const waiting = awaited.toSorted((a, b) => a.createdAt - b.createdAt);
  for (const transfer of transfers) {
    const at = waiting.findIndex((refund) => fits(refund, transfer));
    const refund = waiting[at];
    if (refund !== undefined && (await complete(services, refund, transfer))) waiting.splice(at, 1);
  }
  const ids = awaited.map(({ id }) => id);
  await services.store.transaction((tx) => tx.moveWatch(ids, to));
}

/**
 * Looks for the transfers that merchants' own wallets were to make. Only final blocks are read: an end never changes, so it
 * must rest on what no reorganisation can move. One transfer ends one refund, the oldest that it fits.
 */
export async function watchRefunds(services: Services, chain: ChainPort): Promise<void> {
  const name = chain.facts.chain;
  const cursor = await services.store.cursor(name);
  if (cursor === null) return;
  const awaited = await awaitedUpTo(services, name, cursor.finalized);
  const from = awaited[0]?.fromBlock ?? null;
  if (from === null) return;
  for (const span of SPANS) {
    const last = from + span - 1n;
    const to = last < cursor.finalized ? last : cursor.finalized;
    try {
      await readUpTo(services, chain, awaited, { from, to });
      return;
    } catch (error) {
      services.log.warn({ chain: name, from, to, err: error }, "refunds were not looked for");
    }
  }
}
