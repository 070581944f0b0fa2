import { type Hex, pad, toEventSelector, toHex } from "viem";
import {
  type BlockRef,
  type ChainHead,
  ChainUnavailable,
  type InboundTransfer,
  type KnownTx,
  type Receipt,
} from "#server/ports/chain.ts";
import { assetOf, type Context, contractOf, toNumber } from "./context.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";

type RawBlock = { number: Hex; hash: Hex; parentHash: Hex; timestamp: Hex };
type RawTx = {
  hash: Hex;
  from: Hex;
  to: Hex | null;
  value: Hex;
  input: Hex;
  nonce: Hex;
  blockHash: Hex | null;
};
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
  /** What OP Stack chains take for L1 data, on top of gas (Optimism's JSON-RPC documentation). */
  l1Fee?: Hex | null;
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
  gasCost: BigInt(raw.gasUsed) * BigInt(raw.effectiveGasPrice) + BigInt(raw.l1Fee ?? 0),
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

const index = (log: RawLog): number => Number(BigInt(log.logIndex));

/** Logs that can belong together: one transaction, one token, one payer. */
const group = (log: RawLog): string =>
  [log.transactionHash, log.address, addressOf(log.topics[1])].join(" ").toLowerCase();

const isUse = (log: RawLog): boolean => log.topics[0].toLowerCase() === AUTHORIZATION_USED;

/** Pairs each use with its direct neighbour on one side; null: some use has no transfer there. */
function pairNeighbours(logs: RawLog[], side: 1 | -1): [transfer: RawLog, use: RawLog][] | null {
  const pairs: [RawLog, RawLog][] = [];
  for (const [at, log] of logs.entries()) {
    if (!isUse(log)) continue;
    const transfer = logs[at + side];
    if (transfer === undefined || isUse(transfer)) return null;
    pairs.push([transfer, log]);
  }
  return pairs;
}

/** What is left when neither order fits all of a group: each use takes the first free transfer after it. */
function pairForward(logs: RawLog[]): [transfer: RawLog, use: RawLog][] {
  const free = new Set(logs.filter((log) => !isUse(log)));
  const pairs: [RawLog, RawLog][] = [];
  for (const use of logs.filter(isUse)) {
    const next = [...free].find((transfer) => index(transfer) > index(use));
    if (next === undefined) continue;
    free.delete(next);
    pairs.push([next, use]);
  }
  return pairs;
}

/**
 * Gives each transfer the authorization nonce it used. Within one transaction, token and payer, a call emits
 * `AuthorizationUsed` right before its `Transfer` (Circle's FiatToken, OpenZeppelin's ERC3009, Tether, Paxos); a token that
 * emits them the other way round is recognised by its whole sequence. No transfer is ever given two nonces.
 */
export function pairNonces(transfers: RawLog[], used: RawLog[]): Map<RawLog, string> {
  const pairs = new Map<RawLog, string>();
  const groups = Map.groupBy([...transfers, ...used], group);
  for (const logs of groups.values()) {
    const sorted = logs.toSorted((a, b) => index(a) - index(b));
    const found = pairNeighbours(sorted, 1) ?? pairNeighbours(sorted, -1) ?? pairForward(sorted);
    for (const [transfer, use] of found) pairs.set(transfer, (use.topics[2] ?? "0x").toLowerCase());
  }
  return pairs;
}

const logsOf = (blockHash: string, address: string[], topics: unknown[]) => ({
  method: "eth_getLogs",
  params: [{ blockHash, address, topics }],
});

/** Logs a node answered, if they are really of this block; a node may know several blocks of one height. */
function logsIn(block: BlockRef, answer: unknown): RawLog[] {
  if (answer instanceof RpcRefusal) throw new ChainUnavailable(answer.message);
  if (!Array.isArray(answer)) throw new ChainUnavailable("a node answered no logs");
  const logs = answer as (RawLog & { removed?: boolean })[];
  if (logs.some((log) => log.removed === true || log.blockHash.toLowerCase() !== block.hash))
    throw new ChainUnavailable("a node answered logs of another block");
  return logs;
}

type Scanned = Pick<Context, "rpc" | "chain" | "contracts" | "native" | "acceptsNative">;

/** Data that is a tag: exactly 32 bytes. */
const TAG = /^0x[0-9a-f]{64}$/;

/** Value that whole transactions of a block moved to one of `recipients`; what reverted is still among them. */
function valueTransfers(block: { transactions?: unknown }, recipients: string[]): RawTx[] {
  const { transactions } = block;
  if (!Array.isArray(transactions) || transactions.some((tx) => typeof tx !== "object"))
    throw new ChainUnavailable("a node answered a block without its transactions");
  const wanted = new Set(recipients);
  return (transactions as RawTx[]).filter(
    ({ to, value }) => to !== null && wanted.has(to.toLowerCase()) && toNumber(value) > 0n,
  );
}

/**
 * Native coin that whole transactions of a block brought. What a contract passes on within a transaction (an exchange's batch, a
 * contract wallet) leaves neither a log nor a transaction of its own and is not seen: such money is found by its balance only.
 */
async function nativeInbound(
  { rpc, native }: Scanned,
  block: BlockRef,
  raw: { transactions?: unknown },
  recipients: string[],
): Promise<InboundTransfer[]> {
  const found = valueTransfers(raw, recipients);
  if (found.length === 0) return [];
  const receipts = await readReceiptsIn(
    rpc,
    block,
    found.map(({ hash }) => hash.toLowerCase()),
  );
  const status = new Map(receipts.map((receipt) => [receipt.hash, receipt.status]));
  if (found.some(({ hash }) => !status.has(hash.toLowerCase())))
    throw new ChainUnavailable("a node does not know the receipts of a block");
  return found
    .filter(({ hash }) => status.get(hash.toLowerCase()) === "success")
    .map(({ hash, from, to, value, input }) => ({
      asset: native,
      payer: from.toLowerCase(),
      recipient: (to ?? "").toLowerCase(),
      amount: toNumber(value),
      txHash: hash.toLowerCase(),
      logIndex: -1,
      authNonce: null,
      tag: TAG.test(input.toLowerCase()) ? input.toLowerCase() : null,
    }));
}

/**
 * Transfers of the registry's tokens, and of native coin where it is accepted, in exactly this block to any of `recipients`. The
 * block itself is asked for in the same round trip: a lagging node may answer "no logs" for a block it has never seen, and must
 * not be believed. For native coin it is asked for with its transactions; their receipts only when one of them is to us.
 */
export async function readInbound(
  context: Scanned,
  block: BlockRef,
  recipients: string[],
): Promise<InboundTransfer[]> {
  const { rpc, contracts, acceptsNative } = context;
  // An empty list in a filter means "any": nothing to look for must never become everything.
  if (recipients.length === 0 || contracts.size === 0) return [];
  const to = recipients.map((recipient) => pad(recipient as Hex));
  const [known, inbound] = await rpc.batch([
    { method: "eth_getBlockByHash", params: [block.hash, acceptsNative] },
    logsOf(block.hash, [...contracts], [TRANSFER, null, to]),
  ]);
  if (known == null || known instanceof RpcRefusal)
    throw new ChainUnavailable("a node does not know the block");
  const coins = acceptsNative ? await nativeInbound(context, block, known, recipients) : [];
  const logs = logsIn(block, inbound);
  return logs.length === 0
    ? coins
    : [...coins, ...(await tokenInbound(context, block, logs, recipients))];
}

/** The transfers that logs of registered tokens show, each with the nonce it used. */
async function tokenInbound(
  { rpc, chain, contracts }: Scanned,
  block: BlockRef,
  logs: RawLog[],
  recipients: string[],
): Promise<InboundTransfer[]> {
  const addresses = [...new Set(logs.map(({ address }) => address))];
  const payers = [...new Set(logs.map(({ topics }) => topics[1]))];
  // Every transfer of these payers, not only those to us: a nonce belongs to its own transfer wherever that went.
  const [all, used] = await rpc.batch([
    logsOf(block.hash, addresses, [TRANSFER, payers]),
    logsOf(block.hash, addresses, [AUTHORIZATION_USED, payers]),
  ]);
  const nonces = pairNonces(logsIn(block, all), logsIn(block, used));
  const nonceAt = new Map(
    [...nonces].map(([log, nonce]) => [`${log.transactionHash}:${index(log)}`, nonce]),
  );
  return logs
    .map((log) => ({
      asset: assetOf(chain, log.address),
      payer: addressOf(log.topics[1]),
      recipient: addressOf(log.topics[2]),
      amount: toNumber(log.data),
      txHash: log.transactionHash.toLowerCase(),
      logIndex: index(log),
      authNonce: nonceAt.get(`${log.transactionHash}:${index(log)}`) ?? null,
      tag: null,
    }))
    .filter(
      ({ asset, recipient, amount }) =>
        amount > 0n && contracts.has(contractOf(asset)) && recipients.includes(recipient),
    );
}

/** A transaction by hash, mined or waiting; null: no node knows it. */
export async function readTransaction(rpc: Rpc, hash: string): Promise<KnownTx | null> {
  const raw = await rpc.read<RawTx | null>("eth_getTransactionByHash", [hash]);
  if (raw === null) return null;
  return {
    from: raw.from.toLowerCase(),
    to: raw.to?.toLowerCase() ?? null,
    value: toNumber(raw.value),
    data: raw.input.toLowerCase(),
    nonce: toNumber(raw.nonce),
    mined: raw.blockHash !== null,
  };
}

/** A receipt by hash; null: no node has one, which says nothing about the transaction. */
export async function readReceipt(rpc: Rpc, hash: string): Promise<Receipt | null> {
  const raw = await rpc.read<RawReceipt | null>("eth_getTransactionReceipt", [hash]);
  return raw === null ? null : toReceipt(raw);
}

async function receiptsOneByOne(rpc: Rpc, hashes: string[]): Promise<RawReceipt[]> {
  const answers = await rpc.batch(
    hashes.map((hash) => ({ method: "eth_getTransactionReceipt", params: [hash] })),
  );
  return answers
    .filter((answer) => answer !== null)
    .map((answer) => {
      if (answer instanceof RpcRefusal) throw new ChainUnavailable(answer.message);
      return answer as RawReceipt;
    });
}

/** All receipts of a block; null: this node does not tell them so. */
async function receiptsOfBlock(rpc: Rpc, block: BlockRef): Promise<RawReceipt[] | null> {
  const [answer] = await rpc.batch([{ method: "eth_getBlockReceipts", params: [block.hash] }]);
  return Array.isArray(answer) ? (answer as RawReceipt[]) : null;
}

/** The receipts of those hashes that are in this block. */
export async function readReceiptsIn(
  rpc: Rpc,
  block: BlockRef,
  hashes: string[],
): Promise<Receipt[]> {
  const wanted = new Set(hashes);
  const whole = hashes.length >= WHOLE_BLOCK_FROM ? await receiptsOfBlock(rpc, block) : null;
  const found = (whole ?? (await receiptsOneByOne(rpc, hashes))).map(toReceipt);
  return found.filter((receipt) => receipt.blockHash === block.hash && wanted.has(receipt.hash));
}
