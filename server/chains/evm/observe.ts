import { decodeEventLog, type Hex, pad, toEventSelector, toHex } from "viem";
import {
  type BlockRef,
  type ChainHead,
  ChainUnavailable,
  type InboundTransfer,
  type Receipt,
} from "#server/ports/chain.ts";
import { TOKEN_ABI } from "./abi.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";

type RawBlock = { number: Hex; hash: Hex; parentHash: Hex; timestamp: Hex };
type RawLog = {
  address: Hex;
  topics: [Hex, ...Hex[]];
  data: Hex;
  transactionHash: Hex;
  logIndex: Hex;
  blockHash: Hex;
};
type RawReceipt = {
  transactionHash: Hex;
  status: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  gasUsed: Hex;
  effectiveGasPrice: Hex;
};

const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
const AUTHORIZATION_USED = toEventSelector("AuthorizationUsed(address,bytes32)");
/** From this many hashes on, all receipts of a block are asked for at once. */
const WHOLE_BLOCK_FROM = 4;

const toBlock = (raw: RawBlock): BlockRef => ({
  number: BigInt(raw.number),
  hash: raw.hash,
  parent: raw.parentHash,
  time: BigInt(raw.timestamp),
});

const toReceipt = (raw: RawReceipt): Receipt => ({
  hash: raw.transactionHash,
  status: raw.status === "0x1" ? "success" : "reverted",
  blockNumber: BigInt(raw.blockNumber),
  blockHash: raw.blockHash,
  gasCost: BigInt(raw.gasUsed) * BigInt(raw.effectiveGasPrice),
});

/** The head and its finality tags in one round trip; a node without a tag answers as if nothing were that final. */
export async function readHead(rpc: Rpc): Promise<ChainHead> {
  const tags = ["latest", "safe", "finalized", "earliest"];
  const [latest, safe, finalized, earliest] = (await rpc.batch(
    tags.map((tag) => ({ method: "eth_getBlockByNumber", params: [tag, false] })),
  )) as (RawBlock | RpcRefusal | null)[];
  if (latest == null || latest instanceof RpcRefusal)
    throw new ChainUnavailable("node has no latest block");
  const known = (block: RawBlock | RpcRefusal | null | undefined) =>
    block == null || block instanceof RpcRefusal ? null : block;
  const ground = known(finalized) ?? known(earliest);
  if (ground === null) throw new ChainUnavailable("node has no finalized and no first block");
  return {
    latest: toBlock(latest),
    safe: BigInt(known(safe)?.number ?? 0),
    finalized: toBlock(ground),
  };
}

/** A block by number; null: there is none yet. */
export async function readBlock(rpc: Rpc, number: bigint): Promise<BlockRef | null> {
  const raw = await rpc.read<RawBlock | null>("eth_getBlockByNumber", [toHex(number), false]);
  return raw === null ? null : toBlock(raw);
}

const addressOf = (topic: Hex | undefined): string => `0x${(topic ?? "").slice(-40)}`.toLowerCase();

/**
 * Gives each transfer the authorization nonce it used: within one transaction and token, an `AuthorizationUsed` of a payer
 * belongs to that payer's next `Transfer`, and no transfer is given two (tokens emit the one right before the other).
 */
export function pairNonces(transfers: RawLog[], used: RawLog[]): Map<RawLog, string> {
  const pairs = new Map<RawLog, string>();
  const index = (log: RawLog) => Number(BigInt(log.logIndex));
  const sorted = transfers.toSorted((a, b) => index(a) - index(b));
  for (const authorization of used.toSorted((a, b) => index(a) - index(b))) {
    const next = sorted.find(
      (transfer) =>
        !pairs.has(transfer) &&
        transfer.transactionHash === authorization.transactionHash &&
        transfer.address.toLowerCase() === authorization.address.toLowerCase() &&
        index(transfer) > index(authorization) &&
        addressOf(transfer.topics[1]) === addressOf(authorization.topics[1]),
    );
    if (next !== undefined) pairs.set(next, (authorization.topics[2] ?? "0x").toLowerCase());
  }
  return pairs;
}

const logsOf = (blockHash: string, address: string[], topics: unknown[]) => ({
  method: "eth_getLogs",
  params: [{ blockHash, address, topics }],
});

/** Transfers of `tokens` in exactly this block to any of `recipients`. A node that does not know the block is unavailable, not empty. */
export async function readInbound(
  rpc: Rpc,
  chain: string,
  block: BlockRef,
  tokens: string[],
  recipients: string[],
): Promise<InboundTransfer[]> {
  const to = recipients.map((recipient) => pad(recipient as Hex));
  const [known, inbound] = await rpc.batch([
    { method: "eth_getBlockByHash", params: [block.hash, false] },
    logsOf(block.hash, tokens, [TRANSFER, null, to]),
  ]);
  // A lagging node may answer "no logs" for a block it has never seen.
  if (known == null || known instanceof RpcRefusal)
    throw new ChainUnavailable("node does not know the block");
  if (inbound instanceof RpcRefusal) throw new ChainUnavailable(inbound.message);
  const logs = inbound as RawLog[];
  if (logs.length === 0) return [];
  const contracts = [...new Set(logs.map(({ address }) => address))];
  const payers = [...new Set(logs.map(({ topics }) => topics[1]))];
  // Every transfer of these payers, not only those to us: a nonce belongs to the payer's next transfer wherever it went.
  const [all, used] = await rpc.batch([
    logsOf(block.hash, contracts, [TRANSFER, payers]),
    logsOf(block.hash, contracts, [AUTHORIZATION_USED, payers]),
  ]);
  if (all instanceof RpcRefusal || used instanceof RpcRefusal)
    throw new ChainUnavailable("node refused logs");
  const nonces = pairNonces(all as RawLog[], used as RawLog[]);
  const nonceAt = new Map(
    [...nonces].map(([log, nonce]) => [`${log.transactionHash}:${log.logIndex}`, nonce]),
  );
  return logs
    .map((log) => {
      const { args } = decodeEventLog({
        abi: TOKEN_ABI,
        eventName: "Transfer",
        topics: log.topics,
        data: log.data,
      });
      return {
        asset: `${chain}/erc20:${log.address.toLowerCase()}`,
        payer: args.from.toLowerCase(),
        recipient: args.to.toLowerCase(),
        amount: args.value,
        txHash: log.transactionHash.toLowerCase(),
        logIndex: Number(BigInt(log.logIndex)),
        authNonce: nonceAt.get(`${log.transactionHash}:${log.logIndex}`) ?? null,
      };
    })
    .filter(({ amount }) => amount > 0n);
}

/** A receipt by hash; null: no node has one, which says nothing about the transaction. */
export async function readReceipt(rpc: Rpc, hash: string): Promise<Receipt | null> {
  const raw = await rpc.read<RawReceipt | null>("eth_getTransactionReceipt", [hash]);
  return raw === null ? null : toReceipt(raw);
}

/** The receipts of those hashes that are in this block. */
export async function readReceiptsIn(
  rpc: Rpc,
  block: BlockRef,
  hashes: string[],
): Promise<Receipt[]> {
  const wanted = new Set(hashes);
  const here = (receipt: Receipt) => receipt.blockHash === block.hash && wanted.has(receipt.hash);
  if (hashes.length >= WHOLE_BLOCK_FROM) {
    const all = await rpc.read<RawReceipt[]>("eth_getBlockReceipts", [block.hash]);
    return all.map(toReceipt).filter(here);
  }
  const found = await Promise.all(hashes.map((hash) => readReceipt(rpc, hash)));
  return found.filter((receipt) => receipt !== null).filter(here);
}
