import type { Hex } from "viem";
import { expect, test } from "vitest";
import { ChainUnavailable } from "#server/ports/chain.ts";
import { pairNonces, readHead, readInbound, readReceipt, readReceiptsIn } from "./observe.ts";
import { type Rpc, type RpcCall, RpcRefusal } from "./rpc.ts";

const TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef";
const USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5";
const TOKEN = "0xdac17f958d2ee523a2206206994597c13d831ec7";
const [PAYER, OTHER, US] = ["11", "22", "33"].map((byte) => `0x${byte.repeat(20)}` as Hex) as [
  Hex,
  Hex,
  Hex,
];
const HASH = `0x${"aa".repeat(32)}`;
const topic = (address: string): Hex => `0x${address.slice(2).padStart(64, "0")}`;
const nonce = (byte: string): Hex => `0x${byte.repeat(32)}`;

type Log = Parameters<typeof pairNonces>[0][number];
const log = (logIndex: number, topics: [Hex, ...Hex[]], change: Partial<Log> = {}): Log => ({
  address: TOKEN,
  topics,
  data: `0x${"5".padStart(64, "0")}`,
  transactionHash: `0x${"bb".repeat(32)}`,
  logIndex: `0x${logIndex.toString(16)}`,
  blockHash: HASH as Hex,
  ...change,
});
const moved = (index: number, from: Hex = PAYER, change: Partial<Log> = {}) =>
  log(index, [TRANSFER, topic(from), topic(US)], change);
const used = (index: number, byte: string, from: Hex = PAYER, change: Partial<Log> = {}) =>
  log(index, [USED, topic(from), nonce(byte)], change);

const pairs = (transfers: Log[], uses: Log[]) =>
  Object.fromEntries(
    [...pairNonces(transfers, uses)].map(([transfer, of]) => [
      Number(transfer.logIndex),
      of.slice(2, 4),
    ]),
  );

// Guarantee: a nonce names the transfer of its own call, in either order of events, and never a neighbour's.
test.for([
  ["one call", [moved(1)], [used(0, "a1")], { 1: "a1" }],
  ["two calls", [moved(1), moved(3)], [used(0, "a1"), used(2, "a2")], { 1: "a1", 3: "a2" }],
  ["plain before", [moved(0), moved(2)], [used(1, "a1")], { 2: "a1" }],
  ["plain after", [moved(1), moved(2)], [used(0, "a1")], { 1: "a1" }],
  [
    "plain between",
    [moved(1), moved(2), moved(4)],
    [used(0, "a1"), used(3, "a2")],
    { 1: "a1", 4: "a2" },
  ],
  ["transfer first", [moved(0), moved(2)], [used(1, "a1"), used(3, "a2")], { 0: "a1", 2: "a2" }],
  ["uses first", [moved(2), moved(3)], [used(0, "a1"), used(1, "a2")], { 2: "a1", 3: "a2" }],
  ["a use without transfer", [], [used(0, "a1")], {}],
  ["another payer", [moved(1, OTHER)], [used(0, "a1")], {}],
  [
    "interleaved payers",
    [moved(2, OTHER), moved(3)],
    [used(0, "a1"), used(1, "a2", OTHER)],
    { 2: "a2", 3: "a1" },
  ],
  ["another token", [moved(1, PAYER, { address: US })], [used(0, "a1")], {}],
  ["another transaction", [moved(1, PAYER, { transactionHash: nonce("cc") })], [used(0, "a1")], {}],
  [
    "a fee transfer after",
    [moved(1), log(2, [TRANSFER, topic(PAYER), topic(OTHER)])],
    [used(0, "a1")],
    { 1: "a1" },
  ],
  ["logs out of order", [moved(3), moved(1)], [used(2, "a2"), used(0, "a1")], { 1: "a1", 3: "a2" }],
] as const)("%s", ([, transfers, uses, expected]) => {
  expect(pairs([...transfers], [...uses])).toEqual(expected);
});

const NATIVE = "eip155:1/slip44:60";

type Node = (call: RpcCall) => unknown;
const rpcOf = (node: Node): Rpc => ({
  read: async <T>(method: string, params: unknown[]) => node({ method, params }) as T,
  batch: async (calls) => calls.map(node),
  everywhere: async () => [],
});
const block = { number: 5n, hash: HASH, parent: nonce("99"), time: 1n };
const raw = { number: "0x5", hash: HASH, parentHash: nonce("99"), timestamp: "0x1" };
const refusal = new RpcRefusal(-32000, "unknown block", null);
const inbound = (node: Node, recipients: string[] = [US], contracts = new Set([TOKEN])) =>
  readInbound(
    { rpc: rpcOf(node), chain: "eip155:1", contracts, native: NATIVE, acceptsNative: false },
    block,
    recipients,
  );
const withLogs =
  (logs: Log[], header: unknown = raw): Node =>
  ({ method, params }) => {
    if (method !== "eth_getLogs") return header;
    const [{ topics }] = params as [{ topics: unknown[] }];
    return logs.filter((one) => one.topics[0] === topics[0]);
  };

// Guarantee: "no logs" counts only from a node that has the block, and logs count only from that very block.
test("a node that does not know the block is not believed", async () => {
  await expect(inbound(withLogs([], null))).rejects.toThrow(ChainUnavailable);
  await expect(inbound(withLogs([], refusal))).rejects.toThrow(ChainUnavailable);
  expect(await inbound(withLogs([]))).toEqual([]);
  const refused: Node = ({ method }) => (method === "eth_getLogs" ? refusal : raw);
  await expect(inbound(refused)).rejects.toThrow(ChainUnavailable);
  const elsewhere = moved(1, PAYER, { blockHash: nonce("dd") });
  await expect(inbound(withLogs([elsewhere]))).rejects.toThrow(ChainUnavailable);
});

// Guarantee: a filter without addresses or recipients would mean "everything" to a node, so it is never sent.
test("nothing to look for", async () => {
  const never: Node = () => {
    throw new Error("asked");
  };
  expect(await inbound(never, [])).toEqual([]);
  expect(await inbound(never, [US], new Set())).toEqual([]);
});

// Guarantee: what comes back is filtered again here: no other token, no other recipient, no transfer of nothing.
test("what a node adds is left out", async () => {
  const zero = moved(2, PAYER, { data: `0x${"0".repeat(64)}` });
  const strange = moved(3, PAYER, { address: OTHER });
  const found = await inbound(
    withLogs([moved(1), zero, strange, log(4, [TRANSFER, topic(PAYER), topic(OTHER)])]),
  );
  expect(found).toEqual([
    {
      asset: `eip155:1/erc20:${TOKEN}`,
      payer: PAYER,
      recipient: US,
      amount: 5n,
      txHash: nonce("bb"),
      logIndex: 1,
      authNonce: null,
      tag: null,
    },
  ]);
});

const coins = (node: Node, recipients: string[] = [US]) =>
  readInbound(
    {
      rpc: rpcOf(node),
      chain: "eip155:1",
      contracts: new Set([TOKEN]),
      native: NATIVE,
      acceptsNative: true,
    },
    block,
    recipients,
  );
const sent = (byte: string, change: object = {}) => ({
  hash: nonce(byte),
  from: PAYER,
  to: US,
  value: "0x7",
  input: nonce("aa"),
  nonce: "0x1",
  blockHash: HASH,
  ...change,
});
const withCoins =
  (transactions: unknown, receiptOf: (hash: string) => unknown): Node =>
  ({ method, params }) => {
    if (method === "eth_getLogs") return [];
    if (method === "eth_getBlockByHash") return { ...raw, transactions };
    return method === "eth_getTransactionReceipt" ? receiptOf(String(params[0])) : refusal;
  };
const mined = (hash: string) => receipt(hash.slice(2, 4));

// Guarantee: native coin counts when a whole transaction brought it to us and went through; only 32 bytes of data are a tag.
test("native coin in a block", async () => {
  const transactions = [
    sent("01"),
    sent("02", { input: "0x" }),
    sent("03", { input: `${nonce("aa")}00` }),
    sent("04", { to: OTHER }),
    sent("05", { to: null }),
    sent("06", { value: "0x0" }),
    sent("07"),
  ];
  const node = withCoins(transactions, (hash) =>
    hash === nonce("07") ? receipt("07", { status: "0x0" }) : mined(hash),
  );
  const found = await coins(node);
  expect(found.map(({ txHash, tag }) => [txHash, tag])).toEqual([
    [nonce("01"), nonce("aa")],
    [nonce("02"), null],
    [nonce("03"), null],
  ]);
  expect(found[0]).toMatchObject({
    asset: NATIVE,
    payer: PAYER,
    recipient: US,
    amount: 7n,
    logIndex: -1,
    authNonce: null,
  });
});

// Guarantee: a node that keeps the transactions or their receipts back is not taken to say that nothing came.
test("half a block is no block", async () => {
  await expect(coins(withCoins(undefined, mined))).rejects.toThrow(ChainUnavailable);
  await expect(coins(withCoins([nonce("01")], mined))).rejects.toThrow(ChainUnavailable);
  await expect(coins(withCoins([sent("01")], () => null))).rejects.toThrow(ChainUnavailable);
  const elsewhere = () => receipt("01", { blockHash: nonce("dd") });
  await expect(coins(withCoins([sent("01")], elsewhere))).rejects.toThrow(ChainUnavailable);
});

// Guarantee: a chain without finality tags is not final at all, rather than final at its head.
test("a head without tags", async () => {
  const first = { ...raw, number: "0x0", hash: nonce("01") };
  const head = await readHead(
    rpcOf(({ params }) => {
      if (params[0] === "latest") return raw;
      return params[0] === "earliest" ? first : refusal;
    }),
  );
  expect(head.safe).toBe(0n);
  expect(head.finalized).toMatchObject({ number: 0n, hash: nonce("01") });
  await expect(readHead(rpcOf(() => null))).rejects.toThrow(ChainUnavailable);
});

const receipt = (byte: string, change: object = {}) => ({
  transactionHash: nonce(byte),
  status: "0x1",
  blockNumber: "0x5",
  blockHash: HASH,
  gasUsed: "0x5208",
  effectiveGasPrice: "0x2",
  ...change,
});

// Guarantee: gas is what was really paid, with what rollups take for their data.
test("the cost of a transaction", async () => {
  const plain = await readReceipt(
    rpcOf(() => receipt("01")),
    nonce("01"),
  );
  expect(plain).toMatchObject({ gasCost: 42_000n, status: "success", blockNumber: 5n });
  const rollup = await readReceipt(
    rpcOf(() => receipt("01", { l1Fee: "0x64" })),
    nonce("01"),
  );
  expect(rollup?.gasCost).toBe(42_100n);
  const failed = await readReceipt(
    rpcOf(() => receipt("01", { status: "0x0" })),
    nonce("01"),
  );
  expect(failed?.status).toBe("reverted");
  expect(
    await readReceipt(
      rpcOf(() => null),
      nonce("01"),
    ),
  ).toBeNull();
});

// Guarantee: a node without the call for all receipts of a block is asked one by one, and nothing else counts.
test("receipts without eth_getBlockReceipts", async () => {
  const hashes = ["01", "02", "03", "04", "05"].map(nonce);
  const node: Node = ({ method, params }) => {
    if (method === "eth_getBlockReceipts") return refusal;
    const byte = String(params[0]).slice(2, 4);
    if (byte === "04") return null;
    return receipt(byte, byte === "05" ? { blockHash: nonce("ee") } : {});
  };
  const found = await readReceiptsIn(rpcOf(node), block, hashes);
  expect(found.map(({ hash }) => hash)).toEqual(["01", "02", "03"].map(nonce));
  await expect(
    readReceiptsIn(
      rpcOf(() => refusal),
      block,
      [nonce("01")],
    ),
  ).rejects.toThrow(ChainUnavailable);
});
