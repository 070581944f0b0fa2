import type { Env } from "#server/platform/env.ts";
import type { ForeignPrice, Registry } from "#server/platform/registry.ts";
import type { ForeignFeed } from "./evm/boot-check.ts";

type Configured = Pick<Env, "chains" | "solana" | "registry">;

/** Something a buyer may pay with; `source` "own" is a feed on its own chain. */
type Offered = { name: string; peg: string | null; source: "own" | ForeignPrice | null };

function offered({ chains, solana }: Configured): Offered[] {
  return [
    ...chains.flatMap(({ entry: { name, native, tokens } }) =>
      [...tokens, ...(native.accepted ? [{ ...native, peg: null }] : [])].map(
        ({ symbol, peg, feed }): Offered => ({
          name: `${symbol} on ${name}`,
          peg,
          source: feed === null ? null : "own",
        }),
      ),
    ),
    ...solana.flatMap(({ entry: { name, native, tokens } }) =>
      [...tokens, ...(native.accepted ? [{ ...native, peg: null }] : [])].map(
        ({ symbol, peg, price }): Offered => ({
          name: `${symbol} on ${name}`,
          peg,
          source: price,
        }),
      ),
    ),
  ];
}

const currencyPrice = ({ currencies }: Registry, code: string): ForeignPrice | null =>
  Object.hasOwn(currencies, code) ? (currencies[code] ?? null) : null;

/** The feeds on one chain that price currencies, and tokens of other chains that are on. */
export function foreignFeeds(env: Configured, caip2: string): ForeignFeed[] {
  const sources: [string, Offered["source"]][] = [
    ...Object.entries(env.registry.currencies),
    ...offered(env).map(({ name, source }): [string, Offered["source"]] => [name, source]),
  ];
  return sources.flatMap(([name, source]) =>
    source !== null && source !== "own" && "chain" in source && source.chain === caip2
      ? [{ name, feed: source.feed }]
      : [],
  );
}

/** What can have no price the way this server is configured, each with the reason; nothing is asked of a node. */
export function missingPrices(env: Configured): string[] {
  const on = new Set(env.chains.map(({ entry }) => entry.caip2));
  const lack = (source: Offered["source"]): string | null => {
    if (source === null) return "the registry has no price";
    if (source === "own" || !("chain" in source) || on.has(source.chain)) return null;
    const { chain } = source;
    return `the price comes from ${chain}, which is off: set FLORIN_RPC_${chain.slice("eip155:".length)}`;
  };
  const pegLack = (peg: string | null): string | null => {
    const reason = peg === null || peg === "USD" ? null : lack(currencyPrice(env.registry, peg));
    return reason === null ? null : `it counts in ${peg}: ${reason}`;
  };
  const refused = new Map<string, string[]>();
  for (const [code, source] of Object.entries(env.registry.currencies)) {
    const reason = lack(source);
    if (reason !== null) refused.set(reason, [...(refused.get(reason) ?? []), code]);
  }
  const tokens = offered(env).flatMap(({ name, peg, source }) => {
    const reason = lack(source) ?? pegLack(peg);
    return reason === null ? [] : [`${name} is not offered: ${reason}`];
  });
  const currencies = [...refused].map(
    ([reason, codes]) => `payments in ${codes.join(", ")} are refused: ${reason}`,
  );
  return [...currencies, ...tokens];
}
