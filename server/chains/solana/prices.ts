import type { ForeignPrice, Registry } from "#server/platform/registry.ts";
import { assetOf, nativeAssetOf } from "./assets.ts";

/** Where the prices of assets on Solana come from, by asset; one without a price is not there. */
export function solanaPrices({ solana }: Registry): Map<string, ForeignPrice> {
  const prices = new Map<string, ForeignPrice>();
  for (const { caip2, native, tokens } of solana) {
    if (native.price !== null) prices.set(nativeAssetOf(caip2), native.price);
    for (const { mint, price } of tokens)
      if (price !== null) prices.set(assetOf(caip2, mint), price);
  }
  return prices;
}
