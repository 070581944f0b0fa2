import type { Wallet } from "@wallet-standard/base";
import { type Eip1193Provider, iconOf, legacyProvider, listenForAnnounced } from "./eip1193.ts";
import {
  type WalletChain,
  WalletError,
  type WalletFinder,
  type WalletInfo,
  type WalletSession,
} from "./kit.ts";
import type { SandboxDoor } from "./sandbox/door.ts";
import { SOLANA_SANDBOX_NAME } from "./sandbox/personality.ts";
import { listenForStandard, paysOnSolana } from "./standard-wallets.ts";

/** A wallet brought by somebody else, such as an operator's relay pairing; see components/wallet/README.md. */
export type ExtraWallet = {
  info: WalletInfo;
  connect(chains: WalletChain[]): Promise<WalletSession>;
};

type Entry = ExtraWallet;

const LEGACY_ID = "injected";

const evmEntry = (info: WalletInfo, provider: Eip1193Provider): Entry => ({
  info,
  connect: async (chains) => {
    const { connectEvm } = await import("./evm/session.ts");
    return connectEvm({ info, provider, chains });
  },
});

const solanaEntry = (wallet: Wallet): Entry => {
  const info: WalletInfo = {
    id: `solana:${wallet.name}`,
    name: wallet.name.slice(0, 60),
    iconUrl: iconOf(wallet.icon),
    family: "solana",
    source: "injected",
  };
  return {
    info,
    connect: async () => {
      const { connectSolana } = await import("./solana/session.tsx");
      return connectSolana({ info, wallet });
    },
  };
};

const sandboxEntry = (family: WalletInfo["family"], door: SandboxDoor): Entry => {
  const info: WalletInfo = {
    id: `sandbox:${family}`,
    name: family === "solana" ? "Sandbox wallet (Solana)" : "Sandbox wallet",
    iconUrl: null,
    family,
    source: "sandbox",
  };
  return {
    info,
    connect: async (chains) => {
      const { connectSandbox } = await import("./sandbox/connect.tsx");
      return connectSandbox({ info, chains, door });
    },
  };
};

/** Our own registers too, so that the adapter knows it; it has an entry already. */
const isForeign = (wallet: Wallet) => paysOnSolana(wallet) && wallet.name !== SOLANA_SANDBOX_NAME;

/** The code of a wallet is fetched when it is chosen; offline, that is what fails first. */
async function open(entry: Entry, chains: WalletChain[]): Promise<WalletSession> {
  try {
    return await entry.connect(chains);
  } catch (error) {
    if (error instanceof WalletError) throw error;
    throw new WalletError("gone", `${entry.info.name} cannot be reached: ${String(error)}`, {
      cause: error,
    });
  }
}

function legacyEntry(announced: Map<string, Entry>): Entry[] {
  const provider = announced.size === 0 ? legacyProvider() : null;
  if (provider === null) return [];
  const info: WalletInfo = {
    id: LEGACY_ID,
    name: "Browser wallet",
    iconUrl: null,
    family: "eip155",
    source: "injected",
  };
  return [evmEntry(info, provider)];
}

/**
 * Finds the wallets of this browser. `sandbox` null: not in sandbox mode. Listens from the first call of `wallets` or `subscribe` on, so
 * it can be made on the server too, where there are none.
 */
export function createWalletFinder(settings: {
  sandbox: SandboxDoor | null;
  extra?: ExtraWallet[];
}): WalletFinder {
  const { sandbox, extra = [] } = settings;
  const listeners = new Set<() => void>();
  const announced = new Map<string, Entry>();
  let standard: Entry[] = [];
  let entries: Entry[] = [];
  let infos: WalletInfo[] = [];
  let listening = false;

  const renew = () => {
    entries = [
      ...announced.values(),
      ...legacyEntry(announced),
      ...standard,
      ...extra,
      ...(sandbox === null
        ? []
        : [sandboxEntry("eip155", sandbox), sandboxEntry("solana", sandbox)]),
    ];
    infos = entries.map(({ info }) => info);
    for (const listener of [...listeners]) listener();
  };
  const listen = () => {
    if (listening || typeof window === "undefined") return;
    listening = true;
    listenForAnnounced(({ uuid, rdns, name, icon, provider }) => {
      const id = announced.has(rdns) ? `${rdns}#${uuid}` : rdns;
      const info: WalletInfo = { id, name, iconUrl: icon, family: "eip155", source: "injected" };
      announced.set(id, evmEntry(info, provider));
      renew();
    });
    listenForStandard((wallets) => {
      standard = wallets.filter(isForeign).map(solanaEntry);
      renew();
    });
    renew();
  };

  return {
    wallets: () => {
      listen();
      return infos;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      listen();
      return () => listeners.delete(listener);
    },
    connect: async (walletId, chains) => {
      const entry = entries.find(({ info }) => info.id === walletId);
      if (entry === undefined) throw new WalletError("gone", `no wallet ${walletId}`);
      return open(entry, chains);
    },
  };
}
