import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Call = { id: unknown; method: string; params: unknown[] };

/** What becomes of one call: no answer at all, its answer lost on the way back, another answer, or other parameters. */
export type Treatment =
  | { kind: "no_answer" }
  | { kind: "lose_answer" }
  | { kind: "refuse"; code: number; message: string }
  | { kind: "answer"; result: unknown }
  | { kind: "change"; params?: unknown[]; result?: (result: unknown) => unknown };

/** Looks at every call; undefined lets it pass as it is. */
export type Fault = (call: { method: string; params: unknown[] }) => Treatment | undefined;

/** A JSON-RPC server in front of a node, which misbehaves as it is told. */
export type RpcProxy = {
  url: string;
  /** Sets what goes wrong from now on; null: nothing. */
  fail(fault: Fault | null): void;
  /** How many calls the present fault has touched. */
  hits(): number;
  /** How many calls there were in all. */
  calls(): number;
  stop(): Promise<void>;
};

/** The connection to the caller breaks. */
class Broken extends Error {}

async function forward(url: string, body: unknown): Promise<Record<string, unknown>> {
  const response = await fetch(url, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify(body),
    signal: AbortSignal.timeout(20_000),
  });
  return (await response.json()) as Record<string, unknown>;
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return JSON.parse(Buffer.concat(chunks).toString("utf8"));
}

async function treat(url: string, call: Call, treatment: Treatment | undefined): Promise<unknown> {
  const head = { jsonrpc: "2.0", id: call.id };
  if (treatment?.kind === "no_answer") throw new Broken();
  if (treatment?.kind === "refuse")
    return { ...head, error: { code: treatment.code, message: treatment.message } };
  if (treatment?.kind === "answer") return { ...head, result: treatment.result };
  const changed = treatment?.kind === "change" ? treatment : undefined;
  const answer = await forward(url, { ...call, params: changed?.params ?? call.params });
  if (treatment?.kind === "lose_answer") throw new Broken();
  return changed?.result !== undefined && "result" in answer
    ? { ...answer, result: changed.result(answer.result) }
    : answer;
}

/** Starts a proxy before the node at `url`, on a port of its own. */
export async function startRpcProxy(url: string): Promise<RpcProxy> {
  let fault: Fault | null = null;
  let hits = 0;
  let calls = 0;
  const one = (call: Call) => {
    calls += 1;
    const treatment = fault?.(call);
    if (treatment !== undefined) hits += 1;
    return treat(url, call, treatment);
  };
  const answer = async (request: IncomingMessage, response: ServerResponse) => {
    try {
      const body = (await readBody(request)) as Call | Call[];
      const result = Array.isArray(body) ? await Promise.all(body.map(one)) : await one(body);
      response.setHeader("content-type", "application/json").end(JSON.stringify(result));
    } catch {
      // Lost on purpose, or the node is gone: the caller sees a broken connection either way.
      request.socket.destroy();
    }
  };
  const server = createServer((request, response) => void answer(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    fail(next) {
      fault = next;
      hits = 0;
    },
    hits: () => hits,
    calls: () => calls,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

const only =
  (methods: readonly string[], treatment: Treatment): Fault =>
  ({ method }) =>
    methods.includes(method) ? treatment : undefined;

/** The node is gone. */
export const down: Fault = () => ({ kind: "no_answer" });

/** These calls reach the node and their answers are lost. */
export const loseAnswers = (...methods: string[]): Fault => only(methods, { kind: "lose_answer" });

/** The node refuses these calls with its own words. */
export const refuse =
  (message: string, code = -32000) =>
  (...methods: string[]): Fault =>
    only(methods, { kind: "refuse", code, message });

/** The node knows no receipts. */
export const noReceipts: Fault = only(["eth_getTransactionReceipt", "eth_getBlockReceipts"], {
  kind: "answer",
  result: null,
});

/** The node knows its blocks and says that they hold no log. */
export const noLogs: Fault = only(["eth_getLogs"], { kind: "answer", result: [] });

const TAGS: Record<string, bigint> = { latest: 0n, pending: 0n, safe: 1n, finalized: 2n };
const hex = (value: bigint) => `0x${(value < 0n ? 0n : value).toString(16)}`;

/** No later block than `at`. */
const upTo =
  (at: bigint) =>
  (result: unknown): unknown => {
    const { number, blockNumber } = (result ?? {}) as { number?: string; blockNumber?: string };
    const height = number ?? blockNumber;
    return height !== undefined && BigInt(height) > at ? null : result;
  };

/** Blocks by hash, and logs, come from a node that fell behind at block `at` and knows of no error for what it does not have. */
export const withoutLogsAfter =
  (at: bigint): Fault =>
  ({ method }) => {
    if (method === "eth_getBlockByHash") return { kind: "change", result: upTo(at) };
    if (method === "eth_getLogs")
      return {
        kind: "change",
        result: (logs) => (logs as unknown[]).filter((log) => upTo(at)(log) !== null),
      };
    return undefined;
  };

/** A node that fell behind: everything it says is true as of block `at`, and it knows no later block, log or receipt. */
export function lagging(at: bigint): Fault {
  const rewind = (param: unknown) =>
    typeof param === "string" && TAGS[param] !== undefined ? hex(at - TAGS[param]) : param;
  const known = upTo(at);
  return ({ method, params }) => {
    if (method === "eth_blockNumber") return { kind: "answer", result: hex(at) };
    if (/^eth_(call|estimateGas|getBalance|getTransactionCount|getBlockByNumber)$/.test(method))
      return { kind: "change", params: params.map(rewind), result: known };
    if (/^eth_(getBlockByHash|getTransactionReceipt)$/.test(method))
      return { kind: "change", result: known };
    if (method === "eth_getBlockReceipts") return { kind: "answer", result: null };
    return undefined;
  };
}
