import {
  createKeyPairFromPrivateKeyBytes,
  getAddressEncoder,
  getAddressFromPublicKey,
  getTransactionDecoder,
  getTransactionEncoder,
  partiallySignTransaction,
} from "@solana/kit";
import type { Wallet, WalletAccount } from "@wallet-standard/base";
import { hexToBytes } from "viem";
import { base64Of } from "../bytes.ts";
import type { SandboxDoor } from "./door.ts";
import { recall, remember } from "./keys.ts";
import { type SandboxWalletControls, SOLANA_SANDBOX_NAME } from "./personality.ts";
import { createWalletWindow, type WalletWindow } from "./window.ts";

const CHAINS = ["solana:localnet"] as const;
const ICON = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=";

type Changed = (changed: { accounts: readonly WalletAccount[] }) => void;
type Input = { transaction: Uint8Array };

async function signAll(window: WalletWindow, keys: CryptoKeyPair, inputs: Input[]) {
  const signed: { signedTransaction: Uint8Array }[] = [];
  for (const { transaction } of inputs) {
    const decoded = getTransactionDecoder().decode(transaction);
    const asked = {
      title: "Sign a transaction",
      facts: Object.keys(decoded.signatures).map((name, index) => ({
        name: index === 0 ? "fee payer" : "signer",
        value: name,
      })),
      raw: base64Of(transaction),
    };
    const done = await window.perform(asked, async (personality) => {
      // The nearest thing here to a wrong network: a signature over other bytes.
      const messageBytes = decoded.messageBytes.slice();
      if (personality === "wrong_chain") messageBytes[messageBytes.length - 1] = 0xff;
      const target = { ...decoded, messageBytes } as unknown as typeof decoded;
      return partiallySignTransaction([keys], target);
    });
    signed.push({ signedTransaction: new Uint8Array(getTransactionEncoder().encode(done)) });
  }
  return signed;
}

/** Tells the page of a Wallet Standard wallet, as an extension does. */
function register(wallet: Wallet): void {
  const callback = (api: { register(wallet: Wallet): unknown }) => api.register(wallet);
  window.addEventListener("wallet-standard:app-ready", (event) => {
    const { detail } = event as CustomEvent<Parameters<typeof callback>[0]>;
    callback(detail);
  });
  window.dispatchEvent(new CustomEvent("wallet-standard:register-wallet", { detail: callback }));
}

/** Makes the tab's Solana sandbox wallet and registers it by the Wallet Standard; its key is good for the sandbox alone. */
export async function createSolanaSandboxWallet(
  door: SandboxDoor,
): Promise<{ wallet: Wallet; controls: SandboxWalletControls }> {
  const memory = recall();
  const keys = await createKeyPairFromPrivateKeyBytes(hexToBytes(memory.solana.key));
  const address = await getAddressFromPublicKey(keys.publicKey);
  const account: WalletAccount = {
    address,
    publicKey: new Uint8Array(getAddressEncoder().encode(address)),
    chains: CHAINS,
    features: ["solana:signTransaction"],
  };
  const listeners = new Set<Changed>();
  let accounts: readonly WalletAccount[] = [];
  const setAccounts = (now: readonly WalletAccount[]) => {
    accounts = now;
    for (const listener of [...listeners]) listener({ accounts });
  };
  const panel = createWalletWindow(
    { address, network: "Solana", personality: memory.personality },
    {
      onChosen: (personality) => remember(Object.assign(memory, { personality })),
      onClosed: () => setAccounts([]),
    },
  );
  const connect = async () => {
    if (!memory.solana.funded) {
      panel.show({ note: "Asking for test money" });
      await door.fund({ address, family: "solana" });
      memory.solana.funded = true;
      panel.show({ note: "Test money arrived" });
    }
    remember(memory);
    setAccounts([account]);
    return { accounts };
  };
  const wallet: Wallet = {
    version: "1.0.0",
    name: SOLANA_SANDBOX_NAME,
    icon: ICON,
    chains: CHAINS,
    get accounts() {
      return accounts;
    },
    features: {
      "standard:connect": { version: "1.0.0", connect },
      "standard:disconnect": { version: "1.0.0", disconnect: async () => setAccounts([]) },
      "standard:events": {
        version: "1.0.0",
        on: (_event: string, listener: Changed) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      "solana:signTransaction": {
        version: "1.0.0",
        supportedTransactionVersions: ["legacy", 0],
        signTransaction: (...inputs: Input[]) => signAll(panel, keys, inputs),
      },
    },
  };
  register(wallet);
  return { wallet, controls: panel.controls };
}
