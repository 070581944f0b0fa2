import { z } from "zod";

const evmAddress = z.string().regex(/^0x[0-9a-fA-F]{40}$/, "must be 0x and 40 hex digits");
const feed = z.strictObject({
  /** Address of a Chainlink-shaped aggregator on the same chain. */
  address: evmAddress,
  /** The feed's own heartbeat in seconds: an older answer is stale. */
  heartbeatS: z.int().positive(),
});

/** One accepted token contract. `eip3009` null means Permit2 is used for it. */
const tokenEntry = z.strictObject({
  symbol: z.string().min(1),
  name: z.string().min(1),
  address: evmAddress,
  decimals: z.int().min(0).max(36),
  /** ISO 4217 code it counts 1:1 for while its price stays inside `depegBps`; null for a floating token. */
  peg: z.string().length(3).nullable(),
  /** Widest distance from the peg, in basis points, at which it still counts 1:1. */
  depegBps: z.int().positive().default(100),
  /** Price of one whole token in USD; null: never offered. */
  feed: feed.nullable(),
  /** EIP-712 domain and signature form of `transferWithAuthorization`, or null where the token lacks it. */
  eip3009: z
    .strictObject({ name: z.string(), version: z.string(), signatures: z.enum(["vrs", "bytes"]) })
    .nullable(),
  /** True for tokens that refuse to change a non-zero allowance to another non-zero one. */
  approveZeroFirst: z.boolean().default(false),
  /** Path or https URL of the token's icon. */
  iconUrl: z.string().nullable().default(null),
});

/** How deep a payment must be, by its USD value at quote: the first band whose `belowUsd` exceeds it applies. */
const depthBand = z.strictObject({
  /** Upper bound in whole USD, exclusive; null for the last band. */
  belowUsd: z.int().positive().nullable(),
  depth: z.union(
    [
      z.strictObject({ confirmations: z.int().positive() }),
      z.strictObject({ tag: z.enum(["safe", "finalized"]) }),
    ],
    'must have either "confirmations", a whole number, or "tag", "safe" or "finalized"',
  ),
});

/** Bands from the smallest sums up; the last one, and no other, is open. */
const depthBands = z
  .array(depthBand)
  .min(1)
  .superRefine((bands, context) => {
    const refuse = (at: number, message: string) =>
      context.addIssue({ code: "custom", path: [at, "belowUsd"], message });
    for (const [at, { belowUsd }] of bands.entries()) {
      const before = bands[at - 1]?.belowUsd ?? 0;
      if (at === bands.length - 1 && belowUsd !== null)
        refuse(at, "must be null in the last band: sums above it would have none");
      if (at < bands.length - 1 && belowUsd === null)
        refuse(at, "must not be null before the last band: the bands after it would never apply");
      if (belowUsd !== null && belowUsd <= before)
        refuse(at, `must be more than ${before}, the bound of the band before it`);
    }
  });

/** One EVM network and what is accepted on it. */
const chainEntry = z.strictObject({
  caip2: z.string().regex(/^eip155:[1-9][0-9]{0,17}$/),
  name: z.string().min(1),
  /** Payments of this environment see this chain and no others. */
  environment: z.enum(["test", "live"]),
  native: z.strictObject({
    symbol: z.string(),
    name: z.string(),
    /** Nodes, wallets and the chain itself count in wei, whatever the coin is called. */
    decimals: z
      .int()
      .refine((decimals): boolean => decimals === 18, "must be 18, as on every EVM chain"),
    feed: feed.nullable(),
    /** SLIP-44 number in its CAIP-19 name. */
    slip44: z.int().min(0).default(60),
    /** Whether buyers may pay with it; needs a feed. Every block is then read with all its transactions. */
    accepted: z.boolean().default(false),
  }),
  iconUrl: z.string().nullable().default(null),
  explorerUrl: z.url().nullable().default(null),
  /** Usual time between blocks, for `etaS` and for the first fee bump. */
  blockTimeMs: z.int().positive(),
  /** Pause between two looks at the head. */
  pollMs: z.int().positive(),
  /** A broadcast transaction not mined after this many seconds is replaced with a higher fee. */
  stuckAfterS: z.int().positive(),
  /** Largest block range asked in one eth_getLogs call while catching up. */
  maxLogRange: z.int().positive().default(500),
  depth: depthBands,
  /** Usual distance of the finality tags from the head, in blocks, for the time shown to buyers. */
  tagBlocks: z
    .strictObject({ safe: z.int().positive(), finalized: z.int().positive() })
    .default({ safe: 40, finalized: 75 }),
  permit2: evmAddress.nullable(),
  /** keccak-256 of Permit2's runtime code here; null: its EIP-712 domain is compared instead. */
  permit2CodeHash: z.string().nullable().default(null),
  /** Oracle with `isSanctioned(address)`, or null where none is known. */
  sanctionsOracle: evmAddress.nullable(),
  tokens: z.array(tokenEntry).min(1),
});

const base58Key = z.string().regex(/^[1-9A-HJ-NP-Za-km-z]{32,44}$/, "must be 32 bytes in base58");

/** Where a USD price comes from: a feed on an EVM chain of the registry, or a fixed rate, USD per unit scaled by 10^8. */
const foreignPrice = z.union(
  [
    z.strictObject({ chain: z.string(), feed }),
    z.strictObject({ usdPerUnitE8: z.string().regex(/^[1-9][0-9]*$/) }),
  ],
  'must have either "chain" and "feed", or "usdPerUnitE8", a whole number in quotes',
);

/** One accepted mint of the SPL Token program, or of Token-2022 without extensions that change transfers. */
const mintEntry = z.strictObject({
  symbol: z.string().min(1),
  name: z.string().min(1),
  mint: base58Key,
  decimals: z.int().min(0).max(18),
  peg: z.string().length(3).nullable(),
  depegBps: z.int().positive().default(100),
  /** Null: never offered. */
  price: foreignPrice.nullable(),
  iconUrl: z.string().nullable().default(null),
});

/** One Solana cluster and what is accepted on it. */
const solanaEntry = z.strictObject({
  /** The first 32 characters of the genesis hash. */
  caip2: z.string().regex(/^solana:[1-9A-HJ-NP-Za-km-z]{32}$/),
  name: z.string().min(1),
  environment: z.enum(["test", "live"]),
  native: z.strictObject({
    symbol: z.string().default("SOL"),
    name: z.string().default("Solana"),
    price: foreignPrice.nullable(),
    /** Whether buyers may pay with it; needs a price. */
    accepted: z.boolean().default(false),
  }),
  iconUrl: z.string().nullable().default(null),
  explorerUrl: z.url().nullable().default(null),
  /** Usual time between slots. */
  slotTimeMs: z.int().positive(),
  pollMs: z.int().positive(),
  /** `confirmations: 1` is the commitment `confirmed`. */
  depth: depthBands,
  /** Priority fee of our transactions. */
  microLamportsPerUnit: z.int().min(0).default(10_000),
  /** Memo program; the older one is on every cluster. */
  memoProgram: base58Key.default("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr"),
  tokens: z.array(mintEntry),
});

/** What stands more than once in a list. */
const doubled = (names: string[]): string[] => [
  ...new Set(names.filter((name, at) => names.indexOf(name) !== at)),
];

type Lists = { chains: z.infer<typeof chainEntry>[]; solana: z.infer<typeof solanaEntry>[] };

/** Chains and tokens that are listed more than once: which entry would count is anybody's guess. */
function listedTwice({ chains, solana }: Lists): string[] {
  const tokens = [
    ...chains.flatMap(({ caip2, tokens }) =>
      tokens.map(({ address }) => `${caip2}/erc20:${address.toLowerCase()}`),
    ),
    ...solana.flatMap(({ caip2, tokens }) => tokens.map(({ mint }) => `${caip2}/token:${mint}`)),
  ];
  const ids = [...chains, ...solana].map(({ caip2 }) => caip2);
  // The tokens of a doubled chain are doubled with it: one line is enough.
  const twice = doubled(ids);
  return [
    ...twice,
    ...doubled(tokens).filter((asset) => !twice.some((id) => asset.startsWith(`${id}/`))),
  ];
}

type Priced = z.infer<typeof foreignPrice> | null;
type Place = (string | number)[];

/** Prices from chains that the registry does not have. */
function pricedNowhere({
  chains,
  solana,
  currencies,
}: Lists & { currencies: Record<string, Priced> }) {
  const known = new Set(chains.map(({ caip2 }) => caip2));
  const sources: [Place, Priced][] = [
    ...Object.entries(currencies).map(([code, price]): [Place, Priced] => [
      ["currencies", code],
      price,
    ]),
    ...solana.flatMap(({ native, tokens }, at): [Place, Priced][] => [
      [["solana", at, "native", "price"], native.price],
      ...tokens.map(({ price }, token): [Place, Priced] => [
        ["solana", at, "tokens", token, "price"],
        price,
      ]),
    ]),
  ];
  return sources.flatMap(([place, price]) =>
    price === null || !("chain" in price) || known.has(price.chain)
      ? []
      : [
          {
            path: [...place, "chain"],
            message: `the registry has no EVM chain ${price.chain}`,
          },
        ],
  );
}

/** Chains, tokens and currency prices a server knows. The first chain that lists a currency's feed is asked for it. */
export const registrySchema = z
  .strictObject({
    chains: z.array(chainEntry).min(1),
    solana: z.array(solanaEntry).default([]),
    /** USD price of one unit of another fiat currency, keyed by ISO 4217 code; USD itself needs none. */
    currencies: z.record(z.string().regex(/^[A-Z]{3}$/), foreignPrice),
  })
  .superRefine((registry, context) => {
    for (const { path, message } of pricedNowhere(registry))
      context.addIssue({ code: "custom", path, message });
    for (const name of listedTwice(registry))
      context.addIssue({ code: "custom", message: `${name} is listed twice` });
  });

export type Registry = z.infer<typeof registrySchema>;
export type ChainEntry = Registry["chains"][number];
export type TokenEntry = ChainEntry["tokens"][number];
export type SolanaEntry = Registry["solana"][number];
export type MintEntry = SolanaEntry["tokens"][number];
export type ForeignPrice = z.infer<typeof foreignPrice>;
export type FeedEntry = NonNullable<TokenEntry["feed"]>;
export type DepthRule = ChainEntry["depth"][number]["depth"];
