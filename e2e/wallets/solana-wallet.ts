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
  /** Lets the next signature wait until the returned function is called. */
  holdNext(): () => void;
  /** Lets the next signature be one over other bytes. */
  spoilNext(): void;
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
  let spoils = 0;
  let held: Promise<void> | null = null;
  const handle = async (call: SolanaWallet["calls"][number]) => {
    calls.push(call);
    if (refusals > 0) {
      refusals -= 1;
      return { message: "User rejected the request." };
    }
    if (call.kind === "connect") return null;
    const transaction = getTransactionDecoder().decode(Uint8Array.from(call.transaction ?? []));
    const waits = held;
    held = null;
    await waits;
    const signed = await partiallySignTransaction([keys], transaction);
    const own = signed.signatures[address];
    if (spoils > 0 && own != null) {
      spoils -= 1;
      const bad = own.map((byte) => byte ^ 0xff) as typeof own;
      const signatures = { ...signed.signatures, [address]: bad };
      return { signed: [...getTransactionEncoder().encode({ ...signed, signatures })] };
    }
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
    holdNext: () => {
      let release = () => {};
      held = new Promise((resolve) => {
        release = resolve;
      });
      return release;
    },
    spoilNext: () => {
      spoils += 1;
    },
  };
}
