import { ChainUnavailable } from "#server/ports/chain.ts";
import type { NodeAnswer } from "#server/ports/faucet.ts";

const TIMEOUT_MS = 10_000;

/** One JSON-RPC call to one node, with its own answer; for nodes of a sandbox, which are asked as they are. */
export async function callNode(
  url: string,
  method: string,
  params: unknown[],
): Promise<NodeAnswer> {
  try {
    const response = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const { result, error } = (await response.json()) as {
      result?: unknown;
      error?: { code: number; message: string; data?: unknown };
    };
    return error === undefined ? { result: result ?? null } : { error };
  } catch (error) {
    throw new ChainUnavailable("the node does not answer", { cause: error });
  }
}

/** The result of a call that must not fail. */
export async function resultOf(url: string, method: string, params: unknown[]): Promise<unknown> {
  const answer = await callNode(url, method, params);
  if ("error" in answer) throw new Error(`${method}: ${answer.error.message}`);
  return answer.result;
}
