import { encodeFunctionData, type Hex } from "viem";
import type { Log } from "#server/platform/log.ts";
import type { Registry } from "#server/platform/registry.ts";
import type { Screening } from "#server/ports/screening.ts";
import { shortCache } from "../short-cache.ts";
import { SANCTIONS_ABI } from "./abi.ts";
import type { Rpc } from "./rpc.ts";

/** How long a verdict is used again. */
const KEEP_MS = 2_000;

/** Screening by the sanctions oracle of each chain; a chain without one clears everybody, one that fails clears nobody. */
export function createScreening(registry: Registry, rpcs: Map<string, Rpc>, log: Log): Screening {
  const cache = shortCache<"clear" | "listed">(KEEP_MS);
  return {
    async screen(chain, address) {
      const oracle = registry.chains.find(({ caip2 }) => caip2 === chain)?.sanctionsOracle ?? null;
      const rpc = rpcs.get(chain);
      if (oracle === null || rpc === undefined) return "clear";
      try {
        return await cache(`${chain} ${address}`, async () => {
          const data = encodeFunctionData({ abi: SANCTIONS_ABI, args: [address as Hex] });
          const answer = await rpc.read<Hex>("eth_call", [{ to: oracle, data }, "latest"]);
          return BigInt(answer) === 0n ? "clear" : "listed";
        });
      } catch (error) {
        log.warn({ chain, err: error }, "screening is unavailable");
        return "unavailable";
      }
    },
  };
}
