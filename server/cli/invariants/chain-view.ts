import {
  createPublicClient,
  fallback,
  type Hex,
  http,
  numberToHex,
  pad,
  toEventSelector,
} from "viem";

/** A registered token contract. */
export type Token = { asset: string; address: string };

/** One `Transfer` log of a registered token. */
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

export type Block = { number: bigint; hash: string; time: bigint };

/** Where to look for transfers: `from` is the first block, accounts are lower case. */
type Scope = { from: bigint; intermediaries: string[]; signers: string[] };

/** One chain as it was when the run began; answers are remembered for the run. */
export type ChainView = {
  chain: string;
  tokens: Token[];
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
  /** Token balance at `finalized`. */
  balance(token: Token, account: string): Promise<bigint>;
  blockTime(number: bigint): Promise<bigint>;
};

/** A chain as it was found; `complete` adds what only the database tells. */
export type FoundChain = {
  cursorless: Omit<ChainView, "horizon" | "scope" | "arrivals" | "outflows">;
  complete(horizon: bigint, scope: Scope): ChainView;
};

type Ask = <T>(method: string, params: unknown[]) => Promise<T>;
type RawBlock = { number: Hex; hash: Hex; timestamp: Hex };
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
export const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
const TIMEOUT_MS = 10_000;
const BATCH = 50;
const RECEIPTS_AT_ONCE = 200;

/** The account in an indexed topic, lower case. */
export const accountOf = (topic: string | undefined): string =>
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

const toBlock = (raw: RawBlock): Block => ({
  number: BigInt(raw.number),
  hash: raw.hash,
  time: BigInt(raw.timestamp),
});

const toTransfer = (chain: string, log: RawLog): Transfer => ({
  asset: `${chain}/erc20:${log.address.toLowerCase()}`,
  from: accountOf(log.topics[1]),
  to: accountOf(log.topics[2]),
  amount: BigInt(log.data),
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

async function readCounts(ask: Ask, signers: string[], finalized: bigint) {
  const count = async (signer: string, at: string) =>
    BigInt(await ask<Hex>("eth_getTransactionCount", [signer, at]));
  return new Map(
    await Promise.all(
      signers.map(
        async (signer) =>
          [
            signer,
            {
              latest: await count(signer, "latest"),
              finalized: await count(signer, numberToHex(finalized)),
            },
          ] as const,
      ),
    ),
  );
}

/** A node that was just started may lack the state of blocks from before: until the next ones are final. */
const STATE_TRIES = 6;
const STATE_EVERY_MS = 1_000;

async function readHeads(ask: Ask, signers: string[]) {
  for (let attempt = 1; ; attempt++) {
    const [latest, last] = await Promise.all([
      ask<RawBlock>("eth_getBlockByNumber", ["latest", false]),
      ask<RawBlock | null>("eth_getBlockByNumber", ["finalized", false]),
    ]);
    if (last === null) throw new Error("its node has no finalized block");
    const finalized = toBlock(last);
    try {
      const counts = await readCounts(ask, signers, finalized.number);
      return { latest: toBlock(latest), finalized, counts };
    } catch (error) {
      if (attempt === STATE_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, STATE_EVERY_MS));
    }
  }
}

async function balanceAt(ask: Ask, token: Token, account: string, at: bigint): Promise<bigint> {
  const data = `0x70a08231${pad(account as Hex).slice(2)}`;
  return BigInt(await ask<Hex>("eth_call", [{ to: token.address, data }, numberToHex(at)]));
}

/** Looks at a chain now; throws a sentence when no node gives what the checks need. */
export async function findChain(
  chain: string,
  node: { urls: string[]; tokens: Token[]; maxLogRange: number },
  signers: string[],
): Promise<FoundChain> {
  const ask = asker(node.urls);
  const id = BigInt(await ask<Hex>("eth_chainId", []));
  if (`eip155:${id}` !== chain) throw new Error(`its node is on chain ${id}`);
  const { latest, finalized, counts } = await readHeads(ask, signers);
  const known = new Map<string, ChainReceipt | null>();
  const found = { chain, tokens: node.tokens, maxLogRange: node.maxLogRange };
  const cursorless: FoundChain["cursorless"] = {
    chain,
    tokens: node.tokens,
    finalized,
    finalityS: Number(latest.time - finalized.time),
    counts,
    receipts: (hashes) => readReceipts(ask, known, hashes),
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
      const read = (accounts: string[], topics: unknown[]) =>
        accounts.length === 0 || node.tokens.length === 0
          ? Promise.resolve([])
          : readTransfers(ask, found, range, topics);
      let arrivals: Promise<Transfer[]> | undefined;
      let outflows: Promise<Transfer[]> | undefined;
      return {
        ...cursorless,
        horizon,
        scope,
        arrivals: () => {
          arrivals ??= read(scope.intermediaries, [TRANSFER, null, padded(scope.intermediaries)]);
          return arrivals;
        },
        outflows: () => {
          outflows ??= read(scope.signers, [TRANSFER, padded(scope.signers)]);
          return outflows;
        },
      };
    },
  };
}
