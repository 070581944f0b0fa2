import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type LookupFunction } from "node:net";
import { expect, onTestFinished, test } from "vitest";
import { createWebhookSender, type WebhookSenderOptions } from "./webhook-sender.ts";

const never = new AbortController().signal;

const post = (url: string, options: Partial<WebhookSenderOptions> = {}) =>
  createWebhookSender({ loopback: true, ...options }).send(
    { url, headers: { "x-test": "1" }, body: "{}" },
    never,
  );

/** A server on this machine, its port, and how often somebody connected. */
async function listen(answer: RequestListener) {
  let connections = 0;
  const server = createServer(answer);
  server.on("connection", () => connections++);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return { port, connections: () => connections };
}

const resolvesTo =
  (...addresses: string[]): LookupFunction =>
  (_, options, done) => {
    const address = addresses.length > 1 ? (addresses.shift() ?? "") : (addresses[0] ?? "");
    const family = address.includes(":") ? 6 : 4;
    if (options.all) done(null, [{ address, family }]);
    else done(null, address, family);
  };

// Guarantee: no spelling of an address inside the network is connected to.
test.for([
  "https://127.0.0.1",
  "https://2130706433",
  "https://0x7f.1",
  "https://0177.0.0.1",
  "https://[::1]",
  "https://[::ffff:127.0.0.1]",
  "https://0.0.0.0",
  "https://[::]",
  "https://localhost",
  "https://10.0.0.1",
  "https://172.16.0.1",
  "https://192.168.1.1",
  "https://100.64.0.1",
  "https://169.254.169.254",
  "https://[fe80::1]",
  "https://[fd00::1]",
  "https://[64:ff9b::7f00:1]",
])("%s is refused", async (origin) => {
  const { port, connections } = await listen((_, response) => response.end());
  const answer = await post(`${origin}:${port}/`, { loopback: false });
  expect(answer).toMatchObject({ status: null, error: expect.stringContaining("not allowed") });
  expect(connections()).toBe(0);
});

// Guarantee: a name that was public when it was registered and points inside now is refused at that attempt.
test("a name that is bound to another address between two attempts", async () => {
  const { port, connections } = await listen((_, response) => response.end());
  const sender = createWebhookSender({
    loopback: false,
    connectMs: 150,
    lookup: resolvesTo("192.0.1.1", "127.0.0.1", "169.254.169.254", "::1"),
  });
  const send = () =>
    sender.send({ url: `https://shop.example:${port}/`, headers: {}, body: "{}" }, never);
  expect((await send()).error).not.toContain("not allowed");
  for (let n = 0; n < 3; n++) expect((await send()).error).toContain("not allowed");
  expect(connections()).toBe(0);
});

// Guarantee: one private address among several is enough to refuse a name.
test("a name with a public and a private address", async () => {
  const lookup: LookupFunction = (_, options, done) =>
    options.all
      ? done(null, [
          { address: "192.0.1.1", family: 4 },
          { address: "127.0.0.1", family: 4 },
        ])
      : done(null, "127.0.0.1", 4);
  const answer = await post("https://shop.example/", { loopback: false, lookup });
  expect(answer.error).toContain("not allowed");
});

// Guarantee: the local world reaches this machine, and nothing else that is private.
test("loopback is open, other private addresses are not", async () => {
  const { port } = await listen((_, response) => response.writeHead(201).end("thanks"));
  expect(await post(`http://localhost:${port}/`)).toMatchObject({ status: 201, body: "thanks" });
  expect((await post("http://10.0.0.1:81/")).error).toContain("not allowed");
  expect((await post("http://169.254.169.254/")).error).toContain("not allowed");
});

// Guarantee: where only HTTPS is allowed plain HTTP is not spoken, whatever is stored.
test("plain HTTP needs the local world", async () => {
  const answer = await post("http://shop.example/", { loopback: false });
  expect(answer).toMatchObject({ status: null, error: "receivers must be reached by https" });
});

// Guarantee: a redirect is an answer like any other; nobody is sent elsewhere with our signature.
test("redirects are not followed", async () => {
  const other = await listen((_, response) => response.end());
  const { port } = await listen((_, response) =>
    response.writeHead(307, { location: `http://127.0.0.1:${other.port}/` }).end(),
  );
  expect(await post(`http://127.0.0.1:${port}/`)).toMatchObject({ status: 307, error: null });
  expect(other.connections()).toBe(0);
});

// Guarantee: no receiver keeps us longer than the limits, however little it sends.
test.for([
  ["says nothing", () => undefined],
  ["sends a byte now and then", drip],
] as const)("a receiver that %s", async ([, answer]) => {
  const { port } = await listen((_, response) => answer(response));
  const sent = await post(`http://127.0.0.1:${port}/`, { totalMs: 300 });
  expect(sent.error).toBe("no complete answer within 0.3 s");
  expect(sent.durationMs).toBeLessThan(2_000);
});

function drip(response: Parameters<RequestListener>[1]): void {
  response.writeHead(200);
  const timer = setInterval(() => response.write("."), 20);
  response.on("close", () => clearInterval(timer));
}

// Guarantee: an answer counts only when all of it came.
test("an answer that breaks off", async () => {
  const { port } = await listen((_, response) => {
    response.writeHead(200, { "content-length": "100" });
    response.write("begun", () => response.destroy());
  });
  const sent = await post(`http://127.0.0.1:${port}/`);
  expect(sent.status).toBe(200);
  expect(sent.error).not.toBeNull();
});

// Guarantee: a gigabyte is not read, nor is what PostgreSQL cannot store kept.
test("a body without an end", async () => {
  const { port } = await listen((_, response) => {
    response.writeHead(200, { "x-long": "a".repeat(4_000) });
    const more = () => {
      while (!response.destroyed && response.write("\0\ud800".repeat(40_000)));
    };
    response.on("drain", more);
    more();
  });
  const sent = await post(`http://127.0.0.1:${port}/`);
  expect(sent).toMatchObject({ status: 200, error: null });
  expect(sent.body?.length).toBeLessThanOrEqual(16 * 1024);
  expect(sent.body).not.toContain("\0");
  expect(sent.headers?.["x-long"]?.length).toBeLessThan(1_000);
});

// Guarantee: headers without end, and what is no HTTP at all, are an error and nothing worse.
test.for([
  [
    "endless headers",
    `HTTP/1.1 200 OK\r\n${"x: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n".repeat(2_000)}`,
  ],
  ["no HTTP", "SSH-2.0-OpenSSH\r\n"],
] as const)("%s", async ([, bytes]) => {
  const server = createTcpServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => socket.write(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const sent = await post(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`, {
    totalMs: 2_000,
  });
  expect(sent.status).toBeNull();
  expect(sent.error).toMatch(/overflow|parse/i);
});

// Guarantee: a stop ends requests under way.
test("an abort", async () => {
  const { port } = await listen(() => stop.abort());
  const stop = new AbortController();
  const request = { url: `http://127.0.0.1:${port}/`, headers: {}, body: "{}" };
  const sent = await createWebhookSender({ loopback: true }).send(request, stop.signal);
  expect(sent.status).toBeNull();
  expect(sent.error).not.toBeNull();
});
