import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { rpc } from "#server/sandbox/node-rpc.ts";
import { walletHeaders } from "./api.ts";
import type { BenchServer, BenchWorld } from "./bench-world.ts";
import { type Measured, measure, type Rounds } from "./compare.ts";
import type { Load } from "./load.ts";
import { requestText } from "./raw-http.ts";

/** 1,000 whole tokens. */
const TOKENS = "0x3b9aca00";
const AT_ONCE = 8;

/** Accounts that hold USDC and USDT. */
export async function makeHolders(world: BenchWorld, count: number): Promise<string[]> {
  const { rpcUrl, world: parts } = world;
  const deployment = parts.chains[0]?.deployment;
  if (deployment === undefined) throw new Error("the world has no chain");
  const accounts: string[] = [];
  const lane = async () => {
    while (accounts.length < count) {
      const { address } = privateKeyToAccount(generatePrivateKey());
      accounts.push(address);
      for (const token of [deployment.usdc, deployment.usdt])
        await rpc(rpcUrl, "anvil_dealERC20", [address, token, TOKENS]);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return accounts;
}

/** Options per second: each call names one account that holds both tokens, another one and another payment than the call before it. */
export async function measureOptions(
  load: Load,
  { world, server }: { world: BenchWorld; server: BenchServer },
  rounds: Rounds,
  { ids, accounts }: { ids: string[]; accounts: string[] },
): Promise<Measured> {
  const named = accounts.map((address) => `${world.caip2}:${address}`);
  const body = JSON.stringify({ accounts: ["{account}"] });
  const length = JSON.stringify({ accounts: [named[0]] }).length;
  return measure(
    load,
    {
      port: server.port,
      pid: server.pid,
      expect: 200,
      request: {
        text: requestText(
          "POST",
          "/v1/gateway/payment/{id}/options",
          walletHeaders(world),
          body,
          length,
        ),
        values: { id: ids, account: named },
      },
    },
    rounds,
  );
}
