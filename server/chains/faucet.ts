import { parseAccount } from "#server/domain/asset/caip.ts";
import { AppError } from "#server/platform/app-error.ts";
import type { Env } from "#server/platform/env.ts";
import type { Faucet, Given } from "#server/ports/faucet.ts";
import { createEvmGiver } from "./evm/faucet.ts";
import { callNode } from "./node-call.ts";
import { createSolanaGiver } from "./solana/faucet.ts";

type Giver = (address: string) => Promise<Given>;

/** Accounts given money in one minute, over all callers. */
const PER_MINUTE = 60;
const MINUTE_MS = 60_000;

/** Lets `PER_MINUTE` calls through in any minute, and refuses the rest. */
function createTurnstile(): () => void {
  let passed: number[] = [];
  return () => {
    const now = performance.now();
    passed = passed.filter((at) => now - at < MINUTE_MS);
    const [oldest = now] = passed;
    if (passed.length >= PER_MINUTE)
      throw new AppError("rate_limited", "The faucet is empty for a moment: try again", {
        retryAfterS: Math.ceil((MINUTE_MS - (now - oldest)) / 1_000),
      });
    passed.push(now);
  };
}

/** The faucet of a sandbox; null in every other mode. */
export function createFaucet(env: Pick<Env, "FLORIN_MODE" | "chains" | "solana">): Faucet | null {
  if (env.FLORIN_MODE !== "sandbox") return null;
  const givers: Record<"eip155" | "solana", Giver[]> = {
    eip155: env.chains.map(createEvmGiver).filter((giver) => giver !== null),
    solana: env.solana.map(createSolanaGiver),
  };
  const urls = new Map(
    [...env.chains, ...env.solana].map(({ entry, rpcUrls }) => [entry.caip2, rpcUrls[0] ?? ""]),
  );
  const chainsOf = (family: string) => [...urls.keys()].filter((id) => id.startsWith(`${family}:`));
  const pass = createTurnstile();
  return {
    async fund(address, family) {
      const [chain = `${family}:1`] = chainsOf(family);
      if (parseAccount(`${chain}:${address}`) === null)
        throw new AppError("params_validation", "Validation error: not an address", {
          issues: [{ path: "address", field: "address", message: "is no address of this family" }],
        });
      pass();
      return Promise.all(givers[family].map((give) => give(address)));
    },
    async ask(chain, method, params) {
      const url = urls.get(chain);
      return url === undefined ? null : callNode(url, method, params);
    },
  };
}
