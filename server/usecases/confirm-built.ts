import type { TransferTerms } from "#server/domain/option/authorization.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Services } from "#server/ports/services.ts";
import type { PaymentOption } from "#server/ports/store.ts";
import { requireSound } from "./require-sound.ts";
import { lifetimeChain, MIN_BLOCKS_LEFT } from "./serve-transaction.ts";

const tooLate = () =>
  new AppError("quote_expired", "The transaction has lapsed: fetch the option's actions again");

/**
 * Judges the transaction that a wallet returned: it must be the one that was made for this option, signed, and still have time to
 * land. Returns what is submitted, and up to which block height it may land.
 */
export async function requireBuilt(
  services: Services,
  option: PaymentOption,
  terms: TransferTerms,
  output: string,
): Promise<{ signature: string; lapsesAt: bigint }> {
  const chain = lifetimeChain(services, option);
  const served = await services.store.servedTxs(option.id);
  const blockhash = chain.blockhashOf(output);
  const built = served.find((one) => one.blockhash === blockhash) ?? served[0];
  if (built === undefined)
    throw new AppError("params_validation", "Validation error: fetch the option's actions first");
  if (built.blockhash === blockhash && (await chain.blocksLeft(built.lapsesAt)) < MIN_BLOCKS_LEFT)
    throw tooLate();
  const check = await chain.checkTransaction(terms, built, output);
  if (check.kind === "would_revert" && check.reason === "expired") throw tooLate();
  requireSound(check);
  return { signature: check.wire ?? output, lapsesAt: built.lapsesAt };
}
