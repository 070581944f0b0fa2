import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import type { TransferTerms } from "#server/domain/option/authorization.ts";
import { AppError } from "#server/platform/app-error.ts";
import { type BuiltTx, ChainUnavailable, type LifetimeChain } from "#server/ports/chain.ts";
import type { Services } from "#server/ports/services.ts";
import type { PaymentOption } from "#server/ports/store.ts";
import { requireUnlocked } from "./push-lock.ts";

/** A transaction with fewer blocks left than this is not taken any more, and fetch makes a new one. */
export const MIN_BLOCKS_LEFT = 20n;

/** The chain of an option whose wallets sign whole transactions. */
export function lifetimeChain(services: Services, option: PaymentOption): LifetimeChain {
  const chain = services.chains.get(option.chain);
  if (chain?.model === "lifetimes") return chain;
  throw new ChainUnavailable(`${option.chain} is not configured`);
}

/** Keeps a made transaction, unless another call kept one meanwhile: then that one counts. */
const keep = (
  services: Services,
  option: PaymentOption,
  before: BuiltTx | null,
  built: BuiltTx,
): Promise<BuiltTx> =>
  services.store.transaction(async (tx) => {
    const payment = await tx.lockPayment(option.paymentId);
    if (payment?.status !== "requires_action")
      throw new AppError("invalid_state", `The payment is ${payment?.status}`);
    if (payment.windowClosed) throw new AppError("payment_expired", "The payment has expired");
    await requireUnlocked(tx, payment.id, option.id);
    const newest = await tx.newestServed(option.id);
    if (newest !== null && newest.blockhash !== before?.blockhash) return newest;
    await tx.insertServed(option.id, built);
    return built;
  });

/**
 * The transaction for an option's wallet to sign: the one that was made before while it can still be taken, else a new one. At any
 * time one transaction of an option can be taken at most, and of a payment one is ever submitted: the one its confirm locked it to.
 */
export async function serveTransaction(
  services: Services,
  option: PaymentOption,
  terms: TransferTerms,
): Promise<WalletRpcAction> {
  const chain = lifetimeChain(services, option);
  const [newest = null] = await services.store.servedTxs(option.id);
  if (newest !== null && (await chain.blocksLeft(newest.lapsesAt)) >= MIN_BLOCKS_LEFT)
    return chain.signAction(newest);
  const built = await chain.build(terms);
  const kept = await keep(services, option, newest, built);
  return chain.signAction(kept);
}
