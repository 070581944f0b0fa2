import { createServer, type IncomingMessage, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { afterEach, beforeEach, expect, expectTypeOf, test } from "vitest";
import { EXAMPLES } from "#server/contract/examples.ts";
import { ENDPOINTS } from "#server/contract/index.ts";
import { createMerchantClient } from "./client.ts";

type Seen = { method: string; url: string; headers: IncomingMessage["headers"]; body: string };
/** A status with a body, or `hang up` instead of an answer. */
type Scripted = { status: number; body: unknown; headers?: Record<string, string> } | "hang up";

const PAYMENT = { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-1" };
const OUTAGE: Scripted = { status: 503, body: { code: "internal_error", message: "Busy" } };
const CREATED: Scripted = { status: 201, body: EXAMPLES.createPayment?.response };

let server: Server;
let seen: Seen[];
let script: Scripted[];

beforeEach(async () => {
  seen = [];
  script = [];
  server = createServer(async (request, response) => {
    const { method = "", url = "", headers } = request;
    seen.push({ method, url, headers, body: await text(request) });
    const next = script.shift() ?? { status: 200, body: {} };
    if (next === "hang up") request.socket.destroy();
    else {
      const type = typeof next.body === "string" ? "text/html" : "application/json";
      response.writeHead(next.status, { "content-type": type, ...next.headers });
      response.end(typeof next.body === "string" ? next.body : JSON.stringify(next.body));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
});
afterEach(() => {
  server.closeAllConnections();
  server.close();
});

const client = () =>
  createMerchantClient({
    baseUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    apiKey: "sk_test_1",
    merchantId: "mer_1",
    backoffMs: 1,
  });

// Guarantee: the client can do what the contract offers to merchants, and none of it is missing.
test("has a method for every operation of a merchant's backend", () => {
  const offered = ENDPOINTS.filter(({ auth }) => auth !== "gateway").map((e) => e.operation);
  expect(Object.keys(client()).toSorted()).toEqual(offered.toSorted());
});

// Guarantee: every operation calls the path, query and body its contract names.
test.each(ENDPOINTS.filter(({ auth }) => auth !== "gateway"))(
  "$operation calls its path",
  async (endpoint) => {
    const { path = {}, query, body, response } = EXAMPLES[endpoint.operation] ?? { response: {} };
    script = [{ status: endpoint.status, body: response }];
    const methods = client() as unknown as Record<string, (call: object) => Promise<unknown>>;
    const call = { ...path, ...(query && { query }), ...(body === undefined ? {} : { body }) };
    expect(await methods[endpoint.operation]?.(call)).toEqual(response);
    const url = new URL(seen[0]?.url ?? "", "http://localhost");
    expect([seen[0]?.method, url.pathname]).toEqual([
      endpoint.method,
      endpoint.path.replace(/\{(\w+)\}/g, (_, name) => path[name] ?? ""),
    ]);
    for (const [name, value] of Object.entries(query ?? {}))
      expect(url.searchParams.getAll(name)).toEqual([value].flat());
    expect(seen[0]?.body).toBe(body === undefined ? "" : JSON.stringify(body));
    expect(seen[0]?.headers).toMatchObject({ "api-key": "sk_test_1" });
    expect(seen[0]?.headers["merchant-id"]).toBe(
      endpoint.auth === "merchant" ? "mer_1" : undefined,
    );
    expect(seen[0]?.headers["idempotency-key"] !== undefined).toBe(endpoint.idempotent);
  },
);

// Guarantee: a repetition after an outage is known to the service as the same call, so it creates nothing twice.
test("a POST is repeated after 5xx and lost connections, under one key", async () => {
  script = [OUTAGE, "hang up", CREATED];
  const answer = await client().createPayment({ body: PAYMENT });
  expect(answer.paymentId).toMatch(/^pay_/);
  expectTypeOf(answer.isFinal).toEqualTypeOf<boolean>();
  const keys = seen.map(({ headers }) => headers["idempotency-key"]);
  expect(keys).toHaveLength(3);
  expect(new Set(keys).size).toBe(1);
  expect(keys[0]).toMatch(/^[0-9a-f-]{36}$/);
  await client().createPayment({ body: PAYMENT });
  expect(seen[3]?.headers["idempotency-key"]).not.toBe(keys[0]);
  await client().createPayment({ body: PAYMENT, idempotencyKey: "order-1" });
  expect(seen[4]?.headers["idempotency-key"]).toBe("order-1");
});

// Guarantee: a refusal is told at once with everything the service said.
test.for([400, 404, 409, 429])("%d is not repeated", async (status) => {
  const body = {
    code: "params_validation",
    message: "Validation error",
    requestId: "req_1",
    issues: [{ path: "amount.value", field: "value", message: "is too small" }],
  };
  script = [{ status, body, headers: { "retry-after": "2" } }];
  await expect(client().getPayment({ id: "pay_1" })).rejects.toMatchObject({
    name: "FlorinApiError",
    status,
    code: "params_validation",
    message: "Validation error",
    requestId: "req_1",
    issues: [{ path: "amount.value", message: "is too small" }],
    retryAfterMs: 2000,
  });
  expect(seen).toHaveLength(1);
});

// Guarantee: the client gives up after three retries, and says whether there was an answer at all.
test.for([
  [OUTAGE, { status: 503, code: "internal_error" }],
  ["hang up", { status: null, code: null }],
  [
    { status: 502, body: "<html>" },
    { status: 502, code: null },
  ],
] as const)("%j four times is an error", async ([every, error]) => {
  script = [every, every, every, every];
  await expect(client().getPayment({ id: "pay_1" })).rejects.toMatchObject(error);
  expect(seen).toHaveLength(4);
});

// Guarantee: a page that some proxy puts in place of an answer is not taken for one.
test("an answer that is no JSON is an error", async () => {
  script = [{ status: 200, body: "<html>" }];
  await expect(client().getPayment({ id: "pay_1" })).rejects.toMatchObject({ status: 200 });
});

// Guarantee: ids cannot lead a call to another path, nor an empty one to a list.
test("ids are escaped, and needed", async () => {
  await client().getPayment({ id: "../merchants?x=1" });
  expect(seen[0]?.url).toBe("/v1/payments/..%2Fmerchants%3Fx%3D1");
  for (const id of ["", ".", ".."])
    await expect(client().getPayment({ id })).rejects.toThrow(TypeError);
});

// Guarantee: who stops waiting is not kept, and nothing more is sent.
test("an aborted call ends with its reason", async () => {
  const stop = new AbortController();
  stop.abort(new Error("enough"));
  await expect(client().getPayment({ id: "pay_1", signal: stop.signal })).rejects.toThrow("enough");
  expect(seen).toEqual([]);
});

// Guarantee: the compiler knows which parts a call needs.
test("calls are typed by the contract", () => {
  const made = client();
  const never = () => {
    // @ts-expect-error a path needs its id
    void made.getPayment({});
    // @ts-expect-error an amount is text
    void made.createPayment({ body: { ...PAYMENT, amount: { unit: "iso4217/USD", value: 1250 } } });
    // @ts-expect-error the gateway is the wallets'
    void made.listPaymentOptions;
    void made.listPayments();
  };
  expect(never).toBeTypeOf("function");
});
