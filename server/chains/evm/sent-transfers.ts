import { encodeFunctionData, type Hex, numberToHex, pad, toEventSelector, toHex } from "viem";
import { parseAsset } from "#server/domain/asset/caip.ts";
import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import { ChainUnavailable, type SentTransfer, type TransferQuery } from "#server/ports/chain.ts";
import { TOKEN_ABI } from "./abi.ts";
import { assetOf, type Context, contractOf, toNumber } from "./context.ts";
import { RpcRefusal } from "./rpc.ts";

const TRANSFER = toEventSelector("Transfer(address,address,uint256)");

type RawLog = {
  address: Hex;
  topics: Hex[];
  data: Hex;
  transactionHash: Hex;
  logIndex: Hex;
  blockNumber: Hex;
  removed?: boolean;
};

const addressOf = (topic: Hex | undefined): string => `0x${(topic ?? "").slice(-40)}`.toLowerCase();

const isToken = ({ contracts }: Pick<Context, "contracts">, asset: string): boolean =>
  parseAsset(asset)?.namespace === "erc20" && contracts.has(contractOf(asset));

/**
 * Transfers of registered tokens in a range of final blocks. The last block is asked for in the same round trip: a node that
 * does not have it yet would answer "no logs", and must not be believed.
 */
export async function readSent(
  context: Pick<Context, "rpc" | "chain" | "contracts">,
  { assets, senders, recipients, from, to }: TransferQuery,
): Promise<SentTransfer[]> {
  const tokens = [...new Set(assets.filter((asset) => isToken(context, asset)))];
  // An empty list in a filter means "any": nothing to look for must never become everything.
  if (tokens.length === 0 || senders.length === 0 || recipients.length === 0) return [];
  const topicsOf = (accounts: string[]) => [...new Set(accounts)].map((one) => pad(one as Hex));
  const filter = {
    address: tokens.map(contractOf),
    topics: [TRANSFER, topicsOf(senders), topicsOf(recipients)],
    fromBlock: numberToHex(from),
    toBlock: numberToHex(to),
  };
  const [last, answer] = await context.rpc.batch([
    { method: "eth_getBlockByNumber", params: [numberToHex(to), false] },
    { method: "eth_getLogs", params: [filter] },
  ]);
  if (last == null || last instanceof RpcRefusal)
    throw new ChainUnavailable("a node does not know the block");
  if (!Array.isArray(answer))
    throw new ChainUnavailable(
      answer instanceof RpcRefusal ? answer.message : "a node answered no logs",
    );
  return (answer as RawLog[])
    .filter(({ removed }) => removed !== true)
    .map((log) => ({
      asset: assetOf(context.chain, log.address),
      payer: addressOf(log.topics[1]),
      recipient: addressOf(log.topics[2]),
      amount: toNumber(log.data),
      txHash: log.transactionHash.toLowerCase(),
      logIndex: Number(toNumber(log.logIndex)),
      blockNumber: toNumber(log.blockNumber),
    }))
    .filter(({ blockNumber }) => blockNumber >= from && blockNumber <= to)
    .toSorted((a, b) => Number(a.blockNumber - b.blockNumber) || a.logIndex - b.logIndex);
}

/** The call a wallet makes to send a registered token; null for what leaves no log. */
export function walletTransfer(
  context: Pick<Context, "chain" | "contracts">,
  asset: string,
  from: string,
  to: string,
  amount: bigint,
): WalletRpcAction["data"] | null {
  if (!isToken(context, asset)) return null;
  const args = [to as Hex, amount] as const;
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transfer", args });
  return {
    chain_id: context.chain,
    method: "eth_sendTransaction",
    params: [{ from, to: contractOf(asset), data, value: toHex(0n) }],
  };
}
