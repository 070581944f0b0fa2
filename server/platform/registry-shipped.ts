import type {
  ChainEntry,
  FeedEntry,
  MintEntry,
  Registry,
  SolanaEntry,
  TokenEntry,
} from "./registry.ts";

/**
 * Public networks and tokens that Florin knows without a registry file. A network is used only when its RPC URL is configured,
 * and every token is compared with the chain before it is offered: code, decimals, EIP-712 domain.
 *
 * Sources of addresses: Circle (developers.circle.com, contract addresses of USDC and EURC), Tether (tether.to, supported
 * protocols; usdt0.to), Paxos (docs.paxos.com, PYUSD), Binance (bscscan.com, Binance-Peg tokens), Chainlink (data.chain.link
 * and the feed lists of its npm package @chainlink/mcp-server), Chainalysis (go.chainalysis.com, sanctions oracle), Uniswap
 * (docs.uniswap.org, Permit2). `feed: null` means that no feed is verified: the operator must add one, or the token is not offered.
 */

const PERMIT2 = "0x000000000022D473030F116dDEE9F6B43aC78BA3";
const SANCTIONS_ORACLE = "0x40C57923924B5c5c5455c48D93317139ADDaC8fb";
/** Base has an oracle of its own. */
const SANCTIONS_ORACLE_BASE = "0x3A91A31cB3dC49b4db9Ce721F50a9D076c8D739B";

/** Feeds of pegged assets and currencies report at least once a day; an hour more is for the report to land. */
const daily = (address: string): FeedEntry => ({ address, heartbeatS: 90_000 });
/** Feeds of floating assets report at least once an hour; a quarter more is for the report to land. */
const hourly = (address: string): FeedEntry => ({ address, heartbeatS: 4_500 });

type Depth = ChainEntry["depth"];

/** Ethereum: blocks are rarely reorganised, and never after two epochs. */
const ETHEREUM_DEPTH: Depth = [
  { belowUsd: 100, depth: { confirmations: 2 } },
  { belowUsd: 1_000, depth: { confirmations: 6 } },
  { belowUsd: null, depth: { tag: "finalized" } },
];
/** Rollups with one sequencer: its word for everyday sums, the data on Ethereum for larger ones. */
const ROLLUP_DEPTH: Depth = [
  { belowUsd: 1_000, depth: { confirmations: 1 } },
  { belowUsd: 10_000, depth: { tag: "safe" } },
  { belowUsd: null, depth: { tag: "finalized" } },
];
/** Chains that are final within seconds. */
const FAST_DEPTH: Depth = [
  { belowUsd: 100, depth: { confirmations: 2 } },
  { belowUsd: null, depth: { tag: "finalized" } },
];

type Pace = Pick<ChainEntry, "blockTimeMs" | "pollMs" | "stuckAfterS" | "tagBlocks">;

/** Usual distances of the tags are only for the time shown to buyers; the tags themselves are read from the chain. */
const PACE = {
  ethereum: {
    blockTimeMs: 12_000,
    pollMs: 2_000,
    stuckAfterS: 60,
    tagBlocks: { safe: 40, finalized: 75 },
  },
  opStack: {
    blockTimeMs: 2_000,
    pollMs: 1_000,
    stuckAfterS: 15,
    tagBlocks: { safe: 150, finalized: 600 },
  },
  celo: {
    blockTimeMs: 1_000,
    pollMs: 1_000,
    stuckAfterS: 15,
    tagBlocks: { safe: 300, finalized: 1_200 },
  },
  arbitrum: {
    blockTimeMs: 250,
    pollMs: 500,
    stuckAfterS: 10,
    tagBlocks: { safe: 2_400, finalized: 4_800 },
  },
  bnb: { blockTimeMs: 450, pollMs: 500, stuckAfterS: 10, tagBlocks: { safe: 1, finalized: 3 } },
  polygon: {
    blockTimeMs: 2_000,
    pollMs: 1_000,
    stuckAfterS: 20,
    tagBlocks: { safe: 3, finalized: 3 },
  },
  monad: { blockTimeMs: 400, pollMs: 500, stuckAfterS: 10, tagBlocks: { safe: 1, finalized: 2 } },
} satisfies Record<string, Pace>;

type Token = Pick<TokenEntry, "symbol" | "name" | "address" | "decimals" | "feed" | "eip3009">;

const pegged = (peg: "USD" | "EUR", token: Token, approveZeroFirst = false): TokenEntry => ({
  ...token,
  peg,
  depegBps: 100,
  approveZeroFirst,
  iconUrl: null,
});

/** Circle's own dollars: FiatToken 2.2, which takes signatures as bytes. `domain` is the contract's EIP-712 name. */
const usdc = (address: string, feed: FeedEntry | null, domain: "USD Coin" | "USDC" = "USD Coin") =>
  pegged("USD", {
    symbol: "USDC",
    name: "USD Coin",
    address,
    decimals: 6,
    feed,
    eip3009: { name: domain, version: "2", signatures: "bytes" },
  });

/** Circle's euros, the same contract; the name of the older deployment differs. */
const eurc = (address: string, feed: FeedEntry, domain: "Euro Coin" | "EURC") =>
  pegged("EUR", {
    symbol: "EURC",
    name: "Euro Coin",
    address,
    decimals: 6,
    feed,
    eip3009: { name: domain, version: "2", signatures: "bytes" },
  });

/** PayPal's dollars take the three-part signature of the standard. */
const pyusd = (address: string, feed: FeedEntry | null) =>
  pegged("USD", {
    symbol: "PYUSD",
    name: "PayPal USD",
    address,
    decimals: 6,
    feed,
    eip3009: { name: "PayPal USD", version: "1", signatures: "vrs" },
  });

/** Ether is accepted where its feed is verified; the coins of other networks once an operator's own file says so. */
const ETHER = { symbol: "ETH", name: "Ether", decimals: 18, slip44: 60, accepted: true };

const live = (
  chain: Pick<ChainEntry, "caip2" | "name" | "native" | "explorerUrl" | "depth" | "tokens"> &
    Partial<ChainEntry>,
  pace: Pace,
): ChainEntry => ({
  environment: "live",
  iconUrl: null,
  maxLogRange: 500,
  permit2: PERMIT2,
  permit2CodeHash: null,
  sanctionsOracle: SANCTIONS_ORACLE,
  ...pace,
  ...chain,
});

const ETHEREUM = live(
  {
    caip2: "eip155:1",
    name: "Ethereum",
    native: { ...ETHER, feed: hourly("0x5f4eC3Df9cbd43714FE2740f5E3616155c5b8419") },
    explorerUrl: "https://etherscan.io",
    depth: ETHEREUM_DEPTH,
    tokens: [
      usdc(
        "0xA0b86991c6218b36c1d19D4a2e9Eb0cE3606eB48",
        daily("0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6"),
      ),
      pegged(
        "USD",
        {
          symbol: "USDT",
          name: "Tether USD",
          address: "0xdAC17F958D2ee523a2206206994597C13D831ec7",
          decimals: 6,
          feed: daily("0x3E7d1eAB13ad0104d2750B8863b489D65364e32D"),
          eip3009: null,
        },
        true,
      ),
      eurc(
        "0x1aBaEA1f7C830bD89Acc67eC4af516284b1bC33c",
        daily("0x04F84020Fdf10d9ee64D1dcC2986EDF2F556DA11"),
        "Euro Coin",
      ),
      pyusd(
        "0x6c3ea9036406852006290770BEdFcAbA0e23A0e8",
        daily("0x8f1dF6D7F2db73eECE86a18b4381F4707b918FB1"),
      ),
    ],
  },
  PACE.ethereum,
);

const OPTIMISM = live(
  {
    caip2: "eip155:10",
    name: "Optimism",
    native: { ...ETHER, feed: hourly("0x13e3Ee699D1909E989722E753853AE30b17e08c5") },
    explorerUrl: "https://optimistic.etherscan.io",
    depth: ROLLUP_DEPTH,
    tokens: [
      usdc(
        "0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85",
        daily("0x16a9FA2FDa030272Ce99B29CF780dFA30361E0f3"),
      ),
    ],
  },
  PACE.opStack,
);

/** Binance's bridged dollars have 18 decimals and no EIP-3009. */
const BNB = live(
  {
    caip2: "eip155:56",
    name: "BNB Smart Chain",
    native: {
      symbol: "BNB",
      name: "BNB",
      decimals: 18,
      feed: hourly("0x0567F2323251f0Aab15c8dFb1967E4e8A7D42aeE"),
      slip44: 714,
      accepted: false,
    },
    explorerUrl: "https://bscscan.com",
    depth: FAST_DEPTH,
    tokens: [
      pegged("USD", {
        symbol: "USDC",
        name: "Binance-Peg USD Coin",
        address: "0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d",
        decimals: 18,
        feed: daily("0x51597f405303C4377E36123cBc172b13269EA163"),
        eip3009: null,
      }),
      pegged("USD", {
        symbol: "USDT",
        name: "Binance-Peg BSC-USD",
        address: "0x55d398326f99059fF775485246999027B3197955",
        decimals: 18,
        feed: daily("0xB97Ad0E74fa7d920791E90258A6E2085088b4320"),
        eip3009: null,
      }),
    ],
  },
  PACE.bnb,
);

const POLYGON = live(
  {
    caip2: "eip155:137",
    name: "Polygon",
    native: {
      symbol: "POL",
      name: "Polygon Ecosystem Token",
      decimals: 18,
      feed: hourly("0xAB594600376Ec9fD91F8e885dADF0CE036862dE0"),
      slip44: 966,
      accepted: false,
    },
    explorerUrl: "https://polygonscan.com",
    depth: FAST_DEPTH,
    tokens: [
      usdc(
        "0x3c499c542cEF5E3811e1192ce70d8cC03d5c3359",
        daily("0xfE4A8cc5b5B2366C1B58Bea3858e81843581b2F7"),
      ),
      pegged("USD", {
        symbol: "USDT",
        name: "Tether USD",
        address: "0xc2132D05D31c914a87C6611C10748AEb04B58e8F",
        decimals: 6,
        feed: daily("0x0A6513e40db6EB1b165753AD52E80663aeA50545"),
        eip3009: null,
      }),
    ],
  },
  PACE.polygon,
);

const BASE = live(
  {
    caip2: "eip155:8453",
    name: "Base",
    native: { ...ETHER, feed: hourly("0x71041dddad3595F9CEd3DcCFBe3D1F4b0a16Bb70") },
    explorerUrl: "https://basescan.org",
    depth: ROLLUP_DEPTH,
    sanctionsOracle: SANCTIONS_ORACLE_BASE,
    tokens: [
      usdc(
        "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913",
        daily("0x7e860098F58bBFC8648a4311b374B1D669a2bc6B"),
      ),
      eurc(
        "0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42",
        daily("0xDAe398520e2B67cd3f27aeF9Cf14D93D927f8250"),
        "EURC",
      ),
    ],
  },
  PACE.opStack,
);

const ARBITRUM = live(
  {
    caip2: "eip155:42161",
    name: "Arbitrum One",
    native: { ...ETHER, feed: daily("0x639Fe6ab55C921f74e7fac1ee960C0B6293ba612") },
    explorerUrl: "https://arbiscan.io",
    depth: ROLLUP_DEPTH,
    tokens: [
      usdc(
        "0xaf88d065e77c8cC2239327C5EDb3A432268e5831",
        daily("0x50834F3163758fcC1Df9973b6e91f0F0F0434aD3"),
      ),
      // USDT0: Tether's TetherTokenV2 has EIP-3009 in both signature forms.
      pegged("USD", {
        symbol: "USDT",
        name: "USDT0",
        address: "0xFd086bC7CD5C481DCC9C85ebE478A1C0b69FCbb9",
        decimals: 6,
        feed: daily("0x3f3f5dF88dC9F13eac63DF89EC16ef6e7E25DdE7"),
        eip3009: { name: "USD₮0", version: "1", signatures: "bytes" },
      }),
      // Chainlink lists no PYUSD feed on Arbitrum: the operator must add one.
      pyusd("0x46850aD61C2B7d64d08c9C754F45254596696984", null),
    ],
  },
  PACE.arbitrum,
);

/** An OP Stack chain since 2025. */
const CELO = live(
  {
    caip2: "eip155:42220",
    name: "Celo",
    native: {
      symbol: "CELO",
      name: "Celo",
      decimals: 18,
      feed: hourly("0x0568fD19986748cEfF3301e55c0eb1E729E0Ab7e"),
      slip44: 52752,
      accepted: false,
    },
    explorerUrl: "https://celoscan.io",
    depth: ROLLUP_DEPTH,
    tokens: [
      usdc(
        "0xcebA9300f2b948710d2653dD7B07f33A8B32118C",
        daily("0xc7A353BaE210aed958a1A2928b654938EC59DaB2"),
        "USDC",
      ),
    ],
  },
  PACE.celo,
);

/** No feed and no sanctions oracle is verified here: the operator must add the feed. */
const MONAD = live(
  {
    caip2: "eip155:143",
    name: "Monad",
    native: {
      symbol: "MON",
      name: "Monad",
      decimals: 18,
      feed: null,
      slip44: 60,
      accepted: false,
    },
    explorerUrl: "https://monadscan.com",
    depth: FAST_DEPTH,
    sanctionsOracle: null,
    tokens: [usdc("0x754704Bc059F8C67012fEd69BC8A327a5aafb603", null, "USDC")],
  },
  PACE.monad,
);

/** Currency feeds are read on Ethereum: without its RPC URL only USD is available. */
const onEthereum = (address: string) => ({ chain: ETHEREUM.caip2, feed: daily(address) });

/** A token with 6 decimals and the price of its twin on Ethereum. */
function solanaToken([symbol, name]: [string, string], mint: string, feed: string): MintEntry {
  return {
    symbol,
    name,
    mint,
    decimals: 6,
    peg: symbol === "EURC" ? "EUR" : "USD",
    depegBps: 100,
    price: onEthereum(feed),
    iconUrl: null,
  };
}

/** Confirmed for everyday sums, finalized for larger ones. */
const SOLANA_DEPTH: Depth = [
  { belowUsd: 1_000, depth: { confirmations: 1 } },
  { belowUsd: null, depth: { tag: "finalized" } },
];

/** Prices are those of the same assets on Ethereum: without its RPC URL nothing is offered here. SOL needs an operator's own price. */
const SOLANA: SolanaEntry = {
  caip2: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  name: "Solana",
  environment: "live",
  native: { symbol: "SOL", name: "Solana", price: null, accepted: false },
  iconUrl: null,
  explorerUrl: "https://solscan.io",
  slotTimeMs: 400,
  pollMs: 500,
  depth: SOLANA_DEPTH,
  microLamportsPerUnit: 10_000,
  memoProgram: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  tokens: [
    solanaToken(
      ["USDC", "USD Coin"],
      "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
      "0x8fFfFfd4AfB6115b954Bd326cbe7B4BA576818f6",
    ),
    solanaToken(
      ["USDT", "Tether USD"],
      "Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB",
      "0x3E7d1eAB13ad0104d2750B8863b489D65364e32D",
    ),
    solanaToken(
      ["EURC", "Euro Coin"],
      "HzwqbKZw8HxMN6bF2yFZNrht3c2iXXzpKcFu7uBEDKtr",
      "0x04F84020Fdf10d9ee64D1dcC2986EDF2F556DA11",
    ),
  ],
};

export const SHIPPED_REGISTRY: Registry = {
  chains: [ETHEREUM, OPTIMISM, BNB, POLYGON, BASE, ARBITRUM, CELO, MONAD],
  solana: [SOLANA],
  currencies: {
    EUR: onEthereum("0xb49f677943BC038e9857d61E7d053CaA2C1734C1"),
    GBP: onEthereum("0x5c0Ab2d9b5a7ed9f470386e82BB36A3613cDd4b5"),
    JPY: onEthereum("0xBcE206caE7f0ec07b545EddE332A47C2F75bbeb3"),
    CHF: onEthereum("0x449d117117838fFA61263B61dA6301AA2a88B13A"),
    CAD: onEthereum("0xa34317DB73e77d453b1B8d04550c44D10e981C8e"),
    AUD: onEthereum("0x77F9710E7d0A19669A13c055F62cd80d313dF022"),
    NZD: onEthereum("0x3977CFc9e4f29C184D4675f4EB8e0013236e5f3e"),
    SGD: onEthereum("0xe25277fF4bbF9081C75Ab0EB13B4A13a721f3E13"),
  },
};
