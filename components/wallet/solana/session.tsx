import type { Adapter, WalletName } from "@solana/wallet-adapter-base";
import { useWallet, WalletProvider } from "@solana/wallet-adapter-react";
import type { Wallet } from "@wallet-standard/base";
import { useEffect, useRef } from "react";
import { createRoot } from "react-dom/client";
import { WalletError, type WalletInfo, type WalletSession } from "../kit.ts";
import { signSolana } from "./sign.ts";

/** Longest wait for the adapter to know a wallet that had registered already. */
const KNOWN_MS = 5_000;
const PREFIX = "solana:";
const NO_ADAPTERS: Adapter[] = [];

type Ask = {
  name: WalletName;
  connected(): void;
  failed(error: unknown): void;
};

/** Selects and connects one wallet, once; shows nothing. */
function Connector({ ask }: { ask: Ask }) {
  const { wallet, select, connect } = useWallet();
  const asked = useRef(false);
  useEffect(() => {
    if (asked.current) return;
    if (wallet?.adapter.name !== ask.name) {
      select(ask.name);
      return;
    }
    asked.current = true;
    connect().then(ask.connected, ask.failed);
  }, [wallet, select, connect, ask]);
  return null;
}

/** Mounts the adapter without any interface, connects, and gives the way to end it. */
async function mountAdapter(name: WalletName): Promise<() => void> {
  const root = createRoot(document.createElement("div"));
  const leave = () => root.unmount();
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(
        () => reject(new WalletError("gone", `${name} did not register`)),
        KNOWN_MS,
      );
      const settle = () => clearTimeout(timer);
      const ask: Ask = { name, connected: resolve, failed: reject };
      root.render(
        <WalletProvider
          wallets={NO_ADAPTERS}
          autoConnect={false}
          localStorageKey="florin.solana-wallet"
          onError={() => undefined}
        >
          <Connector ask={ask} />
          <Known name={name} onKnown={settle} />
        </WalletProvider>,
      );
    });
    return leave;
  } catch (error) {
    leave();
    throw error;
  }
}

/** Tells once the adapter knows the wallet: from then on only its user is waited for. */
function Known({ name, onKnown }: { name: WalletName; onKnown: () => void }) {
  const { wallets } = useWallet();
  const known = wallets.some(({ adapter }) => adapter.name === name);
  useEffect(() => {
    if (known) onKnown();
  }, [known, onKnown]);
  return null;
}

type Events = {
  on(event: "change", listener: (changed: { accounts?: readonly unknown[] }) => void): () => void;
};

/** Asks a Wallet Standard wallet for its accounts through the adapter. Throws `WalletError`. */
export async function connectSolana(given: {
  info: WalletInfo;
  wallet: Wallet;
}): Promise<WalletSession> {
  const { info, wallet } = given;
  let leave: () => void;
  try {
    leave = await mountAdapter(wallet.name as WalletName);
  } catch (error) {
    if (error instanceof WalletError) throw error;
    throw new WalletError("refused", error instanceof Error ? error.message : String(error), {
      cause: error,
    });
  }
  const stops = new Set<() => void>();
  const addresses = () => wallet.accounts.map(({ address }) => address);
  return {
    wallet: info,
    addresses,
    accounts: (chains) =>
      chains
        .filter((chain) => chain.startsWith(PREFIX))
        .flatMap((chain) => addresses().map((address) => `${chain}:${address}`)),
    chain: async () => null,
    switchTo: async (chain) => {
      if (!chain.startsWith(PREFIX))
        throw new WalletError("unsupported_chain", `${chain} is not a Solana chain`);
    },
    execute: async (call, { account }) =>
      signSolana(wallet, account.slice(account.lastIndexOf(":") + 1), call),
    onChange: (listener) => {
      const events = wallet.features["standard:events"] as Events;
      const stop = events.on("change", ({ accounts }) => {
        if (accounts !== undefined) listener(accounts.length === 0 ? "gone" : "accounts");
      });
      stops.add(stop);
      return stop;
    },
    disconnect: async () => {
      for (const stop of stops) stop();
      const { disconnect } = (wallet.features["standard:disconnect"] ?? {}) as {
        disconnect?: () => Promise<void>;
      };
      await disconnect?.().catch(() => undefined);
      leave();
    },
  };
}
