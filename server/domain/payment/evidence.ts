/** A depth rule: a count of confirmations (1 is the block itself) or a finality tag. */
export type DepthRule = { confirmations: number } | { tag: "safe" | "finalized" };

/** One band of a depth policy; the last one has no upper bound. */
export type DepthBand = { belowUsd: number | null; depth: DepthRule };

/** What is known of a chain's head; all are block numbers. */
export type Heads = { latest: bigint; safe: bigint; finalized: bigint };

/** The rule for a value; a value on a boundary falls into the higher band, an unknown one into `finalized`. */
export function depthFor(bands: DepthBand[], usdMicros: bigint | null): DepthRule {
  if (usdMicros === null) return { tag: "finalized" };
  const band = bands.find(
    ({ belowUsd }) => belowUsd === null || usdMicros < BigInt(belowUsd) * 1_000_000n,
  );
  return band?.depth ?? { tag: "finalized" };
}

/** Whether a block is as deep as the rule asks. */
export function deepEnough(rule: DepthRule, block: bigint, heads: Heads): boolean {
  if ("confirmations" in rule) return heads.latest - block + 1n >= BigInt(rule.confirmations);
  return block <= heads[rule.tag];
}

/** What makes money that arrived not the payment. */
export type ExceptionKind =
  | "late"
  | "short"
  | "over"
  | "double"
  | "wrong_token"
  | "unattributed"
  | "orphaned"
  | "unknown_outflow";

/** An offer that an unmatched arrival may have been meant for. */
export type Candidate = {
  paymentId: string;
  asset: string;
  amount: bigint;
  status: string;
  expired: boolean;
};

/**
 * Names an arrival that carries none of our nonces, against the newest offer made to its sender.
 * The result is a word for people: it credits nothing.
 */
export function classifyArrival(
  asset: string,
  amount: bigint,
  offer: Candidate | null,
): ExceptionKind {
  if (offer === null) return "unattributed";
  if (offer.status === "succeeded") return "double";
  if (offer.expired || offer.status === "expired" || offer.status === "cancelled") return "late";
  if (offer.asset !== asset) return "wrong_token";
  if (amount < offer.amount) return "short";
  if (amount > offer.amount) return "over";
  return "unattributed";
}
