import type { Wallet, WalletAccount } from "@wallet-standard/base";
import { base64Of, bytesOfBase64 } from "../bytes.ts";
import { WalletError } from "../kit.ts";

/** The part of `solana:signTransaction` that is used here. */
type SignTransaction = {
  signTransaction(input: {
    account: WalletAccount;
    transaction: Uint8Array;
    chain?: `${string}:${string}`;
  }): Promise<readonly { signedTransaction: Uint8Array }[]>;
};

/** Wallet Standard's names of the public clusters, by the start of their genesis hash as CAIP-2 has it. */
const CLUSTERS: Record<string, `solana:${string}`> = {
  "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp": "solana:mainnet",
  "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1": "solana:devnet",
  "solana:4uhcVJyU9pJkvQyUS88uRDiswHXSCKY3": "solana:testnet",
};

function transactionOf(params: unknown[]): Uint8Array {
  const [first] = params;
  const { transaction } = (typeof first === "object" && first !== null ? first : {}) as {
    transaction?: unknown;
  };
  if (typeof transaction !== "string") throw new WalletError("refused", "no transaction to sign");
  return bytesOfBase64(transaction);
}

/** What a wallet says when its user declines has no number here; anything unnamed left nothing either, as nothing is broadcast. */
const refusalOf = (error: unknown): WalletError =>
  error instanceof WalletError
    ? error
    : new WalletError("refused", error instanceof Error ? error.message : String(error), {
        cause: error,
      });

/**
 * Lets a Wallet Standard wallet sign the transaction of a `solana_signTransaction`, as plain bytes so that nothing re-encodes it; gives
 * the signed transaction in base64. Throws `WalletError`.
 */
export async function signSolana(
  wallet: Wallet,
  address: string,
  call: { chain_id: string; params: unknown[] },
): Promise<string> {
  const account = wallet.accounts.find((one) => one.address === address);
  if (account === undefined) throw new WalletError("gone", `the wallet no longer gives ${address}`);
  const chain = CLUSTERS[call.chain_id] ?? "solana:localnet";
  const feature = wallet.features["solana:signTransaction"] as SignTransaction | undefined;
  if (feature === undefined) throw new WalletError("refused", "the wallet signs no transactions");
  try {
    const [signed] = await feature.signTransaction({
      account,
      transaction: transactionOf(call.params),
      ...(account.chains.includes(chain) ? { chain } : {}),
    });
    if (signed === undefined) throw new WalletError("refused", "the wallet gave no transaction");
    return base64Of(signed.signedTransaction);
  } catch (error) {
    throw refusalOf(error);
  }
}
