/** What the page's half of a Solana wallet is told. */
export type SolanaInfo = { binding: string; name: string; address: string; publicKey: number[] };

/** Runs inside every page before its own scripts: a Wallet Standard wallet that asks Node to sign. */
export function registerInPage(info: SolanaInfo): void {
  type Answer = { signed: number[] } | { message: string } | null;
  const ask = (window as unknown as Record<string, (call: unknown) => Promise<Answer>>)[
    info.binding
  ];
  if (ask === undefined) return;
  const chains = ["solana:mainnet", "solana:devnet", "solana:localnet"];
  const account = Object.freeze({
    address: info.address,
    publicKey: Uint8Array.from(info.publicKey),
    chains,
    features: ["solana:signTransaction"],
  });
  type Listener = (changed: { accounts: unknown[] }) => void;
  const listeners = new Set<Listener>();
  let accounts: unknown[] = [];
  const setAccounts = (now: unknown[]) => {
    accounts = now;
    for (const listener of [...listeners]) listener({ accounts: now });
  };
  const must = async (call: unknown) => {
    const answer = await ask(call);
    if (answer !== null && "message" in answer) throw new Error(answer.message);
    return answer;
  };
  const wallet = {
    version: "1.0.0",
    name: info.name,
    icon: "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciLz4=",
    chains,
    get accounts() {
      return accounts;
    },
    features: {
      "standard:connect": {
        version: "1.0.0",
        connect: async () => {
          await must({ kind: "connect" });
          setAccounts([account]);
          return { accounts };
        },
      },
      "standard:disconnect": {
        version: "1.0.0",
        disconnect: async () => setAccounts([]),
      },
      "standard:events": {
        version: "1.0.0",
        on: (_event: string, listener: Listener) => {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      "solana:signTransaction": {
        version: "1.0.0",
        supportedTransactionVersions: ["legacy", 0],
        signTransaction: async (...inputs: { transaction: Uint8Array; chain?: string }[]) => {
          const signed: { signedTransaction: Uint8Array }[] = [];
          for (const { transaction, chain } of inputs) {
            const answer = await must({ kind: "sign", transaction: [...transaction], chain });
            if (answer !== null && "signed" in answer)
              signed.push({ signedTransaction: Uint8Array.from(answer.signed) });
          }
          return signed;
        },
      },
    },
  };
  const callback = (api: { register(wallet: unknown): void }) => api.register(wallet);
  // As the library of real wallets does it: an event of a class of its own.
  window.dispatchEvent(
    Object.assign(new Event("wallet-standard:register-wallet"), { detail: callback }),
  );
  window.addEventListener("wallet-standard:app-ready", (event) =>
    callback((event as CustomEvent<{ register(wallet: unknown): void }>).detail),
  );
}
