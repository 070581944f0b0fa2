/** Values that examples share; none of them is, or ever was, anything real. */
export const PAYMENT = "pay_7K3M9XQ2WD5T8VJ4RB6CNHE1ZA";
export const OPTION = "opt_4RB6CNHE1ZA7K3M9XQ2WD5T8VJ";
export const MERCHANT = "mer_9XQ2WD5T8VJ4RB6CNHE1ZA7K3M";
export const REQUEST = "req_2WD5T8VJ4RB6CNHE1ZA7K3M9XQ";
export const DESTINATION_ID = "dst_8VJ4RB6CNHE1ZA7K3M9XQ2WD5T";
export const REFUND = "ref_HE1ZA7K3M9XQ2WD5T8VJ4RB6CN";
export const EVENT = "evt_B6CNHE1ZA7K3M9XQ2WD5T8VJ4R";
export const WEBHOOK = "whe_Q2WD5T8VJ4RB6CNHE1ZA7K3M9X";
export const DELIVERY = "dlv_ZA7K3M9XQ2WD5T8VJ4RB6CNHE1";
export const REFERENCE = "order-1001";
export const CREATED_AT = "2026-11-21T10:00:00.000Z";
export const SETTLED_AT = "2026-11-21T10:01:12.000Z";
export const EXPIRES_AT = 1_795_256_100;

export const BUYER = "0x52908400098527886e0f7030069857d2e4169ee7";
const TOKEN = "0x00000000000000000000000000000000000000c5";
export const BUYER_ACCOUNT = `eip155:8453:${BUYER}`;
export const DESTINATION = "eip155:8453:0x8617e340b3d01fa5f11f306f4090fd50e238070d";
export const ASSET = `eip155:8453/erc20:${TOKEN}`;
export const TX_ID = `0x${"8f2c41d9".repeat(8)}`;
export const SETTLEMENT_TX_ID = `0x${"b7e05a36".repeat(8)}`;

/** A USD amount; `value` in cents. */
export const usd = (value: string) => ({
  unit: "iso4217/USD",
  value,
  display: { assetName: "US Dollar", assetSymbol: "USD", decimals: 2 },
});

const dollarCoin = (asset: string, networkName: string) => (value: string) => ({
  unit: `caip19/${asset}`,
  value,
  display: {
    assetName: "USD Coin",
    assetSymbol: "USDC",
    decimals: 6,
    iconUrl: null,
    networkName,
    networkIconUrl: null,
  },
});

/** A USDC amount on Base; `value` in millionths. */
export const usdc = dollarCoin(ASSET, "Base");

const SOLANA = "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp";
export const SOLANA_OPTION = "opt_1ZA7K3M9XQ2WD5T8VJ4RB6CNHE";
export const SOLANA_ACCOUNT = `${SOLANA}:7S3P4HxJpyyigGzodYwHtCxZyUQe9JiBMHyRWXArAaKv`;

/** A USDC amount on Solana; `value` in millionths. */
export const solanaUsdc = dollarCoin(
  `${SOLANA}/token:EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v`,
  "Solana",
);

/** What a wallet has fetched for an account on Solana: a transaction there is made when it is wanted, since it lapses soon. */
export const BUILD_ACTION = {
  type: "build",
  data: { data: "kq3nV0xGmJ2wR7tYb5uHcE8sLd1aZp4oXf6iNv9WgKM" },
} as const;

/** What the wallet then signs. */
export const SIGN_TRANSACTION = {
  type: "walletRpc",
  data: {
    chain_id: SOLANA,
    method: "solana_signTransaction",
    params: [{ transaction: "AgAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA…" }],
  },
} as const;

const TYPED_DATA = {
  domain: { name: "USD Coin", version: "2", chainId: 8453, verifyingContract: TOKEN },
  primaryType: "TransferWithAuthorization",
  types: { "…": "…" },
  message: { from: BUYER, to: "0x…", value: "12500000", "…": "…" },
};

/** What a wallet signs for a token that takes transfers by authorization. */
export const SIGN_ACTION = {
  type: "walletRpc",
  data: {
    chain_id: "eip155:8453",
    method: "eth_signTypedData_v4",
    params: [BUYER, JSON.stringify(TYPED_DATA)],
  },
} as const;

export const SIGNATURE = `0x${"5a".repeat(64)}1b`;

/** The outcome of a paid payment. */
export const PAID_BY = { txId: TX_ID, optionAmount: usdc("12500000") };
