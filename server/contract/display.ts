import type { z } from "zod";
import { parseAsset } from "#server/domain/asset/caip.ts";
import { currencyOfUnit } from "#server/domain/money/currencies.ts";
import type { amount } from "./shapes.ts";

type WireAmount = z.input<typeof amount>;

/** Facts of a token and its chain that a wallet shows. Icons are absolute URLs or null. */
export type TokenDisplay = {
  name: string;
  symbol: string;
  decimals: number;
  iconUrl: string | null;
  networkName: string;
  networkIconUrl: string | null;
};

/** A fiat amount with its display; the unit was checked when the payment was made. */
export function fiatAmount(unit: string, minor: bigint): WireAmount {
  const currency = currencyOfUnit(unit);
  const code = currency?.code ?? unit;
  return {
    unit,
    value: minor.toString(),
    display: {
      assetName: currency?.name ?? code,
      assetSymbol: code,
      decimals: currency?.digits ?? 0,
    },
  };
}

/**
 * A token amount with its display; `asset` is CAIP-19 without prefix. A token that is not configured any more
 * (null) is shown by its reference in minor units, since its decimals are unknown.
 */
export function tokenAmount(asset: string, minor: bigint, token: TokenDisplay | null): WireAmount {
  const reference = parseAsset(asset)?.reference ?? asset;
  return {
    unit: `caip19/${asset}`,
    value: minor.toString(),
    display: {
      assetName: token?.name ?? reference,
      assetSymbol: token?.symbol ?? reference,
      decimals: token?.decimals ?? 0,
      iconUrl: token?.iconUrl ?? null,
      networkName: token?.networkName ?? null,
      networkIconUrl: token?.networkIconUrl ?? null,
    },
  };
}
