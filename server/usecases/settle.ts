import { createHash } from "node:crypto";
import { failpoint } from "#server/platform/failpoint.ts";
import type { ChainPort, TxPlan } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { Settlement } from "#server/ports/store.ts";
import { pushIntent } from "./push-intent.ts";

const LIMIT = 200;

/** One id for one set of settlements: the same batch can never be reserved twice. */
function intentId(group: Settlement[]): string {
  const ids = group.map(({ id }) => id).toSorted();
  return `settle:${ids.length === 1 ? ids[0] : createHash("sha256").update(ids.join(" ")).digest("hex")}`;
}

async function settleGroup(
  services: Services,
  chain: ChainPort,
  group: Settlement[],
): Promise<void> {
  const first = group[0];
  if (first === undefined) return;
  const ids = group.map(({ id }) => id);
  const sum = group.reduce((total, { amount }) => total + amount, 0n);
  const plan: TxPlan = {
    kind: "transfer",
    asset: first.asset,
    to: first.destination,
    amount: sum.toString(),
  };
  const { intermediary } = chain.facts;
  const simulated = await chain.simulate(plan, intermediary);
  if (simulated.kind === "revert") {
    const { reason, detail } = simulated;
    services.log.error({ settlements: ids, reason, detail }, "a settlement would not go through");
    await services.store.transaction(async (tx) => {
      if ((await tx.lockPendingSettlements(ids)).length !== ids.length) return;
      // Less money on chain than the books say: nothing of this asset moves until somebody has looked.
      if (reason === "insufficient_balance")
        await tx.hold(first.asset, "the intermediary account holds less than the ledger says");
      else
        await tx.setSettlements(ids, {
          state: "blocked",
          detail: `the transfer would revert: ${reason}`,
        });
    });
    return;
  }
  await failpoint("settlement.before_reserve");
  const intent = await services.store.transaction(async (tx) => {
    const locked = await tx.lockPendingSettlements(ids);
    if (locked.length !== ids.length || (await tx.isHeld(first.asset))) return null;
    const reserved = await tx.reserveIntent({
      id: intentId(group),
      kind: "settlement",
      paymentId: null,
      attemptId: null,
      chain: chain.facts.chain,
      signer: intermediary,
      plan,
    });
    await tx.setSettlements(ids, { state: "sent", intentId: reserved.id });
    return reserved;
  });
  await failpoint("settlement.after_reserve");
  if (intent !== null) await pushIntent(services, chain, intent, simulated.gas);
}

/** Sends every settlement that is due on a chain: instant ones one by one, batched ones as one transfer each. */
export async function settle(services: Services, chain: ChainPort): Promise<void> {
  const groups = await services.store.settlementsDue(
    chain.facts.chain,
    services.env.FLORIN_SETTLEMENT_BATCH_S,
    LIMIT,
  );
  for (const group of groups) {
    try {
      await settleGroup(services, chain, group);
    } catch (error) {
      services.log.warn(
        { settlements: group.map(({ id }) => id), err: error },
        "a settlement waits",
      );
    }
  }
}
