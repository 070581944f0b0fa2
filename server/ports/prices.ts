import type { Price } from "#server/domain/money/convert.ts";

/** Where prices come from. Null: no source, or its answer is stale or not positive; never a guess. */
export type PriceSource = {
  /** USD per whole unit of a fiat currency; USD itself is exactly 1. */
  fiat(code: string): Promise<Price | null>;
  /** USD per whole token, by CAIP-19 asset. */
  token(asset: string): Promise<Price | null>;
  /** Whether a currency has a configured source at all. */
  hasFiat(code: string): boolean;
};
