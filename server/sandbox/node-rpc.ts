import { type Hex, http } from "viem";

/** Longest wait for one answer of a local node, which stands still while its machine is busy. */
const ANSWER_WITHIN_MS = 60_000;

/** viem's way to a local node. Nothing is asked twice: what is sent twice is refused the second time. */
export const nodeTransport = (url: string) =>
  http(url, { timeout: ANSWER_WITHIN_MS, retryCount: 0 });

/** One call to a local node of any chain family, by its JSON-RPC name. */
export async function rpc<T = unknown>(
  url: string,
  method: string,
  params: unknown[] = [],
): Promise<T> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ jsonrpc: "2.0", id: 1, method, params }),
    signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
  });
  const body = (await response.json()) as {
    result?: T;
    error?: { message: string; data?: unknown };
  };
  if (body.error !== undefined) {
    const { message, data } = body.error;
    throw new Error(`${method}: ${message}${typeof data === "string" ? ` (${data})` : ""}`);
  }
  return body.result as T;
}

/** What a local node says of a mined transaction. */
export type Mined = { status: Hex; contractAddress: Hex | null; logs: { data: Hex }[] };

/** Longest wait for a transaction of our own on a chain that makes a block every second. */
const MINED_WITHIN_MS = 60_000;
const LOOK_EVERY_MS = 50;

/** Waits until a local EVM chain has mined a transaction; fails with the head and the transaction if it does not. */
export async function minedOn(url: string, hash: Hex): Promise<Mined> {
  const end = Date.now() + MINED_WITHIN_MS;
  for (;;) {
    const receipt = await rpc<Mined | null>(url, "eth_getTransactionReceipt", [hash]);
    if (receipt !== null) return receipt;
    if (Date.now() > end) {
      const [head, sent] = await Promise.all([
        rpc(url, "eth_blockNumber"),
        rpc(url, "eth_getTransactionByHash", [hash]),
      ]);
      throw new Error(`${hash} is not mined at block ${head}: ${JSON.stringify(sent)}`);
    }
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS));
  }
}
