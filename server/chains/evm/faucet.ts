import { createWalletClient, encodeFunctionData, type Hex, http, parseAbi, parseEther } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import type { ChainConfig } from "#server/platform/env.ts";
import type { Given } from "#server/ports/faucet.ts";
import { resultOf } from "../node-call.ts";

const MINT = parseAbi(["function mint(address to, uint256 value)"]);
const COIN = parseEther("5");
/** Whole tokens. */
const TOKENS = 10_000n;
/** The faucet's own purse is filled up to this; its chain is ours. */
const PURSE = `0x${parseEther("1000").toString(16)}`;
const GAS = 120_000n;
const TRIES = 4;
const MINED_WITHIN_MS = 15_000;
const LOOK_EVERY_MS = 100;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** The giver of one sandbox chain; null: nobody owns its tokens here. Transfers are sent one account after the other, so that nonces follow. */
export function createEvmGiver(config: ChainConfig): ((address: string) => Promise<Given>) | null {
  const { entry, rpcUrls, faucetKey } = config;
  const [url = ""] = rpcUrls;
  if (faucetKey === null) return null;
  const account = privateKeyToAccount(faucetKey as Hex);
  const wallet = createWalletClient({ account, transport: http(url) });
  const ask = (method: string, params: unknown[]) => resultOf(url, method, params);

  const transfers = (to: Hex) => [
    { to, value: COIN, data: "0x" as Hex },
    ...entry.tokens.map(({ address, decimals }) => ({
      to: address as Hex,
      value: 0n,
      data: encodeFunctionData({
        abi: MINT,
        functionName: "mint",
        args: [to, TOKENS * 10n ** BigInt(decimals)],
      }),
    })),
  ];

  async function sendAll(to: Hex): Promise<Hex[]> {
    const nonce = Number(await ask("eth_getTransactionCount", [account.address, "pending"]));
    const sent: Hex[] = [];
    for (const [index, transfer] of transfers(to).entries())
      sent.push(
        await wallet.sendTransaction({ ...transfer, nonce: nonce + index, gas: GAS, chain: null }),
      );
    return sent;
  }

  async function mined(hash: Hex): Promise<void> {
    const until = performance.now() + MINED_WITHIN_MS;
    while ((await ask("eth_getTransactionReceipt", [hash])) === null) {
      if (performance.now() > until) throw new Error("the faucet's transfer is not mined");
      await pause(LOOK_EVERY_MS);
    }
  }

  async function sendInTurn(to: Hex): Promise<Hex[]> {
    await ask("anvil_setBalance", [account.address, PURSE]);
    for (let attempt = 1; ; attempt++)
      try {
        return await sendAll(to);
      } catch (error) {
        // Somebody else may use the owner's key at the same time: then the nonces were taken.
        if (attempt === TRIES) throw error;
        await pause(LOOK_EVERY_MS * attempt);
      }
  }

  let line: Promise<unknown> = Promise.resolve();
  return async (address) => {
    const turn = line.then(() => sendInTurn(address as Hex));
    line = turn.catch(() => undefined);
    for (const hash of await turn) await mined(hash);
    return {
      chain: entry.caip2,
      symbols: [entry.native.symbol, ...entry.tokens.map(({ symbol }) => symbol)],
    };
  };
}
