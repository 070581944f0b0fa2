import type { Hex } from "viem";
import { ChainUnavailable } from "#server/ports/chain.ts";
import { saysExecuted } from "./node-phrases.ts";

/** An answer of a node that is an error. `executed`: a call ran and failed, so every other node would say the same. */
export class RpcRefusal extends Error {
  readonly rpcCode: number;
  /** Revert data of a call; null where there is none. */
  readonly data: Hex | null;
  readonly executed: boolean;
  constructor(code: number, message: string, data: Hex | null) {
    super(message);
    this.rpcCode = code;
    this.data = data;
    this.executed = code === REVERTED || data !== null || saysExecuted(message);
  }
}

export type RpcCall = { method: string; params: unknown[] };

/**
 * A chain's JSON-RPC over one or more nodes. Reads try the next node when one does not answer; sends never repeat.
 * A node is used only after it told that it is on this chain, and is asked again every hour.
 */
export type Rpc = {
  /** One read; throws `RpcRefusal` when a call ran and failed, `ChainUnavailable` when no node gives an answer. */
  read<T>(method: string, params: unknown[]): Promise<T>;
  /** Several reads of one node in one round trip; each is a value or its refusal. */
  batch(calls: RpcCall[]): Promise<(unknown | RpcRefusal)[]>;
  /** The same call to every node, each answer or failure by itself. */
  everywhere<T>(method: string, params: unknown[]): Promise<PromiseSettledResult<T>[]>;
};

/** JSON-RPC code that geth and most others give to a reverted call. */
const REVERTED = 3;
/** Codes with which nodes and providers say "limit exceeded" (EIP-1474 and providers' documentation): another node may answer. */
const BUSY = new Set([429, -32005, -32016, -32029]);
const TIMEOUT_MS = 4_000;
/** A node that failed is asked last for this long. */
const AVOID_MS = 10_000;
const CHAIN_CHECK_EVERY_MS = 3_600_000;
/** Most calls in one body; providers refuse long ones. */
const BATCH_MAX = 20;

/** A node that answers, but not this. */
class NodeRefused extends Error {}

type Reply = {
  id?: number;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
};
/** Where a node is; a name and password in its URL become a header, since requests refuse such URLs and print them. */
type Target = { url: string; headers: Record<string, string> };
type Node = Target & { failedAt: number; checkedAt: number; check: Promise<void> | null };

/** Revert data hides in different places, by node. */
function revertData(data: unknown): Hex | null {
  if (typeof data === "string") {
    const found = /^(?:Reverted )?(0x[0-9a-fA-F]*)$/.exec(data)?.[1];
    return found === undefined || found === "0x" ? null : (found as Hex);
  }
  if (typeof data === "object" && data !== null && "data" in data) return revertData(data.data);
  return null;
}

function targetOf(text: string): Target {
  const url = new URL(text);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (url.username !== "" || url.password !== "") {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
    url.username = "";
    url.password = "";
  }
  return { url: url.href, headers };
}

async function post({ url, headers }: Target, body: unknown): Promise<unknown> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers,
      body: JSON.stringify(body),
      redirect: "error",
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status >= 500 || response.status === 429)
      throw new ChainUnavailable(`a node answered ${response.status}`);
    return await response.json();
  } catch (error) {
    if (error instanceof ChainUnavailable) throw error;
    throw new ChainUnavailable("a node did not answer", { cause: error });
  }
}

/** A reply's value, or the refusal it is; a reply that is neither is no answer at all. */
function readReply(reply: Reply | undefined): unknown | RpcRefusal {
  if (typeof reply !== "object" || reply === null)
    throw new ChainUnavailable("a node answered no JSON-RPC");
  if (reply.error != null) {
    const { code, message, data } = reply.error;
    if (BUSY.has(code)) throw new ChainUnavailable(`a node is busy: ${message}`);
    return new RpcRefusal(code, String(message), revertData(data));
  }
  if (!("result" in reply)) throw new ChainUnavailable("a node answered without a result");
  return reply.result;
}

async function ask(target: Target, { method, params }: RpcCall): Promise<unknown | RpcRefusal> {
  return readReply((await post(target, { jsonrpc: "2.0", id: 1, method, params })) as Reply);
}

async function askMany(target: Target, calls: RpcCall[]): Promise<(unknown | RpcRefusal)[]> {
  const body = calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  const replies = await post(target, body);
  // A node that does not take batches answers one error for all.
  if (!Array.isArray(replies)) return Promise.all(calls.map((call) => ask(target, call)));
  return calls.map((_, id) => readReply((replies as Reply[]).find((reply) => reply?.id === id)));
}

async function confirmChain(node: Node, chainId: bigint): Promise<void> {
  const answer = await ask(node, { method: "eth_chainId", params: [] });
  if (typeof answer !== "string" || !/^0x[0-9a-f]+$/i.test(answer))
    throw new ChainUnavailable("a node does not tell its chain");
  if (BigInt(answer) !== chainId)
    throw new ChainUnavailable(`a node is on chain ${BigInt(answer)}, not ${chainId}`);
  node.checkedAt = performance.now();
}

/** Resolves when the node is known to be on the chain; callers meanwhile share one question. */
async function onChain(node: Node, chainId: bigint): Promise<void> {
  if (performance.now() - node.checkedAt < CHAIN_CHECK_EVERY_MS) return;
  node.check ??= confirmChain(node, chainId).finally(() => {
    node.check = null;
  });
  await node.check;
}

/** Nodes in the order they are asked: those that failed a moment ago come last. */
function inOrder(nodes: Node[]): Node[] {
  const since = performance.now() - AVOID_MS;
  return nodes.toSorted(
    (a, b) => (a.failedAt > since ? a.failedAt : 0) - (b.failedAt > since ? b.failedAt : 0),
  );
}

/** Creates the client of one chain; nothing is asked before the first call. */
export function createRpc(urls: string[], chainId: number | bigint): Rpc {
  const wanted = BigInt(chainId);
  const nodes = urls.map(
    (url): Node => ({
      ...targetOf(url),
      failedAt: Number.NEGATIVE_INFINITY,
      checkedAt: Number.NEGATIVE_INFINITY,
      check: null,
    }),
  );
  const failover = async <T>(work: (node: Target) => Promise<T>): Promise<T> => {
    let last: unknown = new ChainUnavailable("no node is configured");
    for (const node of inOrder(nodes)) {
      try {
        await onChain(node, wanted);
        return await work(node);
      } catch (error) {
        if (error instanceof NodeRefused) {
          last = new ChainUnavailable(error.message);
          continue;
        }
        if (!(error instanceof ChainUnavailable)) throw error;
        node.failedAt = performance.now();
        last = error;
      }
    }
    throw last;
  };
  return {
    read: <T>(method: string, params: unknown[]) =>
      failover(async (node) => {
        const answer = await ask(node, { method, params });
        if (!(answer instanceof RpcRefusal)) return answer as T;
        if (answer.executed) throw answer;
        throw new NodeRefused(`a node refused ${method}: ${answer.message}`);
      }),
    batch: (calls) =>
      failover(async (node) => {
        const parts: RpcCall[][] = [];
        for (let at = 0; at < calls.length; at += BATCH_MAX)
          parts.push(calls.slice(at, at + BATCH_MAX));
        return (await Promise.all(parts.map((part) => askMany(node, part)))).flat();
      }),
    everywhere: <T>(method: string, params: unknown[]) =>
      Promise.allSettled(
        nodes.map(async (node) => {
          await onChain(node, wanted);
          const answer = await ask(node, { method, params });
          if (answer instanceof RpcRefusal) throw answer;
          return answer as T;
        }),
      ),
  };
}
