import {
  createPublicClient,
  fallback,
  type Hex,
  http,
  numberToHex,
  pad,
  toEventSelector,
} from "viem";

import { type Ask, type Block, type RawBlock, readHeads, toBlock } from "./chain-heads.ts";
import { nativeFrom, readCoins, readSent, type SentTx } from "./native-view.ts";

/** A registered token contract; the address of native coin is empty. */
export type Token = { asset: string; address: string };

/** One `Transfer` log of a registered token, or one transfer of native coin by a transaction of its own (log -1). */
export type Transfer = {
  asset: string;
  from: string;
  to: string;
  amount: bigint;
  txHash: string;
  logIndex: number;
  blockHash: string;
  blockNumber: bigint;
};

/** A receipt with its logs; `gasCost` is all that the sender paid. */
export type ChainReceipt = {
  success: boolean;
  blockNumber: bigint;
  blockHash: string;
  gasCost: bigint;
  logs: { address: string; topics: string[]; data: string; logIndex: number }[];
};

/** Where to look for transfers: `from` is the first block, accounts are lower case. */
type Scope = {
  from: bigint;
  intermediaries: string[];
  signers: string[];
  /** Hashes of our transactions that pay out native coin. */
  coinPayouts: string[];
};

/** One chain as it was when the run began; answers are remembered for the run. */
export type ChainView = {
  chain: string;
  tokens: Token[];
  /** What the books name and the registry does not know: only what our accounts hold and send of it is looked at. */
  others: Token[];
  /** The asset of native coin where buyers may pay with it, else null. */
  native: string | null;
  /** First block whose transactions of native coin are among arrivals and outflows; our own payouts always are. */
  nativeFrom: bigint;
  /** The node's finalized block when the run began. */
  finalized: Block;
  /** How far the tag `finalized` is behind the head, in seconds. */
  finalityS: number;
  /** Count of mined transactions by signer, read before the database: at the head and at `finalized`. */
  counts: Map<string, { latest: bigint; finalized: bigint }>;
  /** Last block that both the node and the database call final; what is above it is not compared. */
  horizon: bigint;
  scope: Scope;
  /** Transfers to an intermediary account, from `scope.from` to `finalized`. */
  arrivals(): Promise<Transfer[]>;
  /** Transfers from any of our accounts, in the same blocks. */
  outflows(): Promise<Transfer[]>;
  /** Receipts by hash; a transaction that no node has mined is absent. */
  receipts(hashes: string[]): Promise<Map<string, ChainReceipt>>;
  /** Mined transactions by hash. */
  transactions(hashes: string[]): Promise<Map<string, SentTx>>;
  /** Balance at `finalized`, of a token or of native coin. */
  balance(token: Token, account: string): Promise<bigint>;
  blockTime(number: bigint): Promise<bigint>;
};

/** A chain as it was found; `complete` adds what only the database tells. */
export type FoundChain = {
  cursorless: Omit<ChainView, "horizon" | "scope" | "arrivals" | "outflows" | "nativeFrom">;
  complete(horizon: bigint, scope: Scope): ChainView;
};

type RawLog = {
  address: Hex;
  topics: Hex[];
  data: Hex;
  transactionHash: Hex;
  logIndex: Hex;
  blockHash: Hex;
  blockNumber: Hex;
};
type RawReceipt = {
  status: Hex;
  blockNumber: Hex;
  blockHash: Hex;
  gasUsed: Hex;
  effectiveGasPrice: Hex;
  l1Fee?: Hex | null;
  logs: RawLog[];
};

/** Topic of an EIP-20 `Transfer`. */
const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
const TIMEOUT_MS = 60_000;
const BATCH = 50;
const RECEIPTS_AT_ONCE = 200;

/** The account in an indexed topic, lower case. */
const accountOf = (topic: string | undefined): string =>
  `0x${(topic ?? "").slice(-40)}`.toLowerCase();

function asker(urls: string[]): Ask {
  const client = createPublicClient({
    transport: fallback(
      urls.map((url) => http(url, { batch: { batchSize: BATCH }, timeout: TIMEOUT_MS })),
    ),
  });
  // The raw answers: viem's own shapes drop what some chains add to a receipt.
  return async <T>(method: string, params: unknown[]) =>
    (await client.request({ method, params } as never)) as T;
}

/** What a transfer moves, wherever it is read from. */
export type Moved = Pick<Transfer, "asset" | "from" | "to" | "amount">;

/** What the log of a token's transfer says. */
const movedIn = (
  chain: string,
  { address, topics, data }: { address: string; topics: string[]; data: string },
): Moved => ({
  asset: `${chain}/erc20:${address.toLowerCase()}`,
  from: accountOf(topics[1]),
  to: accountOf(topics[2]),
  amount: BigInt(data),
});

/** The token transfer that a receipt tells of in one of its logs; null: that log tells of none, or is not there. */
export function transferIn({ logs }: ChainReceipt, logIndex: number, chain: string): Moved | null {
  const log = logs.find((one) => one.logIndex === logIndex);
  return log === undefined || log.topics[0] !== TRANSFER ? null : movedIn(chain, log);
}

const toTransfer = (chain: string, log: RawLog): Transfer => ({
  ...movedIn(chain, log),
  txHash: log.transactionHash.toLowerCase(),
  logIndex: Number(BigInt(log.logIndex)),
  blockHash: log.blockHash.toLowerCase(),
  blockNumber: BigInt(log.blockNumber),
});

const toReceipt = (raw: RawReceipt): ChainReceipt => ({
  success: raw.status === "0x1",
  blockNumber: BigInt(raw.blockNumber),
  blockHash: raw.blockHash.toLowerCase(),
  gasCost: BigInt(raw.gasUsed) * BigInt(raw.effectiveGasPrice) + BigInt(raw.l1Fee ?? 0),
  logs: raw.logs.map((log) => ({
    address: log.address.toLowerCase(),
    topics: log.topics,
    data: log.data,
    logIndex: Number(BigInt(log.logIndex)),
  })),
});

/** Reads logs in ranges that nodes accept. */
async function readTransfers(
  ask: Ask,
  found: { chain: string; tokens: Token[]; maxLogRange: number },
  range: { from: bigint; to: bigint },
  topics: unknown[],
): Promise<Transfer[]> {
  const transfers: Transfer[] = [];
  const address = found.tokens.map((token) => token.address);
  const step = BigInt(found.maxLogRange);
  for (let at = range.from; at <= range.to; at += step) {
    const end = at + step - 1n < range.to ? at + step - 1n : range.to;
    const filter = { fromBlock: numberToHex(at), toBlock: numberToHex(end), address, topics };
    const logs = await ask<RawLog[]>("eth_getLogs", [filter]);
    transfers.push(...logs.map((log) => toTransfer(found.chain, log)));
  }
  return transfers.filter(({ amount }) => amount > 0n);
}

async function readReceipts(
  ask: Ask,
  known: Map<string, ChainReceipt | null>,
  hashes: string[],
): Promise<Map<string, ChainReceipt>> {
  const missing = [...new Set(hashes)].filter((hash) => !known.has(hash));
  for (let at = 0; at < missing.length; at += RECEIPTS_AT_ONCE)
    await Promise.all(
      missing.slice(at, at + RECEIPTS_AT_ONCE).map(async (hash) => {
        const raw = await ask<RawReceipt | null>("eth_getTransactionReceipt", [hash]);
        known.set(hash, raw === null ? null : toReceipt(raw));
      }),
    );
  const found = new Map<string, ChainReceipt>();
  for (const hash of hashes) {
    const receipt = known.get(hash);
    if (receipt != null) found.set(hash, receipt);
  }
  return found;
}

async function balanceAt(ask: Ask, token: Token, account: string, at: bigint): Promise<bigint> {
  if (token.address === "")
    return BigInt(await ask<Hex>("eth_getBalance", [account, numberToHex(at)]));
  const data = `0x70a08231${pad(account as Hex).slice(2)}`;
  const answer = await ask<Hex>("eth_call", [{ to: token.address, data }, numberToHex(at)]);
  // Where there is no contract there is no balance.
  return answer === "0x" ? 0n : BigInt(answer);
}

/** Looks at a chain now; throws a sentence when no node gives what the checks need. */
export async function findChain(
  chain: string,
  node: {
    urls: string[];
    tokens: Token[];
    others: Token[];
    native: string | null;
    maxLogRange: number;
  },
  signers: string[],
): Promise<FoundChain> {
  const ask = asker(node.urls);
  const id = BigInt(await ask<Hex>("eth_chainId", []));
  if (`eip155:${id}` !== chain) throw new Error(`its node is on chain ${id}`);
  const { latest, finalized, counts } = await readHeads(ask, signers);
  const known = new Map<string, ChainReceipt | null>();
  const { maxLogRange } = node;
  const sendable = [...node.tokens, ...node.others.filter(({ address }) => address !== "")];
  const cursorless: FoundChain["cursorless"] = {
    chain,
    tokens: node.tokens,
    others: node.others,
    native: node.native,
    finalized,
    finalityS: Number(latest.time - finalized.time),
    counts,
    receipts: (hashes) => readReceipts(ask, known, hashes),
    transactions: async (hashes) =>
      new Map((await readSent(ask, hashes)).map((tx) => [tx.hash, tx] as const)),
    balance: (token, account) => balanceAt(ask, token, account, finalized.number),
    blockTime: async (number) =>
      toBlock(await ask<RawBlock>("eth_getBlockByNumber", [numberToHex(number), false])).time,
  };
  return {
    cursorless,
    complete(horizon, scope) {
      const range = { from: scope.from, to: finalized.number };
      const padded = (accounts: string[]) => accounts.map((account) => pad(account as Hex));
      // An empty list in a filter means "any".
      const read = (tokens: Token[], accounts: string[], topics: unknown[]) =>
        accounts.length === 0 || tokens.length === 0
          ? Promise.resolve([])
          : readTransfers(ask, { chain, tokens, maxLogRange }, range, topics);
      let coins: Promise<Transfer[]> | undefined;
      const coinsOf = async (wanted: (transfer: Transfer) => boolean) => {
        coins ??= readCoins(ask, node.native, { range, ...scope }, (hashes) =>
          readReceipts(ask, known, hashes),
        );
        return (await coins).filter(wanted);
      };
      let arrivals: Promise<Transfer[]> | undefined;
      let outflows: Promise<Transfer[]> | undefined;
      return {
        ...cursorless,
        horizon,
        scope,
        nativeFrom: nativeFrom(range),
        arrivals: () => {
          arrivals ??= Promise.all([
            read(node.tokens, scope.intermediaries, [TRANSFER, null, padded(scope.intermediaries)]),
            coinsOf(({ to }) => scope.intermediaries.includes(to)),
          ]).then((both) => both.flat());
          return arrivals;
        },
        outflows: () => {
          outflows ??= Promise.all([
            read(sendable, scope.signers, [TRANSFER, padded(scope.signers)]),
            coinsOf(({ from }) => scope.signers.includes(from)),
          ]).then((both) => both.flat());
          return outflows;
        },
      };
    },
  };
}
