import { AUTHORIZATION_GRACE_S } from "#server/domain/payment/expiry.ts";

/** What a tagged transfer of native coin is, measured by the offer it is for. Over and exact pay; over is told besides. */
export type PushVerdict = "exact" | "over" | "short" | "late";

/** Judges a tagged transfer; times are Unix seconds, `expiresAt` is the end of the offer, which the grace extends. */
export function judgePush(
  transfer: { amount: bigint; blockTime: bigint },
  offer: { amount: bigint; expiresAt: number },
): PushVerdict {
  if (transfer.amount < offer.amount) return "short";
  if (transfer.blockTime > BigInt(offer.expiresAt + AUTHORIZATION_GRACE_S)) return "late";
  return transfer.amount > offer.amount ? "over" : "exact";
}

/** Whether a transaction, mined or not, is a transfer that pays an offer in full. */
export const paysOffer = (
  tx: { from: string; to: string | null; value: bigint; data: string },
  offer: { payer: string; recipient: string; amount: bigint; tag: string },
): boolean =>
  tx.from === offer.payer &&
  tx.to === offer.recipient &&
  tx.data === offer.tag &&
  tx.value >= offer.amount;
