import { ChainUnavailable } from "#server/ports/chain.ts";

/** An answer of a node that is an error. */
export class RpcRefusal extends Error {
  readonly rpcCode: number;
  readonly data: unknown;
  constructor(code: number, message: string, data: unknown) {
    super(message);
    this.rpcCode = code;
    this.data = data;
  }
}

export type RpcCall = { method: string; params: unknown[] };

/** A cluster's JSON-RPC over one or more nodes, each used only after it told that it is on this cluster. */
export type Rpc = {
  /** One read, of the next node when one fails or refuses; throws `ChainUnavailable` when none answers. */
  read<T>(method: string, params: unknown[]): Promise<T>;
  /** Several reads of one node. */
  batch(calls: RpcCall[]): Promise<unknown[]>;
  /** The same call to every node, each answer or failure by itself. */
  everywhere<T>(method: string, params: unknown[]): Promise<PromiseSettledResult<T>[]>;
  /** Runs `work` with one node at a time; every one must answer, or it throws `ChainUnavailable`. */
  everyNode<T>(work: (ask: Ask) => Promise<T>): Promise<T[]>;
};

export type Ask = <T>(method: string, params: unknown[]) => Promise<T>;

const TIMEOUT_MS = 4_000;
const AVOID_MS = 10_000;
const CHECK_EVERY_MS = 3_600_000;
const BATCH_MAX = 20;

type Reply = {
  id?: number;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
};
type Node = {
  url: string;
  headers: Record<string, string>;
  failedAt: number;
  checkedAt: number;
};

/** Where a node is; a name and password in its URL become a header, since requests refuse such URLs and print them. */
function nodeAt(text: string): Node {
  const url = new URL(text);
  const headers: Record<string, string> = { "content-type": "application/json" };
  if (url.username !== "" || url.password !== "") {
    const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`;
    headers.authorization = `Basic ${Buffer.from(pair).toString("base64")}`;
    url.username = "";
    url.password = "";
  }
  const never = Number.NEGATIVE_INFINITY;
  return { url: url.href, headers, failedAt: never, checkedAt: never };
}

async function post({ url, headers }: Node, body: unknown): Promise<unknown> {
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

function readReply(reply: Reply | undefined): unknown {
  if (typeof reply !== "object" || reply === null)
    throw new ChainUnavailable("a node answered no JSON-RPC");
  if (reply.error != null) {
    const { code, message, data } = reply.error;
    throw new RpcRefusal(code, String(message), data);
  }
  if (!("result" in reply)) throw new ChainUnavailable("a node answered without a result");
  return reply.result;
}

const ask = async (node: Node, { method, params }: RpcCall): Promise<unknown> =>
  readReply((await post(node, { jsonrpc: "2.0", id: 1, method, params })) as Reply);

async function askMany(node: Node, calls: RpcCall[]): Promise<unknown[]> {
  const body = calls.map(({ method, params }, id) => ({ jsonrpc: "2.0", id, method, params }));
  const replies = await post(node, body);
  if (!Array.isArray(replies)) return Promise.all(calls.map((call) => ask(node, call)));
  return calls.map((_, id) => readReply((replies as Reply[]).find((reply) => reply?.id === id)));
}

/** Creates the client of one cluster; `genesis` is the beginning of its genesis hash. Nothing is asked before the first call. */
export function createRpc(urls: string[], genesis: string): Rpc {
  const nodes = urls.map(nodeAt);
  const onCluster = async (node: Node) => {
    if (performance.now() - node.checkedAt < CHECK_EVERY_MS) return;
    const hash = await ask(node, { method: "getGenesisHash", params: [] });
    if (typeof hash !== "string" || !hash.startsWith(genesis))
      throw new ChainUnavailable(`a node is on cluster ${String(hash)}, not ${genesis}`);
    node.checkedAt = performance.now();
  };
  const failover = async <T>(work: (node: Node) => Promise<T>): Promise<T> => {
    const since = performance.now() - AVOID_MS;
    const last = (node: Node) => (node.failedAt > since ? node.failedAt : 0);
    let reason: unknown = new ChainUnavailable("no node is configured");
    for (const node of nodes.toSorted((a, b) => last(a) - last(b))) {
      try {
        await onCluster(node);
        return await work(node);
      } catch (error) {
        if (error instanceof RpcRefusal)
          reason = new ChainUnavailable(`a node refused: ${error.message}`, { cause: error });
        else if (error instanceof ChainUnavailable) {
          node.failedAt = performance.now();
          reason = error;
        } else throw error;
      }
    }
    throw reason;
  };
  const one = async (node: Node, call: RpcCall) => {
    await onCluster(node);
    return ask(node, call);
  };
  return {
    read: <T>(method: string, params: unknown[]) =>
      failover(async (node) => (await ask(node, { method, params })) as T),
    batch: (calls) =>
      failover(async (node) => {
        const parts: RpcCall[][] = [];
        for (let at = 0; at < calls.length; at += BATCH_MAX)
          parts.push(calls.slice(at, at + BATCH_MAX));
        return (await Promise.all(parts.map((part) => askMany(node, part)))).flat();
      }),
    everywhere: <T>(method: string, params: unknown[]) =>
      Promise.allSettled(nodes.map(async (node) => (await one(node, { method, params })) as T)),
    everyNode: (work) =>
      Promise.all(
        nodes.map((node) =>
          work(async <T>(method: string, params: unknown[]) => {
            try {
              return (await one(node, { method, params })) as T;
            } catch (error) {
              if (!(error instanceof RpcRefusal)) throw error;
              throw new ChainUnavailable(`a node refused: ${error.message}`, { cause: error });
            }
          }),
        ),
      ),
  };
}
