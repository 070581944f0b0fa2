import { unseal } from "#server/platform/seal.ts";
import type { CollectedLook, CollectTx, SealedField } from "#server/ports/collect.ts";
import { COLLECTED_PURPOSE, collectedPlace } from "./collect-data.ts";

/** A buyer's datum in clear. */
export type OpenedField = { account: string; name: string; value: string };

/** What the read needs: a transaction, and the secret that opens what it finds. */
export type CollectedSource = {
  transaction<T>(work: (tx: CollectTx) => Promise<T>): Promise<T>;
  dataSecret: string;
};

/** The data was sealed with another secret, or was changed or moved in the database. */
export class UnsealError extends Error {}

function open(
  { dataSecret }: CollectedSource,
  paymentId: string,
  { account, name, sealed }: SealedField & { account: string },
): string {
  try {
    return unseal(dataSecret, COLLECTED_PURPOSE, collectedPlace(paymentId, account, name), sealed);
  } catch (cause) {
    const message = `${name} of ${account} does not open: another FLORIN_DATA_SECRET, or a changed row`;
    throw new UnsealError(message, { cause });
  }
}

/**
 * Personal data of a payment in clear: the one place where it is opened. The look is committed before anything is
 * returned. Throws without a reader and a reason, and `UnsealError`.
 */
export async function readCollected(
  source: CollectedSource,
  paymentId: string,
  look: CollectedLook,
): Promise<OpenedField[]> {
  const reader = look.reader.trim();
  const reason = look.reason.trim();
  if (reader === "" || reason === "")
    throw new TypeError("a look at personal data needs a reader and a reason");
  const rows = await source.transaction((tx) => tx.lookAtCollected(paymentId, { reader, reason }));
  return rows.map((row) => ({
    account: row.account,
    name: row.name,
    value: open(source, paymentId, row),
  }));
}
