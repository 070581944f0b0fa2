import type { WalletInfo } from "#components/wallet/kit.ts";
import type {
  CheckoutOption,
  CheckoutOptions,
  CheckoutView,
  ShownMoney,
  UnavailableOption,
} from "#server/contract/checkout.ts";

/** 20 November 2026, 14:05 UTC: the gallery's clock stands still. */
export const NOW_S = 1_795_183_500;

const BUYER = "0x7a3d05c70581bd345fe117c06e45f9669205384f";
const PAYEE = "0xb4c79dab8f259c7aee6e5b2aa729821864227e84";
const SPENDER = "0x00000000001abd345fe117c06e45f96692053f01";
const shownTx = (id: string) => ({ id, url: `https://explorer.example/tx/${id}` });
const TX = shownTx("0x9f8c4b2e5d1a7036c8e4f2b19d5a7c3e6f80b1d2c4a5968778695a4b3c2d1e0f");
const OTHER_TX = shownTx("0x2b71e0c94d8f35a6671b0e4c8d92f3a5560c7e1b4f8a9d2036e5c7b1a0f4d83e");
const REFUND_TX = shownTx("0xc05a7e3f19b84d62a7f0c3e58b1d94627e3fa0c5d8b162947f0e3a5c8d1b6294");

const asset = {
  usdc: "eip155:31337/erc20:0x1c7d",
  usdt: "eip155:31337/erc20:0xdac1",
  eth: "eip155:31338/slip44:60",
  sol: "solana:localnet/slip44:501",
};

/** `display` in plain digits; minor units follow from it. */
function money(
  symbol: "USDC" | "USDT" | "ETH" | "SOL",
  display: string,
  network = "Base",
): ShownMoney {
  const decimals = { USDC: 6, USDT: 6, ETH: 18, SOL: 9 }[symbol];
  const [whole = "0", part = ""] = display.split(".");
  const value = BigInt(`${whole}${part.padEnd(decimals, "0")}`).toString();
  const id = asset[symbol.toLowerCase() as keyof typeof asset];
  return { value, decimals, display, symbol, asset: id, network, iconUrl: null };
}

export const WALLETS: WalletInfo[] = [
  { id: "org.florin.fox", name: "Fox Wallet", iconUrl: null, family: "eip155", source: "injected" },
  { id: "solana:Lantern", name: "Lantern", iconUrl: null, family: "solana", source: "injected" },
  {
    id: "sandbox:eip155",
    name: "Sandbox wallet",
    iconUrl: null,
    family: "eip155",
    source: "sandbox",
  },
];
export const WALLET: WalletInfo = {
  id: "org.florin.fox",
  name: "Fox Wallet",
  iconUrl: null,
  family: "eip155",
  source: "injected",
};
export const ACCOUNTS = [`eip155:31337:${BUYER}`];

export const VIEW: CheckoutView = {
  id: "pay_7YQ2M8D4X0KJ5T9R3WZB6VHNCE",
  stage: "ready",
  status: "requires_action",
  isFinal: false,
  failureCode: null,
  code: "requires_action.open",
  version: "gallery",
  merchant: { name: "Botanica Roasters", iconUrl: null, accent: "#1f5c46" },
  amount: { value: "2480", decimals: 2, display: "24.80", currency: "USD" },
  reference: "Order 10482",
  description: "2 bags of Yirgacheffe, 250 g, whole bean",
  createdAt: NOW_S - 120,
  expiresAt: NOW_S + 780,
  serverNow: NOW_S * 1000,
  redirect: {
    successUrl: "https://shop.example/thanks?payment_id=pay_7YQ2M8D4X0KJ5T9R3WZB6VHNCE",
    errorUrl: "https://shop.example/basket?payment_id=pay_7YQ2M8D4X0KJ5T9R3WZB6VHNCE",
  },
  sandbox: true,
  paid: null,
  arrivals: [],
  refunds: [],
  cancelledBy: null,
};

/** A payment whose time is over by now. */
export const CLOSED = { createdAt: NOW_S - 1000, expiresAt: NOW_S - 100 } as const;
/** One that is in its last quarter. */
export const CLOSING = { createdAt: NOW_S - 783, expiresAt: NOW_S + 117 } as const;
const YESTERDAY_S = NOW_S - 86_400;
/** One that was made a day ago. */
export const OLD = { createdAt: YESTERDAY_S - 120, expiresAt: YESTERDAY_S + 780 } as const;

export const PAID: NonNullable<CheckoutView["paid"]> = {
  money: money("USDC", "24.8"),
  payer: `eip155:31337:${BUYER}`,
  recipient: `eip155:31337:${PAYEE}`,
  tx: TX,
  receivedAt: NOW_S - 20,
  etaS: 12,
  acceptedAt: NOW_S - 25,
  isSeen: true,
};

/** The same, taken longer ago than it usually lasts. */
export const PAID_EARLY = { ...PAID, acceptedAt: NOW_S - 95, receivedAt: NOW_S - 90 };
/** The same, a day ago. */
export const PAID_OLD = { ...PAID, acceptedAt: YESTERDAY_S - 25, receivedAt: YESTERDAY_S - 20 };

const base = {
  account: ACCOUNTS[0] ?? "",
  chain: "eip155:31337",
  networkIconUrl: null,
  expiresAt: null,
  needsData: false,
  etaS: 12,
};

export const SIGN_OPTION: CheckoutOption = {
  ...base,
  id: "opt_usdc",
  money: money("USDC", "24.8"),
  steps: [{ kind: "sign" }],
  networkFee: "shop",
};
export const APPROVE_OPTION: CheckoutOption = {
  ...base,
  id: "opt_usdt",
  money: money("USDT", "24.81"),
  needsData: true,
  steps: [{ kind: "approve", amount: money("USDT", "24.81"), spender: SPENDER }, { kind: "sign" }],
  networkFee: "shop",
};
export const ETH_OPTION: CheckoutOption = {
  ...base,
  id: "opt_eth",
  chain: "eip155:31338",
  money: money("ETH", "0.008267", "Ethereum"),
  expiresAt: NOW_S + 90,
  etaS: 150,
  steps: [{ kind: "send" }],
  networkFee: "buyer",
};
export const OLD_PRICE = money("ETH", "0.008191", "Ethereum");

const missing = (short: ShownMoney, due: ShownMoney, holds: ShownMoney): UnavailableOption => ({
  account: ACCOUNTS[0] ?? "",
  chain: "eip155:31338",
  network: due.network,
  symbol: due.symbol,
  reason: "short",
  money: due,
  holds,
  short,
});
const SHORT = [
  missing(
    money("USDC", "4.2", "Arbitrum"),
    money("USDC", "24.8", "Arbitrum"),
    money("USDC", "20.6", "Arbitrum"),
  ),
  missing(
    money("USDT", "24.81", "Ethereum"),
    money("USDT", "24.81", "Ethereum"),
    money("USDT", "0", "Ethereum"),
  ),
];
export const FOUND: CheckoutOptions = {
  options: [SIGN_OPTION, APPROVE_OPTION, ETH_OPTION],
  unavailable: SHORT,
};
export const NONE_FOUND: CheckoutOptions = {
  options: [],
  unavailable: [
    ...SHORT,
    {
      account: ACCOUNTS[0] ?? "",
      chain: "eip155:10",
      network: "Optimism",
      symbol: "USDC",
      reason: "network_away",
      money: null,
      holds: null,
      short: null,
    },
  ],
};
export const PAYEE_ADDRESS = PAYEE;
export const SPENDER_ADDRESS = SPENDER;

const arrival = (
  kind: CheckoutView["arrivals"][number]["kind"],
  received: string,
  due: string | null,
  at = NOW_S - 60,
): CheckoutView["arrivals"][number] => ({
  kind,
  received: money("ETH", received, "Ethereum"),
  due: due === null ? null : money("ETH", due, "Ethereum"),
  tx: OTHER_TX,
  from: BUYER,
  at,
  resolved: false,
});
export const SHORT_ARRIVAL = arrival("short", "0.008", "0.008267");
export const DOUBLE_ARRIVAL = arrival("double", "0.008267", null, NOW_S - 10);
export const LATE_ARRIVAL = arrival("late", "0.008267", null);
export const REFUND: CheckoutView["refunds"][number] = {
  state: "succeeded",
  money: money("USDC", "24.8"),
  to: `eip155:31337:${BUYER}`,
  tx: REFUND_TX,
  at: NOW_S - 3600,
};
