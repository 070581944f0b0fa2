import type { Wallet } from "@wallet-standard/base";

/** What a wallet must be able to do to pay here. */
const NEEDED = ["standard:connect", "standard:events", "solana:signTransaction"];

/** Whether a Wallet Standard wallet signs Solana transactions. */
export function paysOnSolana(wallet: Wallet): boolean {
  return (
    wallet.chains.some((chain) => chain.startsWith("solana:")) &&
    NEEDED.every((feature) => feature in wallet.features)
  );
}

/**
 * Listens for Wallet Standard wallets and lets those already there register; returns the way to stop. `changed` is told the whole list
 * each time.
 */
export function listenForStandard(changed: (wallets: Wallet[]) => void): () => void {
  const wallets = new Set<Wallet>();
  const register = (...arrived: Wallet[]) => {
    for (const wallet of arrived) wallets.add(wallet);
    changed([...wallets]);
    return () => {
      for (const wallet of arrived) wallets.delete(wallet);
      changed([...wallets]);
    };
  };
  const api = Object.freeze({ register });
  const listener = (event: Event) => {
    // Wallets send events of a class of their own.
    const callback: unknown = "detail" in event ? event.detail : null;
    if (typeof callback === "function") callback(api);
  };
  window.addEventListener("wallet-standard:register-wallet", listener);
  window.dispatchEvent(new CustomEvent("wallet-standard:app-ready", { detail: api }));
  return () => window.removeEventListener("wallet-standard:register-wallet", listener);
}
