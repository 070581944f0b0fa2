import type { Hex } from "viem";
import { ChainUnavailable } from "#server/ports/chain.ts";

/** An answer of a node that is an error: the node is there and refuses. `data` is the revert data of a call. */
export class RpcRefusal extends Error {
  readonly rpcCode: number;
  readonly data: Hex | null;
  constructor(code: number, message: string, data: Hex | null) {
    super(message);
    this.rpcCode = code;
    this.data = data;
  }
}

type Reply = {
  id: number;
  result?: unknown;
  error?: { code: number; message: string; data?: unknown };
};
export type RpcCall = { method: string; params: unknown[] };

/** A chain's JSON-RPC over one or more nodes. Reads try the next node when one does not answer; sends never repeat. */
export type Rpc = {
  /** One read; throws `RpcRefusal` when the node refuses, `ChainUnavailable` when none answers. */
  read<T>(method: string, params: unknown[]): Promise<T>;
  /** Several reads in one round trip; each is a value or its refusal. */
  batch(calls: RpcCall[]): Promise<(unknown | RpcRefusal)[]>;
  /** The same call to every node, each answer or failure by itself. */
  everywhere<T>(method: string, params: unknown[]): Promise<PromiseSettledResult<T>[]>;
};

const TIMEOUT_MS = 5_000;

/** Revert data hides in different places, by node. */
function revertData(data: unknown): Hex | null {
  if (typeof data === "string") return data.startsWith("0x") ? (data as Hex) : null;
  if (typeof data === "object" && data !== null && "data" in data) return revertData(data.data);
  return null;
}

function refusal(error: NonNullable<Reply["error"]>): RpcRefusal {
  return new RpcRefusal(error.code, error.message, revertData(error.data));
}

async function post(url: string, body: unknown): Promise<unknown> {
  let response: Response;
  try {
    response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(body),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    if (response.status >= 500 || response.status === 429)
      throw new ChainUnavailable(`node answered ${response.status}`);
    return await response.json();
  } catch (error) {
    if (error instanceof ChainUnavailable) throw error;
    throw new ChainUnavailable("node did not answer", { cause: error });
  }
}

/** Creates the client; it keeps no state and repeats no send. */
export function createRpc(urls: string[]): Rpc {
  const failover = async <T>(work: (url: string) => Promise<T>): Promise<T> => {
    let last: unknown = new ChainUnavailable("no node is configured");
    for (const url of urls) {
      try {
        return await work(url);
      } catch (error) {
        if (!(error instanceof ChainUnavailable)) throw error;
        last = error;
      }
    }
    throw last;
  };
  const one = async <T>(url: string, method: string, params: unknown[]): Promise<T> => {
    const reply = (await post(url, { jsonrpc: "2.0", id: 1, method, params })) as Reply;
    if (reply.error !== undefined) throw refusal(reply.error);
    return reply.result as T;
  };
  return {
    read: (method, params) => failover((url) => one(url, method, params)),
    batch: (calls) =>
      failover(async (url) => {
        if (calls.length === 0) return [];
        const body = calls.map(({ method, params }, id) => ({
          jsonrpc: "2.0",
          id,
          method,
          params,
        }));
        const replies = (await post(url, body)) as Reply[];
        if (!Array.isArray(replies)) throw new ChainUnavailable("node does not answer batches");
        return calls.map((_, id) => {
          const reply = replies.find((candidate) => candidate.id === id);
          if (reply === undefined) throw new ChainUnavailable("node left a call unanswered");
          return reply.error === undefined ? reply.result : refusal(reply.error);
        });
      }),
    everywhere: (method, params) =>
      Promise.allSettled(urls.map((url) => one<never>(url, method, params))),
  };
}
