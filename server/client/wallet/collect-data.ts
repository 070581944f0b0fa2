import type { CollectData, PaymentOption } from "./shapes.ts";

/** Whether an option's payer must give data before paying. */
export type DataNeed =
  | { kind: "needed"; url: string; schema: unknown }
  /** Other options of this payment need data, this one does not. */
  | { kind: "skip" }
  | { kind: "none" };

/**
 * Decides per option. The option's own request counts, with its own page: the top-level one covers
 * every account and is only the sign that the payment asks for data at all.
 */
export function dataNeed(
  topLevel: CollectData | null,
  option: Pick<PaymentOption, "collectData">,
): DataNeed {
  const own = option.collectData;
  if (own !== null) return { kind: "needed", url: own.url, schema: own.schema };
  return topLevel === null ? { kind: "none" } : { kind: "skip" };
}
