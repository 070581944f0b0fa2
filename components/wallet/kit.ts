import type { WalletRpcAction } from "#server/domain/option/actions.ts";

/** A wallet a buyer can choose; `id` is stable within a page (EIP-6963 rdns, Wallet Standard name, or our own). */
export type WalletInfo = {
  id: string;
  name: string;
  /** Data URI or path on our own origin; null: the wallet shows none. */
  iconUrl: string | null;
  family: "eip155" | "solana";
  /** `sandbox` exists in sandbox mode only. */
  source: "injected" | "sandbox" | "relay";
};

/** Why a wallet did not do what it was asked. `refused` and `busy`: nothing left the wallet; `unknown`: something may have. */
export type WalletFailure =
  | "refused"
  | "busy"
  | "wrong_chain"
  | "unsupported_chain"
  | "gone"
  | "unknown";

/** Thrown by every call to a wallet; `message` is for the log of the page, never shown as it is. */
export class WalletError extends Error {
  override readonly name = "WalletError";
  readonly kind: WalletFailure;
  constructor(kind: WalletFailure, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.kind = kind;
  }
}

/** A wallet that gave its accounts. */
export type WalletSession = {
  wallet: WalletInfo;
  /** Addresses as the wallet wrote them, the active one first. */
  addresses(): string[];
  /** CAIP-10 accounts of every address on those of `chains` (CAIP-2) that are of this wallet's family. */
  accounts(chains: string[]): string[];
  /** CAIP-2 the wallet is on now; null: it does not say, or the family has no such thing. */
  chain(): Promise<string | null>;
  /** Asks the wallet to go to a chain (adding it where it is unknown); throws `WalletError`. */
  switchTo(chain: string): Promise<void>;
  /** Executes one call and gives its output as `confirm` wants it; `account` is the CAIP-10 of the option. Throws `WalletError`. */
  execute(
    call: WalletRpcAction["data"],
    context: { account: string; index: number; total: number },
  ): Promise<unknown>;
  /** Told when accounts or chain change, or when the wallet leaves; returns the way to stop. */
  onChange(listener: (change: "accounts" | "chain" | "gone") => void): () => void;
  disconnect(): Promise<void>;
};

/** A chain as a wallet needs it to switch or to add it. */
export type WalletChain = {
  caip2: string;
  name: string;
  native: { name: string; symbol: string; decimals: number };
  /** What a wallet may be told as RPC address; null: none that a browser may use. */
  rpcUrl: string | null;
  explorerUrl: string | null;
};

/** What the checkout knows of wallets before any wallet code is loaded: light, no viem in it. */
export type WalletFinder = {
  /** In the order to show them. */
  wallets(): WalletInfo[];
  /** Told when a wallet announces itself; returns the way to stop. */
  subscribe(listener: () => void): () => void;
  /** Loads the wallet code of that family and asks the wallet for its accounts; only ever from a click. Throws `WalletError`. */
  connect(walletId: string, chains: WalletChain[]): Promise<WalletSession>;
};
