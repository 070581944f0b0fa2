import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chainOf } from "#server/domain/asset/caip.ts";
import type { Surroundings } from "#server/domain/payment/surroundings.ts";
import { type ChainEntry, type Registry, registrySchema } from "#server/platform/registry.ts";
import { SHIPPED_REGISTRY } from "#server/platform/registry-shipped.ts";
import { sandboxDirectory } from "./sandbox-file.ts";

type Named = Pick<Surroundings, "token" | "chain">;

const present = (text: string | undefined): text is string => text !== undefined && text !== "";

/** The registry a command names things by: FLORIN_REGISTRY_FILE, the sandbox's where there is no DATABASE_URL, or the shipped one. */
export function readRegistry(source: Record<string, string | undefined>): Registry {
  if (present(source.FLORIN_REGISTRY_FILE))
    return registrySchema.parse(JSON.parse(readFileSync(source.FLORIN_REGISTRY_FILE, "utf8")));
  if (present(source.DATABASE_URL)) return SHIPPED_REGISTRY;
  const file = join(sandboxDirectory(), "registry.json");
  return registrySchema.parse(JSON.parse(readFileSync(file, "utf8")));
}

function nameToken({ caip2, name, native, tokens }: ChainEntry, asset: string) {
  if (asset.startsWith(`${caip2}/slip44:`))
    return { symbol: native.symbol, decimals: native.decimals, network: name };
  const token = tokens.find(
    ({ address }) => `${caip2}/erc20:${address.toLowerCase()}` === asset.toLowerCase(),
  );
  return token === undefined
    ? null
    : { symbol: token.symbol, decimals: token.decimals, network: name };
}

/** What the chains and tokens of a registry are called. */
export function namesOf({ chains }: Registry): Named {
  const entry = (caip2: string) => chains.find((one) => one.caip2 === caip2) ?? null;
  return {
    chain: entry,
    token(asset) {
      const chain = entry(chainOf(asset));
      return chain === null ? null : nameToken(chain, asset);
    },
  };
}
