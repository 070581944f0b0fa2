import { createWalletFinder } from "#components/wallet/finder.ts";
import type { WalletFinder } from "#components/wallet/kit.ts";
import type { ApiClient } from "#server/trpc/client.ts";

/** The finder of this page's wallets; in a sandbox with the wallet that needs none installed. */
export function loadFinder(sandbox: boolean, getApi: () => Promise<ApiClient>): WalletFinder {
  if (!sandbox) return createWalletFinder({ sandbox: null });
  return createWalletFinder({
    sandbox: {
      fund: async (account) => (await getApi()).sandbox.fund.mutate(account),
      rpc: async (call) => {
        const answer = await (await getApi()).sandbox.rpc.mutate(call);
        return "error" in answer ? { error: answer.error } : { result: answer.result };
      },
    },
  });
}
