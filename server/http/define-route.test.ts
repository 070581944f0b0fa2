import { createServer, request as httpRequest, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { connect } from "node:net";
import { pino } from "pino";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Container, installContainer } from "#server/container.ts";
import { errorResponse, merchantErrorResponse } from "#server/contract/errors.ts";
import { createRateCounts } from "#server/db/rate-counts.ts";
import { createDoor } from "#server/door/listener.ts";
import { ChainUnavailable } from "#server/ports/chain.ts";
import type { Payment, StoredAnswer } from "#server/ports/store.ts";
import type { Waiter } from "#server/ports/wakeup.ts";

const log = pino({ level: "silent" });
const KEY = `sk_test_${"a".repeat(43)}`;
const OTHER_KEY = `sk_test_${"b".repeat(43)}`;
const LIVE_KEY = `sk_live_${"c".repeat(43)}`;
const WALLET_KEY = `gk_test_${"d".repeat(43)}`;
const ID = "pay_0123456789ABCDEFGHJKMNPQRS";
const owner = (id: string, partnerId: string, scopes: string[], environment = "test") => ({
  id,
  partnerId,
  merchantId: null,
  environment,
  scopes,
  pin: "2026-02-18",
});
const OWNERS: Record<string, object> = {
  [KEY]: owner("key_1", "par_1", ["merchant", "gateway"]),
  [OTHER_KEY]: owner("key_2", "par_2", ["merchant"]),
  [LIVE_KEY]: owner("key_3", "par_1", ["merchant"], "live"),
  [WALLET_KEY]: owner("key_4", "par_3", ["gateway"]),
};
const merchant = (id: string, partnerId: string) => ({
  id,
  partnerId,
  environment: "test",
  name: "Shop",
  iconUrl: null,
  flow: "intermediary",
  feeBps: 0,
  feeFixedCents: 0,
  settlementSchedule: "instant",
  status: "active",
  collectWhen: "never",
  collectAboveCents: 0,
  proveOwnership: false,
  destinations: {},
});
const MERCHANTS: Record<string, object> = {
  mer_1: merchant("mer_1", "par_1"),
  mer_2: merchant("mer_2", "par_2"),
};
const payment = {
  id: ID,
  merchantId: "mer_1",
  environment: "test",
  status: "requires_action",
  version: 0,
  failureCode: null,
};

const PAR = { usdE8: 100_000_000n, source: "par", updatedAt: 1_800_000_000 };

let readPayment: (id: string) => Promise<Partial<Payment> | null>;
let answers: Map<string, { fingerprint: Uint8Array; answer: StoredAnswer }>;
let created: unknown[];
let held: (waiter: Waiter) => boolean;
let dropped: (waiter: Waiter) => void;
let price: () => Promise<{ usdE8: bigint; source: string; updatedAt: number } | null>;

const store = {
  payment: (id: string) => readPayment(id),
  merchant: async (id: string) => MERCHANTS[id] ?? null,
  storedAnswer: async (scope: string, key: string) => answers.get(`${scope} ${key}`) ?? null,
  storeAnswer: async (
    claim: { scope: string; key: string; fingerprint: Uint8Array },
    answer: StoredAnswer,
  ) => {
    answers.set(`${claim.scope} ${claim.key}`, { fingerprint: claim.fingerprint, answer });
  },
  createPayment: async (
    made: unknown,
    claim: { scope: string; key: string; fingerprint: Uint8Array } | null,
    answer: StoredAnswer,
  ) => {
    const earlier = claim === null ? null : await store.storedAnswer(claim.scope, claim.key);
    if (claim !== null && earlier !== null)
      return Buffer.from(earlier.fingerprint).equals(Buffer.from(claim.fingerprint))
        ? { kind: "replay", answer: earlier.answer }
        : { kind: "conflict" };
    created.push(made);
    if (claim !== null) await store.storeAnswer(claim, answer);
    return { kind: "created" };
  },
};
const settings = {
  FLORIN_MODE: "sandbox",
  FLORIN_MIN_PAYMENT_CENTS: 10,
  FLORIN_MAX_PAYMENT_USD: 100_000,
  FLORIN_TRUSTED_PROXIES: 0,
  FLORIN_HELD_PER_KEY: 200,
  baseUrl: "http://127.0.0.1:3000",
  checkoutUrl: "http://127.0.0.1:3000",
  payHost: "127.0.0.1:3000",
};
const parts = {
  env: settings,
  log,
  flatLog: log,
  services: {
    env: settings,
    log,
    clock: { now: () => 1_800_000_000 },
    store,
    chains: new Map(),
    prices: {
      hasFiat: (code: string) => code === "USD",
      fiat: () => price(),
    },
  },
  credentials: {
    key: (clear: string) => OWNERS[clear] ?? null,
    app: (id: string) => (id === "app_test_wallet" ? owner("app_test_wallet", "par_3", []) : null),
    merchant: (id: string) => MERCHANTS[id] ?? null,
    wasGood: () => true,
  },
  limits: createRateCounts(async () => [], { FLORIN_MODE: "sandbox" } as never, log),
  wakeup: {
    held: () => 0,
    hold: (waiter: Waiter) => held(waiter),
    drop: (waiter: Waiter) => dropped(waiter),
  },
  heldByKey: new Map(),
  state: { phase: "serving" },
  isOutage: (error: unknown) => error instanceof ChainUnavailable,
};

let server: Server;
let port: number;

beforeAll(async () => {
  installContainer(parts as unknown as Container);
  server = createServer(
    createDoor({
      log,
      pages: () => null,
      isOpen: () => true,
      maxInFlight: 100,
      trustedProxies: 0,
    }),
  );
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  readPayment = async (id) => (id === ID ? (payment as Partial<Payment>) : null);
  answers = new Map();
  created = [];
  held = () => false;
  dropped = () => undefined;
  price = async () => PAR;
});

type Given = {
  method?: string;
  headers?: Record<string, string | string[]>;
  body?: string | Buffer;
};
type Got = { status: number; headers: Record<string, string | string[] | undefined>; text: string };

/** One call through a real socket; header bytes go out as they are. */
function call(path: string, { method = "GET", headers = {}, body }: Given = {}): Promise<Got> {
  return new Promise((resolve, reject) => {
    const sent = httpRequest(
      { host: "127.0.0.1", port, path, method, headers, agent: false },
      (got) => {
        const chunks: Buffer[] = [];
        got.on("data", (chunk: Buffer) => chunks.push(chunk));
        got.on("end", () =>
          resolve({
            status: got.statusCode ?? 0,
            headers: got.headers,
            text: Buffer.concat(chunks).toString(),
          }),
        );
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });
}
const asMerchant = { "Api-Key": KEY, "Merchant-Id": "mer_1" };
const asWallet = { "App-Id": "app_test_wallet", "Client-Id": "phone" };
const json = { "Content-Type": "application/json" };
const CREATE = "/v1/merchant/payment";
const STATUS = `/v1/merchant/payment/${ID}/status`;
const GATEWAY = `/v1/gateway/payment/${ID}`;
const order = JSON.stringify({
  amount: { unit: "iso4217/USD", value: "1000" },
  referenceId: "order 1",
});
const create = (body: string | Buffer, headers: Record<string, string> = {}) =>
  call(CREATE, { method: "POST", body, headers: { ...asMerchant, ...json, ...headers } });
const codeOf = ({ text }: Got): string => JSON.parse(text).code;

// Guarantee: a merchant gets the specification's creation answer, and every answer names its request and version.
test("a payment is created", async () => {
  const got = await create(order);
  expect(got.status).toBe(201);
  expect(JSON.parse(got.text)).toEqual({
    paymentId: expect.stringMatching(/^pay_[0-9A-Z]{26}$/),
    gatewayUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:3000\/pay_[0-9A-Z]{26}$/),
    status: "pending",
    expiresAt: 1_800_000_900,
    isFinal: false,
    pollInMs: 1000,
  });
  expect(got.headers).toMatchObject({
    "content-type": "application/json",
    "request-id": expect.stringMatching(/^req_/),
    "service-version": "2026-02-18",
    "wcp-version": "2026-02-18",
  });
  expect(created).toHaveLength(1);
});

// Guarantee: deployed terminals, which send an older version header, get the words they know.
test.for(["WCP-Version", "api-version"])("%s gets unprojected statuses", async (name) => {
  const headers = { [name]: "2026-02-19.preview" };
  expect(JSON.parse((await create(order, headers)).text).status).toBe("requires_action");
  const got = await call(STATUS, { headers: { ...asMerchant, ...headers } });
  expect(JSON.parse(got.text).status).toBe("requires_action");
  expect(got.headers["service-version"]).toBe("2026-02-19.preview");
  const neutral = { ...asMerchant, "Service-Version": "2026-02-19.preview" };
  expect(JSON.parse((await call(STATUS, { headers: neutral })).text).status).toBe("pending");
});

// Guarantee: a creation repeated under its key makes one payment and one answer, byte for byte.
test("an idempotent creation is replayed", async () => {
  const first = await create(order, { "Idempotency-Key": "k" });
  const again = await create(` ${order}`, { "Idempotency-Key": "k" });
  expect(again.text).toBe(first.text);
  expect(first.headers["idempotent-replayed"]).toBeUndefined();
  expect(again.headers["idempotent-replayed"]).toBe("true");
  expect(created).toHaveLength(1);
  const other = await create(order.replace("1000", "2000"), { "Idempotency-Key": "k" });
  expect([other.status, codeOf(other)]).toEqual([409, "idempotency_conflict"]);
});

// Guarantee: a creation whose answer was lost gets it under its key even while new payments cannot be priced.
test.for([
  ["that is stale", async () => null],
  ["whose chain is away", () => Promise.reject(new ChainUnavailable("away"))],
] as [string, typeof price][])(
  "an idempotent creation is replayed without a price, for a feed %s",
  async ([, away]) => {
    const first = await create(order, { "Idempotency-Key": "k" });
    price = away;
    const again = await create(order, { "Idempotency-Key": "k" });
    expect([again.status, again.text]).toEqual([201, first.text]);
    expect(again.headers["idempotent-replayed"]).toBe("true");
    const other = await create(order.replace("1000", "2000"), { "Idempotency-Key": "k" });
    expect([other.status, codeOf(other)]).toEqual([409, "idempotency_conflict"]);
    const fresh = await create(order, { "Idempotency-Key": "new" });
    expect([fresh.status, codeOf(fresh)]).toEqual([503, "internal_error"]);
    price = async () => PAR;
    expect((await create(order, { "Idempotency-Key": "new" })).status).toBe(201);
    expect(created).toHaveLength(2);
  },
);

// Guarantee: a refusal of the work is kept under its key; one of the shape, and an outage, are not.
test("refusals after execution began are stored", async () => {
  const tooSmall = order.replace("1000", "1");
  const first = await create(tooSmall, { "Idempotency-Key": "small" });
  const again = await create(tooSmall, { "Idempotency-Key": "small" });
  expect(first.status).toBe(400);
  expect(JSON.parse(first.text).message).toMatch(/Amount must be at least 10 to cover fees/);
  expect(again.text).toBe(first.text);
  expect(again.headers["idempotent-replayed"]).toBe("true");
  await create("{}", { "Idempotency-Key": "shape" });
  expect([...answers.keys()].filter((name) => name.endsWith("shape"))).toEqual([]);
});

// Guarantee: each way of not being allowed has its own code, and an unknown key looks like a malformed one.
test.for([
  [CREATE, "POST", {}, 401, "missing_merchant_api_key"],
  [STATUS, "GET", { "Merchant-Id": "mer_1" }, 401, "missing_merchant_api_key"],
  [`/v1/payments/${ID}`, "GET", {}, 401, "missing_api_key"],
  [STATUS, "GET", { "Api-Key": "" }, 401, "missing_merchant_api_key"],
  [STATUS, "GET", { "Api-Key": KEY }, 401, "missing_merchant_id"],
  [
    STATUS,
    "GET",
    { ...asMerchant, "Api-Key": `sk_test_${"z".repeat(43)}` },
    401,
    "invalid_api_key",
  ],
  [STATUS, "GET", { ...asMerchant, "Api-Key": "hunter2" }, 401, "invalid_api_key"],
  [STATUS, "GET", { ...asMerchant, "Api-Key": [KEY, KEY] }, 401, "invalid_api_key"],
  [STATUS, "GET", { ...asMerchant, "Api-Key": "app_test_wallet" }, 401, "invalid_api_key"],
  [STATUS, "GET", { ...asMerchant, "Api-Key": "k\u00e9y" }, 400, "header_not_ascii"],
  [STATUS, "GET", { ...asMerchant, "Service-Version": "\u00ff" }, 400, "header_not_ascii"],
  [STATUS, "GET", { ...asMerchant, "Api-Key": LIVE_KEY }, 403, "not_sandbox_api_key"],
  [STATUS, "GET", { ...asMerchant, "Api-Key": WALLET_KEY }, 403, "forbidden"],
  [STATUS, "GET", { ...asMerchant, "Merchant-Id": "mer_2" }, 404, "merchant_not_found"],
  [STATUS, "GET", { ...asMerchant, "Service-Version": "v1" }, 400, "invalid_api_version"],
  [STATUS, "GET", { ...asMerchant, "WCP-Version": "2020-01-01" }, 400, "unknown_api_version"],
  [GATEWAY, "GET", {}, 401, "missing_auth_headers"],
  [GATEWAY, "GET", { "App-Id": "app_test_wallet" }, 401, "missing_client_id"],
  [GATEWAY, "GET", { "Client-Id": "phone" }, 401, "missing_app_id"],
  [GATEWAY, "GET", { ...asWallet, "App-Id": "app_test_nobody" }, 401, "invalid_app_id"],
  [GATEWAY, "GET", { ...asWallet, "App-Id": KEY }, 401, "invalid_app_id"],
  [GATEWAY, "GET", { ...asWallet, "Api-Key": WALLET_KEY }, 400, "conflicting_auth_headers"],
  [GATEWAY, "GET", { "Api-Key": OTHER_KEY }, 403, "forbidden"],
] as [string, string, Record<string, string | string[]>, number, string][])(
  "%s %s %j is %d %s",
  async ([path, method, headers, status, code]) => {
    const got = await call(path, { method, headers });
    expect([got.status, codeOf(got)]).toEqual([status, code]);
    const shape = path.startsWith("/v1/gateway") ? errorResponse : merchantErrorResponse;
    expect(shape.strict().parse(JSON.parse(got.text)).requestId).toBe(got.headers["request-id"]);
  },
);

// Guarantee: nobody learns from an answer whether somebody else's payment exists.
test("a foreign payment and a missing one are answered byte for byte alike", async () => {
  const headers = { "Api-Key": OTHER_KEY, "Merchant-Id": "mer_2" };
  const paths = [
    STATUS,
    STATUS.replace(ID, "pay_00000000000000000000000000"),
    STATUS.replace(ID, "nonsense"),
  ];
  const bodies = await Promise.all(
    paths.map(async (path) => {
      const got = await call(path, { headers });
      const id = String(got.headers["request-id"]);
      return [got.status, got.text.replaceAll(id, "req"), Object.keys(got.headers)];
    }),
  );
  expect(bodies[0]?.[0]).toBe(404);
  expect(bodies[1]).toEqual(bodies[0]);
  expect(bodies[2]).toEqual(bodies[0]);
});

// Guarantee: nobody learns from the limits told with a refusal whether a payment exists that others ask about.
test("a foreign payment's calls by others are not told", async () => {
  const foreign = "pay_00000000000000000000000007";
  readPayment = async (id) =>
    id === foreign ? ({ ...payment, id, merchantId: "mer_2" } as Partial<Payment>) : null;
  const read = (id: string, headers: Record<string, string>) =>
    call(`/v1/gateway/payment/${id}/status`, { headers });
  for (let n = 0; n < 5; n++) expect((await read(foreign, asWallet)).status).toBe(200);
  const ids = [foreign, "pay_00000000000000000000000008"];
  const answers = await Promise.all(ids.map((id) => read(id, { "Api-Key": KEY })));
  expect(answers.map(({ status }) => status)).toEqual([404, 404]);
  const left = answers.map(
    ({ headers }) => /^"payment";r=\d+/.exec(String(headers.ratelimit))?.[0],
  );
  expect(left).toEqual(['"payment";r=1999', '"payment";r=1999']);
});

const chunk = Buffer.alloc(200_000, " ");
// Guarantee: bad bodies are refused with a JSON answer, before any work.
test.for([
  ["not JSON", "{", 400, "invalid_params", {}],
  ["an empty body", "", 400, "invalid_params", {}],
  ["a list", "[]", 400, "invalid_params", {}],
  ["a number for the amount", order.replace('"1000"', "1000"), 400, "invalid_params", {}],
  ["a missing member", '{"referenceId":"a"}', 400, "invalid_params", {}],
  ["text out of its rules", order.replace("order 1", "\\u0000"), 400, "params_validation", {}],
  ["an unknown currency", order.replace("USD", "XXX"), 400, "params_validation", {}],
  ["10,000 levels", `${"[".repeat(10_000)}${"]".repeat(10_000)}`, 400, "invalid_params", {}],
  ["a prototype", `{"__proto__":{},${order.slice(1)}`, 400, "invalid_params", {}],
  [
    "a member named twice",
    order.replace('"value"', '"value":"9","v\\u0061lue"'),
    400,
    "invalid_params",
    {},
  ],
  ["bytes that are no UTF-8", Buffer.from([0x22, 0xff, 0x22]), 400, "invalid_params", {}],
  ["200 kB", chunk, 413, "invalid_params", {}],
  ["200 kB in pieces", chunk, 413, "invalid_params", { "Transfer-Encoding": "chunked" }],
  ["another type", order, 415, "invalid_params", { "Content-Type": "text/plain" }],
  [
    "another charset",
    order,
    415,
    "invalid_params",
    { "Content-Type": "application/json; charset=utf-7" },
  ],
  ["a packed body", order, 415, "invalid_params", { "Content-Encoding": "gzip" }],
] as [string, string | Buffer, number, string, Record<string, string>][])(
  "%s",
  async ([, body, status, code, headers]) => {
    const got = await create(body, headers);
    expect([got.status, codeOf(got)]).toEqual([status, code]);
    expect(created).toEqual([]);
  },
);

// Guarantee: a refusal says which member is wrong.
test("issues carry paths", async () => {
  const got = await create('{"amount":{"unit":"usd","value":"1.5"},"referenceId":"a"}');
  const { issues } = merchantErrorResponse.parse(JSON.parse(got.text));
  expect(issues?.map(({ path }) => path)).toEqual(["amount.unit", "amount.value"]);
});

// Guarantee: a wallet that repeats the confirm that was accepted is told where the payment stands, whatever else it sends; any other confirm of a wrong shape is refused.
test("a repeated confirm of a wrong shape", async () => {
  const confirm = (body: object, path = GATEWAY) =>
    call(`${path}/confirm`, {
      method: "POST",
      headers: { ...asWallet, ...json },
      body: JSON.stringify(body),
    });
  const done = { ...payment, status: "processing", optionId: "opt_1", version: 1 };
  readPayment = async (id) => (id === ID ? (done as Partial<Payment>) : null);
  for (const rest of [{}, { results: "x" }, { results: [{ type: "other", data: [1] }] }]) {
    const got = await confirm({ optionId: "opt_1", ...rest });
    expect([got.status, JSON.parse(got.text).status]).toEqual([200, "processing"]);
  }
  const refused = [
    await confirm({ optionId: "opt_2" }),
    await confirm({ results: [] }),
    await confirm(["opt_1"]),
    await confirm({ optionId: "opt_1" }, GATEWAY.replace(ID, "pay_00000000000000000000000000")),
  ];
  for (const got of refused) expect([got.status, codeOf(got)]).toEqual([400, "invalid_params"]);
  readPayment = async () => ({ ...done, status: "requires_action" }) as Partial<Payment>;
  expect((await confirm({ optionId: "opt_1" })).status).toBe(400);
});

// Guarantee: a wallet's query means exactly what it says.
test.for([
  ["maxPollMs=-1", 400],
  ["maxPollMs=1e3", 400],
  ["maxPollMs=", 400],
  ["maxPollMs=1&maxPollMs=1", 400],
  ["maxPollMs=5&other=1&other=2", 200],
  ["", 200],
] as const)("status?%s is %d", async ([query, status]) => {
  expect((await call(`${GATEWAY}/status?${query}`, { headers: asWallet })).status).toBe(status);
});

// Guarantee: a link of ours is an id on the gateway, through a real request line.
test("a twice encoded link", async () => {
  const link = encodeURIComponent(encodeURIComponent(`http://127.0.0.1:3000/?pid=${ID}`));
  const got = await call(`/v1/gateway/payment/${link}/status`, { headers: asWallet });
  expect([got.status, JSON.parse(got.text).status]).toEqual([200, "requires_action"]);
});

// Guarantee: browsers of any origin can call the gateway and read its headers; nothing else is open to them.
test("CORS", async () => {
  const asked = await call(`${GATEWAY}/confirm`, { method: "OPTIONS" });
  expect(asked.status).toBe(204);
  expect(asked.headers["access-control-allow-origin"]).toBe("*");
  expect(asked.headers["access-control-allow-credentials"]).toBeUndefined();
  expect(asked.headers["access-control-allow-headers"]).toMatch(/App-Id.*Client-Id.*WCP-Version/);
  const refused = await call(GATEWAY);
  expect(refused.headers["access-control-expose-headers"]).toMatch(/Request-Id, Retry-After/);
  expect(
    (await call(STATUS, { headers: asMerchant })).headers["access-control-allow-origin"],
  ).toBeUndefined();
  expect((await call(STATUS, { method: "OPTIONS" })).status).toBe(405);
});

// Guarantee: an outage may be tried again, a bug may not be read about.
test.for([
  [new ChainUnavailable("rpc https://secret.example/key is down"), 503, "1"],
  [new TypeError("select * from payment where secret"), 500, undefined],
] as const)("%s", async ([error, status, retryAfter]) => {
  readPayment = () => Promise.reject(error);
  const got = await call(STATUS, { headers: asMerchant });
  expect([got.status, codeOf(got), got.headers["retry-after"]]).toEqual([
    status,
    "internal_error",
    retryAfter,
  ]);
  expect(got.text).not.toMatch(/secret|select|TypeError/);
});

// Guarantee: an answer that breaks the contract is our bug, not the caller's problem to read.
test("an answer outside the contract is a 500", async () => {
  readPayment = async () => ({ ...payment, status: "succeedid" }) as never;
  expect((await call(`${GATEWAY}/status`, { headers: asWallet })).status).toBe(500);
});

// Guarantee: what is not served is refused in the shape of everything else.
test.for([
  ["GET", "/v1/nothing", 404, "not_found"],
  ["GET", "/v1", 404, "not_found"],
  ["GET", "/", 404, "not_found"],
  ["GET", "/v1/../etc/passwd", 404, "not_found"],
  ["DELETE", STATUS, 405, "invalid_params"],
  ["GET", CREATE, 405, "invalid_params"],
  ["GET", "/v1/payments/%zz", 400, "invalid_params"],
  ["GET", "/v1/constructor", 404, "not_found"],
] as const)("%s %s is %d", async ([method, path, status, code]) => {
  const got = await call(path, { method, headers: asMerchant });
  expect([got.status, codeOf(got)]).toEqual([status, code]);
  expect(got.headers["request-id"]).toMatch(/^req_/);
});

// Guarantee: small differences in writing an address do not lose a call.
test.for([`/${STATUS}`, `${STATUS}/`, `http://127.0.0.1${STATUS}`])(
  "%s is served",
  async (path) => {
    expect((await call(path, { headers: asMerchant })).status).toBe(200);
  },
);

// Guarantee: HEAD answers what GET would, without the body.
test("HEAD", async () => {
  const got = await call(STATUS, { method: "HEAD", headers: asMerchant });
  expect([got.status, got.text]).toEqual([200, ""]);
});

// Guarantee: the platform's own classes stay as they were for whatever else runs in the process.
test("the globals are untouched", () => {
  expect(Object.getPrototypeOf(Response.prototype)).toBe(Object.prototype);
  expect(Object.getPrototypeOf(Request.prototype)).toBe(Object.prototype);
});

// Guarantee: a poll that was held is answered as any other, with what is true by then.
test("a held poll", async () => {
  held = (waiter) => {
    readPayment = async () => ({ ...payment, status: "cancelled", version: 1 }) as Partial<Payment>;
    setImmediate(() => waiter.wake());
    return true;
  };
  const path = `${GATEWAY}/status?maxPollMs=20000`;
  const got = await call(path, { headers: asWallet });
  expect([got.status, JSON.parse(got.text).status]).toEqual([200, "cancelled"]);
  held = () => false;
  const plain = await call(path, { headers: asWallet });
  expect(new Set(Object.keys(got.headers))).toEqual(new Set(Object.keys(plain.headers)));
  held = (waiter) => {
    readPayment = () => Promise.reject(new ChainUnavailable("away"));
    setImmediate(() => waiter.wake());
    return true;
  };
  readPayment = async () => payment as Partial<Payment>;
  const failed = await call(path, { headers: asWallet });
  expect([failed.status, codeOf(failed)]).toEqual([503, "internal_error"]);
});

// Guarantee: a wallet that hangs up is not held for.
test("hanging up ends the hold", async () => {
  const seen: Waiter[] = [];
  const ended = new Promise<Waiter>((resolve) => {
    dropped = resolve;
  });
  held = (waiter) => {
    seen.push(waiter);
    socket.destroy();
    return true;
  };
  const socket = connect(port, "127.0.0.1", () => {
    socket.write(
      `GET ${GATEWAY}/status?maxPollMs=20000 HTTP/1.1\r\nHost: a\r\nApp-Id: app_test_wallet\r\nClient-Id: x\r\n\r\n`,
    );
  });
  expect(seen).toEqual([await ended]);
  expect(parts.heldByKey.size).toBe(0);
});
