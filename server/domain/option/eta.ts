import type { DepthRule } from "#server/domain/payment/evidence.ts";

/** Whole seconds a payment usually takes from its confirm to success under a depth rule. */
export function etaSeconds(
  rule: DepthRule,
  blockTimeMs: number,
  tagBlocks: { safe: number; finalized: number },
): number {
  const blocks = "confirmations" in rule ? rule.confirmations : tagBlocks[rule.tag] + 1;
  return Math.ceil((blocks * blockTimeMs) / 1000);
}
