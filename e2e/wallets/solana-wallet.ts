import { randomUUID } from "node:crypto";
import type { BrowserContext } from "@playwright/test";
import {
  type Address,
  createKeyPairFromPrivateKeyBytes,
  getAddressEncoder,
  getAddressFromPublicKey,
  getTransactionDecoder,
  getTransactionEncoder,
  partiallySignTransaction,
} from "@solana/kit";
import { registerInPage, type SolanaInfo } from "./solana-page.ts";

/** A Solana wallet in the browser of a test that really signs; its key stays in Node. */
export type SolanaWallet = {
  name: string;
  address: Address;
  /** What it was asked: connections, and transactions with the cluster named. */
  calls: { kind: "connect" | "sign"; chain?: string; transaction?: number[] }[];
  refuseNext(): void;
};

/** Puts a Wallet Standard wallet into every page of a context. `seed` is the 32 bytes of its private key. */
export async function injectSolanaWallet(
  context: BrowserContext,
  settings: { seed: Uint8Array; name?: string },
): Promise<SolanaWallet> {
  const keys = await createKeyPairFromPrivateKeyBytes(settings.seed);
  const address = await getAddressFromPublicKey(keys.publicKey);
  const info: SolanaInfo = {
    binding: `solana_${randomUUID().replaceAll("-", "")}`,
    name: settings.name ?? "Test Solana Wallet",
    address,
    publicKey: [...getAddressEncoder().encode(address)],
  };
  const calls: SolanaWallet["calls"] = [];
  let refusals = 0;
  const handle = async (call: SolanaWallet["calls"][number]) => {
    calls.push(call);
    if (refusals > 0) {
      refusals -= 1;
      return { message: "User rejected the request." };
    }
    if (call.kind === "connect") return null;
    const transaction = getTransactionDecoder().decode(Uint8Array.from(call.transaction ?? []));
    const signed = await partiallySignTransaction([keys], transaction);
    return { signed: [...getTransactionEncoder().encode(signed)] };
  };
  await context.exposeBinding(info.binding, (_source, call) => handle(call));
  await context.addInitScript(registerInPage, info);
  return {
    name: info.name,
    address,
    calls,
    refuseNext: () => {
      refusals += 1;
    },
  };
}
