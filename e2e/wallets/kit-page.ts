import { createWalletFinder } from "#components/wallet/finder.ts";
import type { WalletChain, WalletSession } from "#components/wallet/kit.ts";
import type { SandboxDoor } from "#components/wallet/sandbox/door.ts";

/** What the page of a test offers: the wallet kit as the checkout uses it, with answers that survive the way to Node. */
export type KitPage = ReturnType<typeof createKitPage>;

type Failed = { kind: string; message: string };

const failed = (error: unknown): Failed => {
  const { kind, message } = error as Failed;
  return { kind: kind ?? "not a WalletError", message };
};

function createKitPage(door: SandboxDoor | null) {
  const finder = createWalletFinder({ sandbox: door });
  const changes: string[] = [];
  let session: WalletSession | null = null;
  const current = () => {
    if (session === null) throw new Error("not connected");
    return session;
  };
  finder.subscribe(() => changes.push("wallets"));
  return {
    changes,
    wallets: () => finder.wallets(),
    connect: async (id: string, chains: WalletChain[]) => {
      try {
        session = await finder.connect(id, chains);
      } catch (error) {
        return failed(error);
      }
      session.onChange((change) => changes.push(change));
      return session.accounts(chains.map(({ caip2 }) => caip2));
    },
    accounts: (chains: string[]) => current().accounts(chains),
    chain: () => current().chain(),
    switchTo: (chain: string) => current().switchTo(chain).catch(failed),
    execute: (
      data: Parameters<WalletSession["execute"]>[0],
      context: Parameters<WalletSession["execute"]>[1],
    ) => current().execute(data, context).catch(failed),
    disconnect: () => current().disconnect(),
  };
}

declare global {
  interface Window {
    kit: KitPage;
    sandboxDoor?: (call: unknown) => Promise<never>;
  }
}

const { sandboxDoor } = window;
window.kit = createKitPage(
  sandboxDoor === undefined
    ? null
    : {
        fund: (account) => sandboxDoor({ fund: account }),
        rpc: (call) => sandboxDoor({ rpc: call }),
      },
);
