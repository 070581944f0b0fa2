import type { SolanaConfig } from "#server/platform/env.ts";
import type { Given } from "#server/ports/faucet.ts";
import { resultOf } from "../node-call.ts";

const LAMPORTS = 5_000_000_000;
/** Whole tokens. */
const TOKENS = 10_000n;
const TOKEN_PROGRAM = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const TIMEOUT_MS = 15_000;
const LOOK_EVERY_MS = 100;

/** The giver of one local cluster: its node writes accounts as it is told. */
export const createSolanaGiver =
  ({ entry, rpcUrls }: SolanaConfig): ((address: string) => Promise<Given>) =>
  async (address) => {
    const [url = ""] = rpcUrls;
    const ask = (method: string, params: unknown[]) => resultOf(url, method, params);
    await ask("requestAirdrop", [address, LAMPORTS]);
    for (const { mint, decimals } of entry.tokens)
      await ask("surfnet_setTokenAccount", [
        address,
        mint,
        { amount: Number(TOKENS * 10n ** BigInt(decimals)) },
        TOKEN_PROGRAM,
      ]);
    const until = performance.now() + TIMEOUT_MS;
    for (;;) {
      const answer = (await ask("getBalance", [address])) as { value?: number };
      if ((answer.value ?? 0) > 0) break;
      if (performance.now() > until) throw new Error("the airdrop did not arrive");
      await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
    }
    const symbols = [entry.native.symbol, ...entry.tokens.map(({ symbol }) => symbol)];
    return { chain: entry.caip2, symbols };
  };
