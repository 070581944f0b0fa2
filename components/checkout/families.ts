import type { WalletChain, WalletInfo } from "#components/wallet/kit.ts";

/** The wallets of those families the payment can be paid on; a family is the namespace of its chains. */
export const payingWallets = (
  wallets: readonly WalletInfo[],
  chains: readonly WalletChain[],
): readonly WalletInfo[] =>
  wallets.filter(({ family }) => chains.some(({ caip2 }) => caip2.startsWith(`${family}:`)));
