import type { Server } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout } from "node:timers/promises";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, test, vi } from "vitest";
import { type Container, installContainer } from "#server/container.ts";
import { createRateCounts } from "#server/db/rate-counts.ts";
import { createHttpServer, PATIENCE } from "./http-server.ts";
import { createDoor } from "./listener.ts";

const log = pino({ level: "silent" });
const QUICK = {
  headersTimeout: 200,
  requestTimeout: 400,
  connectionsCheckingInterval: 50,
  keepAliveTimeout: 1_000,
};
const owner = { id: "key_1", partnerId: "par_1", merchantId: null, environment: "test" };
const merchant = { id: "mer_1", partnerId: "par_1", environment: "test", status: "active" };
const settings = {
  FLORIN_MODE: "sandbox",
  FLORIN_TRUSTED_PROXIES: 0,
};
const parts = {
  env: settings,
  log,
  flatLog: log,
  limits: createRateCounts(async () => [], settings as never, log),
  wakeup: { held: () => 0 },
  heldByKey: new Map(),
  state: { phase: "serving" },
  services: {},
  isOutage: () => false,
  credentials: {
    key: () => ({ ...owner, scopes: ["merchant"], pin: "2026-02-18" }),
    merchant: () => merchant,
    wasGood: () => true,
  },
};

let server: Server;
let port: number;

beforeAll(async () => {
  installContainer(parts as unknown as Container);
  const door = createDoor({
    log,
    pages: () => null,
    isOpen: () => true,
    maxInFlight: 1,
    trustedProxies: 0,
  });
  server = createHttpServer(door, QUICK);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});

// Guarantee: what was cut off is not worked on any more, and takes nobody's place.
beforeEach(async () => {
  const one = "GET /v1/nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  await vi.waitFor(async () => expect(await trickle([one], 1)).toMatch(/^HTTP\/1\.1 404 /), 4_000);
});

/** Sends `parts` with `everyMs` between them, and returns everything that came back by the time the server hung up. */
function trickle(pieces: string[], everyMs: number): Promise<string> {
  return new Promise((resolve, reject) => {
    let heard = "";
    const socket: Socket = connect(port, "127.0.0.1");
    const rest = [...pieces];
    const timer = setInterval(() => {
      const piece = rest.shift();
      if (piece !== undefined && socket.writable) socket.write(piece);
    }, everyMs);
    socket.on("data", (chunk) => {
      heard += chunk.toString();
    });
    // The server may hang up while something is still being sent.
    socket.on("error", (error) => {
      if (heard === "") reject(error);
    });
    socket.on("close", () => {
      clearInterval(timer);
      resolve(heard);
    });
  });
}

const LINE = "POST /v1/merchant/payment HTTP/1.1\r\n";
const HEADERS = `Host: a\r\nApi-Key: sk_test_${"a".repeat(43)}\r\nMerchant-Id: mer_1\r\nContent-Type: application/json\r\n`;

const bodyOf = (answer: string) => JSON.parse(answer.split("\r\n\r\n")[1] ?? "");

// Guarantee: a head or body that never ends costs a connection for its time, and is told why it was cut off.
test.for([
  ["a head", [LINE, ...Array<string>(100).fill("X-Slow: 1\r\n")]],
  ["a body", [`${LINE}${HEADERS}Content-Length: 200\r\n\r\n`, ...Array<string>(100).fill(" ")]],
  [
    "a body in pieces",
    [
      `${LINE}${HEADERS}Transfer-Encoding: chunked\r\n\r\n`,
      ...Array<string>(100).fill("1\r\n \r\n"),
    ],
  ],
] as [string, string[]][])("%s that comes too slowly", async ([, pieces]) => {
  const answer = await trickle(pieces, 30);
  expect(answer).toMatch(/^HTTP\/1\.1 408 Request Timeout\r\n/);
  expect(answer).toMatch(/\r\nConnection: close\r\n/);
  expect(bodyOf(answer)).toMatchObject({ code: "invalid_params", status: "error" });
});

// Guarantee: whoever withholds a body keeps nobody waiting who does not.
test("a body that is withheld", async () => {
  const slow = trickle([`${LINE}${HEADERS}Content-Length: 2\r\n\r\n{`], 1);
  await setTimeout(50);
  const read = "GET /v1/nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
  const write = `${LINE}${HEADERS}Content-Length: 2\r\nConnection: close\r\n\r\n{}`;
  expect(await trickle([read], 1)).toMatch(/^HTTP\/1\.1 404 /);
  expect(await trickle([write], 1)).toMatch(/^HTTP\/1\.1 400 /);
  const another = `${LINE}${HEADERS}Content-Length: 2\r\nConnection: close\r\n\r\n{`;
  expect(await trickle([another], 1)).toMatch(/^HTTP\/1\.1 503 /);
  expect(await slow).toMatch(/^HTTP\/1\.1 408 /);
});

// Guarantee: headers beyond any use are refused in words, before anything is read of them.
test("sixty kilobytes of headers", async () => {
  const answer = await trickle([`${LINE}X-Big: ${"x".repeat(60_000)}\r\n\r\n`], 1);
  expect(answer).toMatch(/^HTTP\/1\.1 431 /);
  expect(bodyOf(answer).code).toBe("invalid_params");
});

// Guarantee: a request that no path can answer is refused in the shape of everything else, with its id and version.
test.for([
  ["no host", "GET /v1/nothing HTTP/1.1\r\n", 400],
  ["no host on the gateway", "GET /v1/gateway/payment/pay_1 HTTP/1.1\r\n", 400],
  ["an expectation", `${LINE}${HEADERS}Content-Length: 2\r\nExpect: 200-ok\r\n`, 417],
] as const)("%s", async ([, head, status]) => {
  const answer = await trickle([`${head}Connection: close\r\n\r\n`], 1);
  expect(answer).toMatch(new RegExp(`^HTTP/1\\.1 ${status} `));
  expect(answer).toMatch(/\r\nRequest-Id: req_/i);
  expect(answer).toMatch(/\r\nService-Version: /i);
  expect(bodyOf(answer)).toMatchObject({ code: "invalid_params" });
});

// Guarantee: a caller of HTTP/1.0 need not name a host, and one that waits to be asked for its body is asked.
test("hosts and bodies that are asked for", async () => {
  expect(await trickle(["GET /v1/nothing HTTP/1.0\r\n\r\n"], 1)).toMatch(/^HTTP\/1\.1 404 /);
  const asked = `${LINE}${HEADERS}Content-Length: 1\r\nExpect: 100-Continue\r\nConnection: close\r\n\r\n`;
  const answer = await trickle([asked, "{"], 30);
  expect(answer).toMatch(/^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 400 /);
});

// Guarantee: a body above its limit is refused without being waited for, whether its length is announced or not.
test.for([
  ["announced", `Content-Length: 1000000\r\n\r\n`, " "],
  [
    "in pieces",
    "Transfer-Encoding: chunked\r\n\r\n",
    `10000\r\n${" ".repeat(65_536)}\r\n1\r\n \r\n`,
  ],
] as const)("a body that is too large, %s", async ([, framing, body]) => {
  // The rest of it never comes: an answer at all is one that did not wait for it.
  const answer = await trickle([`${LINE}${HEADERS}${framing}${body}`], 1);
  expect(answer).toMatch(/^HTTP\/1\.1 413 /);
});

// Guarantee: what is configured for real callers is longer than a phone on a bad line needs, and ends all the same.
test("the patience of a server in use", () => {
  expect(PATIENCE.headersTimeout).toBeGreaterThanOrEqual(10_000);
  expect(PATIENCE.requestTimeout).toBeGreaterThan(PATIENCE.headersTimeout);
  expect(PATIENCE.requestTimeout).toBeLessThanOrEqual(60_000);
  expect(PATIENCE.connectionsCheckingInterval).toBeLessThan(PATIENCE.headersTimeout);
});

// Guarantee: a caller that offers another protocol, as some HTTP clients do with every call, is answered in this one, even where a part of the process would take it.
test.for([
  "Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAA\r\n",
  "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Key: AAAA\r\nSec-WebSocket-Version: 13\r\n",
])("an offer to change the protocol: %s", async (offer) => {
  const taker = (_: unknown, socket: { destroy(): void }) => socket.destroy();
  server.on("upgrade", taker);
  try {
    const offering = `GET /v1/nothing HTTP/1.1\r\nHost: a\r\n${offer}\r\n`;
    const leaving = "GET /v1/nothing HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
    expect(await trickle([offering, leaving], 20)).toMatch(/^HTTP\/1\.1 404 /);
  } finally {
    server.off("upgrade", taker);
  }
});
