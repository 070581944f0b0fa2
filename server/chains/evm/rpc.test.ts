import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, expect, test } from "vitest";
import { ChainUnavailable } from "#server/ports/chain.ts";
import { createRpc, RpcRefusal } from "./rpc.ts";

type Call = { id: number; method: string; params: unknown[] };
/** What a pretended node answers: a JSON-RPC member, an HTTP status with a body, or a broken connection. */
type Answer = { result: unknown } | { error: object } | { status: number; body: string } | "broken";

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A node on chain 7 that tells how often each method was asked; `single` makes it refuse batches. */
async function node(
  answer: (call: Call) => Answer,
  options: { single?: boolean; chain?: string } = {},
): Promise<{ url: string; asked: string[]; bodies: number }> {
  const seen = { url: "", asked: [] as string[], bodies: 0 };
  const server = createServer(async (request, response) => {
    if (request.headers.authorization !== undefined) seen.asked.push(request.headers.authorization);
    let text = "";
    for await (const chunk of request) text += chunk;
    seen.bodies++;
    const body = JSON.parse(text);
    const send = (value: unknown) =>
      response.setHeader("content-type", "application/json").end(JSON.stringify(value));
    const reply = (call: Call): object | null => {
      seen.asked.push(call.method);
      const said =
        call.method === "eth_chainId" ? { result: options.chain ?? "0x7" } : answer(call);
      if (said === "broken") {
        response.destroy();
        return null;
      }
      if ("status" in said) {
        response.writeHead(said.status).end(said.body);
        return null;
      }
      return { jsonrpc: "2.0", id: call.id, ...said };
    };
    if (!Array.isArray(body)) {
      const said = reply(body);
      if (said !== null) send(said);
      return;
    }
    if (options.single) return send({ jsonrpc: "2.0", id: null, error: { code: -32600 } });
    const all = body.map(reply);
    // Nodes may answer in any order.
    if (all.every((said) => said !== null)) send(all.toReversed());
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  seen.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return seen;
}

const good = () => node(({ method }) => ({ result: `good ${method}` }));

// Guarantee: one node that is down, overloaded or talks nonsense costs nothing but time.
test.for([
  ["breaks the connection", "broken"],
  ["answers 503", { status: 503, body: "busy" }],
  ["answers 429", { status: 429, body: "slow down" }],
  ["answers a page", { status: 200, body: "<html>" }],
  ["answers neither result nor error", { status: 200, body: "{}" }],
  ["is over its limit", { error: { code: -32005, message: "limit exceeded" } }],
  ["is behind", { error: { code: -32000, message: "header not found" } }],
  ["does not know the method", { error: { code: -32601, message: "method not found" } }],
] as const)("a read goes on where a node %s", async ([, answer]) => {
  const bad = await node(() => answer as Answer);
  const other = await good();
  const rpc = createRpc([bad.url, other.url], 7);
  expect(await rpc.read("eth_blockNumber", [])).toBe("good eth_blockNumber");
  const alone = createRpc([bad.url], 7);
  await expect(alone.read("eth_blockNumber", [])).rejects.toThrow(ChainUnavailable);
});

// Guarantee: a node that failed is not asked first again for a while.
test("a failed node is asked last", async () => {
  const bad = await node(() => "broken");
  const other = await good();
  const rpc = createRpc([bad.url, other.url], 7);
  for (let round = 0; round < 5; round++) await rpc.read("eth_blockNumber", []);
  expect(bad.asked.filter((method) => method === "eth_blockNumber")).toHaveLength(1);
});

// Guarantee: a contract's verdict is no outage: it is not asked for elsewhere, and its data arrives wherever the node put it.
test.for([
  [{ code: 3, message: "execution reverted", data: "0xdeadbeef" }, "0xdeadbeef"],
  [{ code: -32015, message: "VM execution error.", data: "Reverted 0xdeadbeef" }, "0xdeadbeef"],
  [{ code: -32000, message: "reverted", data: { data: "0xdeadbeef" } }, "0xdeadbeef"],
  [{ code: -32000, message: "execution reverted" }, null],
] as const)("a revert %#", async ([error, data]) => {
  const first = await node(() => ({ error }));
  const second = await good();
  const rpc = createRpc([first.url, second.url], 7);
  const failure = await rpc.read("eth_call", []).catch((thrown: unknown) => thrown);
  expect(failure).toBeInstanceOf(RpcRefusal);
  expect(failure).toMatchObject({ data, executed: true });
  expect(second.bodies).toBe(0);
});

// Guarantee: several reads are one request, answers find their calls, and one refused call does not take the others along.
test("a batch", async () => {
  const one = await node(({ params }) =>
    params[0] === 1 ? { error: { code: 3, message: "reverted" } } : { result: params[0] },
  );
  const calls = [0, 1, 2].map((value) => ({ method: "x", params: [value] }));
  const answers = await createRpc([one.url], 7).batch(calls);
  expect(answers[0]).toBe(0);
  expect(answers[1]).toBeInstanceOf(RpcRefusal);
  expect(answers[2]).toBe(2);
  expect(one.bodies).toBe(2);
  const single = await node(({ params }) => ({ result: params[0] }), { single: true });
  expect(await createRpc([single.url], 7).batch(calls)).toEqual([0, 1, 2]);
  const many = Array.from({ length: 45 }, (_, value) => ({ method: "x", params: [value] }));
  const other = await node(({ params }) => ({ result: params[0] }));
  expect(await createRpc([other.url], 7).batch(many)).toEqual(many.map(({ params }) => params[0]));
  expect(await createRpc([other.url], 7).batch([])).toEqual([]);
});

// Guarantee: a node is asked for its chain once, before anything else, and another chain's answers are never used.
test("the chain id", async () => {
  const one = await good();
  const rpc = createRpc([one.url], 7);
  await Promise.all([rpc.read("a", []), rpc.read("b", []), rpc.batch([])]);
  expect(one.asked[0]).toBe("eth_chainId");
  expect(one.asked.filter((method) => method === "eth_chainId")).toHaveLength(1);
  const wrong = await node(() => ({ result: "wrong" }), { chain: "0x1" });
  const both = createRpc([wrong.url, one.url], 7);
  expect(await both.read("a", [])).toBe("good a");
  expect(wrong.asked).toEqual(["eth_chainId"]);
});

// Guarantee: a send goes to every node exactly once, whatever happens to it.
test("sends are never repeated", async () => {
  const [broken, fine] = [await node(() => "broken"), await good()];
  const rpc = createRpc([broken.url, fine.url], 7);
  const answers = await rpc.everywhere("eth_sendRawTransaction", ["0x01"]);
  expect(answers.map(({ status }) => status)).toEqual(["rejected", "fulfilled"]);
  for (const { asked } of [broken, fine])
    expect(asked.filter((method) => method === "eth_sendRawTransaction")).toHaveLength(1);
});

// Guarantee: a password in a node's URL works, and no message ever shows it.
test("credentials in the URL", async () => {
  const one = await good();
  const withPassword = one.url.replace("://", "://anna:p%40ss@");
  expect(await createRpc([withPassword], 7).read("a", [])).toBe("good a");
  expect(one.asked[0]).toBe(`Basic ${Buffer.from("anna:p@ss").toString("base64")}`);
  const gone = createRpc(["http://anna:p%40ss@127.0.0.1:9/key"], 7);
  const failure = await gone.read("a", []).catch((thrown: unknown) => thrown);
  expect(failure).toBeInstanceOf(ChainUnavailable);
  const { message, cause } = failure as Error;
  expect(`${message} ${cause instanceof Error ? cause.stack : ""}`).not.toMatch(/ss@|key/);
});
