import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { type EndpointShape, possibleErrors } from "#server/contract/endpoint.ts";
import { ERROR_STATUS, errorResponse, merchantErrorResponse } from "#server/contract/errors.ts";
import { ENDPOINTS } from "#server/contract/index.ts";
import { issueKey } from "#server/db/credentials.ts";
import type { ErrorCode } from "#server/domain/error-code.ts";
import { asOwner } from "#server/sandbox/deploy.ts";
import { type Answer, actors, inToken, until, untilOffered } from "./api.ts";
import { type Call, send } from "./doors.ts";
import { credentialsFor, exampleCall, type GoodCall, targetOf } from "./example-call.ts";
import { endsIn } from "./unguarded.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const CHAIN = "eip155:31337";
const PREVIEW = "2026-02-19.preview";
const STABLE = "2026-02-18";

let world: TestWorld;
let server: TestServer;
/** Its limits are so small that the second call is one too many. */
let narrow: TestServer;
/** Payments in the states that refusals speak of, and keys with the wrong rights. */
let the: {
  open: string;
  cancelled: string;
  expired: string;
  /** Cancelled by the calls that are to cancel something. */
  spare: string;
  succeeded: string;
  refunded: string;
  option: string;
  expiredOption: string;
  listedOption: string;
  listedBuyer: string;
  merchantKey: string;
  gatewayKey: string;
  liveMerchantKey: string;
  liveGatewayKey: string;
  taken: { id: string; asset: string; destination: string };
  endpoint: string;
  /** A delivery to `endpoint`, and one to a receiver that was removed. */
  delivery: string;
  orphanedDelivery: string;
};

const shop = () => actors(world, () => server.baseUrl);
const merchant = () => credentialsFor({ auth: "merchant" } as EndpointShape, world.demo);

async function create(): Promise<string> {
  const made = await shop().create();
  if (made.status !== 201) throw new Error(made.text);
  return made.body.paymentId;
}

async function offered(id: string, name: "everything" | "usdc"): Promise<string> {
  const accounts = [`${CHAIN}:${world.buyer(name).address}`];
  const listed = await untilOffered(() => shop().options(id, accounts));
  return listed.body.options.find(inToken("USDC")).id;
}

/** A copy of an option whose quote is over. */
async function agedOption(id: string): Promise<string> {
  const aged = `${id.slice(0, -4)}AGED`;
  await world.db.query(
    `insert into payment_option select (jsonb_populate_record(o, jsonb_build_object('id', $2::text,
       'fingerprint', $2::text, 'expires_at', now() - interval '1 minute'))).* from payment_option o where id = $1`,
    [id, aged],
  );
  return aged;
}

async function makeKey(environment: "test" | "live", scope: "merchant" | "gateway") {
  const { key } = await issueKey(world.db.query, world.world.memory.pepper, {
    partnerId: world.demo.partnerId,
    merchantId: null,
    environment,
    scopes: [scope],
  });
  return key;
}

async function paid(): Promise<string> {
  const id = await create();
  const { key } = world.buyer("everything");
  await shop().pay(id, key, "USDC");
  const { body: standing } = await until(
    () => shop().status(id, 10_000),
    ({ body }) => body.isFinal,
  );
  expect(standing.status).toBe("succeeded");
  return id;
}

/** Receivers that nobody listens for, their deliveries, and as many of the second merchant as it may have. */
async function setUpReceivers() {
  const make = async () => {
    const made = await send(server.baseUrl, {
      method: "POST",
      path: "/v1/webhook-endpoints",
      headers: merchant(),
      body: { url: "http://127.0.0.1:9/hook" },
    });
    expect(made.status, made.text).toBe(201);
    return made.body.id as string;
  };
  const [endpoint, removed] = [await make(), await make()];
  await create();
  const deliveryTo = async (id: string) => {
    const [row] = await until(
      () =>
        world.db.query<{ id: string }>("select id from webhook_delivery where endpoint_id = $1", [
          id,
        ]),
      (rows) => rows.length > 0,
    );
    return row?.id ?? "";
  };
  const [delivery, orphanedDelivery] = [await deliveryTo(endpoint), await deliveryTo(removed)];
  const path = `/v1/webhook-endpoints/${removed}`;
  await send(server.baseUrl, { method: "DELETE", path, headers: merchant() });
  await world.db.query(
    `insert into webhook_endpoint (id, merchant_id, environment, url, secret)
     select 'whe_' || n, $1, 'test', 'http://127.0.0.1:9/', 'x' from generate_series(1, 100) n`,
    [world.demo.merchants[1]?.id],
  );
  return { endpoint, delivery, orphanedDelivery };
}

async function setUp(): Promise<typeof the> {
  const closing = await create();
  await endsIn(world.db, closing);
  const [open, cancelled, succeeded, refunded] = [
    await create(),
    await create(),
    await paid(),
    await paid(),
  ];
  const [option, listedOption] = [await offered(open, "everything"), await offered(open, "usdc")];
  const headers = merchant();
  for (const [path, body] of [
    [`/v1/payments/${cancelled}/cancel`, {}],
    ["/v1/refunds", { paymentId: refunded }],
  ] as const) {
    const done = await send(server.baseUrl, { method: "POST", path, headers, body });
    expect(done.status, done.text).toBeLessThan(300);
  }
  const [chain] = world.world.chains;
  if (chain === undefined) throw new Error("no chain");
  const listedBuyer = privateKeyToAccount(world.buyer("usdc").key).address;
  await asOwner(
    chain.anvil.rpcUrl,
    chain.deployment,
    chain.deployment.sanctions,
    "function setListed(address account, bool listed)",
    [listedBuyer, true],
  );
  const [taken] = await world.db.query<{ id: string; asset: string; destination: string }>(
    "select id, asset, destination from settlement_destination where merchant_id = $1 limit 1",
    [world.demo.merchants[0]?.id],
  );
  if (taken === undefined) throw new Error("no destination");
  await until(
    () => shop().status(closing),
    ({ body }) => body.status === "expired",
  );
  return {
    open,
    cancelled,
    succeeded,
    refunded,
    option,
    listedOption,
    listedBuyer,
    taken,
    expired: closing,
    spare: await create(),
    ...(await setUpReceivers()),
    expiredOption: await agedOption(option),
    merchantKey: await makeKey("test", "merchant"),
    gatewayKey: await makeKey("test", "gateway"),
    liveMerchantKey: await makeKey("live", "merchant"),
    liveGatewayKey: await makeKey("live", "gateway"),
  };
}

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer();
  narrow = await world.startServer({
    env: { FLORIN_WORKER: "off", FLORIN_LIMIT_ADDRESS: "1", FLORIN_LIMIT_FAILURES: "1" },
  });
  the = await setUp();
});
afterAll(async () => world?.stop());

type Recipe = (good: GoodCall, endpoint: EndpointShape) => Partial<GoodCall>;
const adding = (headers: Record<string, string>): Recipe => {
  return (good) => ({ headers: { ...good.headers, ...headers } });
};
const only = (headers: () => Record<string, string>): Recipe => {
  return () => ({ headers: headers() });
};
const without = (...names: string[]): Recipe => {
  return (good) => ({
    headers: Object.fromEntries(
      Object.entries(good.headers).filter(([name]) => !names.includes(name)),
    ),
  });
};
/** The endpoint's path with another id in a place. */
const at =
  (name: string, id: () => string): Recipe =>
  (good, endpoint) => {
    const wanted = endpoint.path.split("/");
    return {
      path: good.path
        .split("/")
        .map((step, n) => (wanted[n] === `{${name}}` ? id() : step))
        .join("/"),
    };
  };
const body =
  (change: () => object): Recipe =>
  (good) => ({ body: { ...(good.body as object), ...change() } });
/** The second merchant's call, which has as many receivers as it may. */
const asSecondShop = (): Recipe =>
  only(() => {
    const second = world.demo.merchants[1];
    return { "Api-Key": second?.apiKey ?? "", "Merchant-Id": second?.id ?? "" };
  });
const app = () => world.demo.gateway.appId;
const SIGNED = { type: "walletRpc", data: [`0x${"11".repeat(65)}`] };

/** How a call of any endpoint earns a code. */
const GENERAL: Partial<Record<ErrorCode, Recipe>> = {
  invalid_params: (good, endpoint) => {
    if (good.body !== undefined) return { body: "{" };
    if (!endpoint.path.includes("{")) return { query: new URLSearchParams("limit=none") };
    return { path: endpoint.path.replaceAll(/\{\w+\}/g, "%zz") };
  },
  header_not_ascii: adding({ "Sdk-Name": "caf\u00e9" }),
  invalid_api_version: adding({ "Service-Version": "yesterday" }),
  unknown_api_version: adding({ "Service-Version": "2019-01-01" }),
  api_version_downgrade: adding({ "Service-Version": STABLE }),
  invalid_api_key: adding({ "Api-Key": `sk_test_${"A".repeat(43)}` }),
  forbidden: (good, { auth }) =>
    adding({ "Api-Key": auth === "gateway" ? the.merchantKey : the.gatewayKey })(good, {} as never),
  not_sandbox_api_key: (good, { auth }) =>
    adding({ "Api-Key": auth === "gateway" ? the.liveGatewayKey : the.liveMerchantKey })(
      good,
      {} as never,
    ),
  missing_api_key: without("Api-Key"),
  missing_merchant_api_key: without("Api-Key"),
  missing_auth_headers: without("Api-Key"),
  missing_merchant_id: without("Merchant-Id"),
  merchant_not_found: (good, endpoint) =>
    endpoint.auth === "merchant"
      ? adding({ "Merchant-Id": "mer_none" })(good, endpoint)
      : at("merchantId", () => "mer_none")(good, endpoint),
  missing_app_id: only(() => ({ "Client-Id": "c" })),
  missing_client_id: only(() => ({ "App-Id": app() })),
  invalid_app_id: only(() => ({ "App-Id": `app_test_${"A".repeat(43)}`, "Client-Id": "c" })),
  conflicting_auth_headers: (good) => ({
    headers: { ...good.headers, "App-Id": app(), "Client-Id": "c" },
  }),
  payment_not_found: at("id", () => "pay_0000000000"),
  idempotency_conflict: adding({ "Idempotency-Key": "used before" }),
  params_validation: adding({ "Idempotency-Key": "k".repeat(256) }),
  not_found: (good, endpoint) => ({
    path: endpoint.path.replaceAll(/\{(\w+)\}/g, (_, name: string) =>
      name === "merchantId" ? ids(endpoint).merchantId : `unknown${good.method}`,
    ),
  }),
};

/** Where the way of an endpoint is its own. */
const OWN: Record<string, Recipe> = {
  "listPaymentOptions params_validation": body(() => ({ accounts: ["eip155:31337:0x12"] })),
  "listPaymentOptions payment_expired": at("id", () => the.expired),
  "listPaymentOptions sanctioned_user": body(() => ({ accounts: [`${CHAIN}:${the.listedBuyer}`] })),
  "fetchPaymentActions params_validation": body(() => ({ optionId: "opt_none", data: "" })),
  "fetchPaymentActions invalid_state": at("id", () => the.cancelled),
  "fetchPaymentActions payment_expired": at("id", () => the.expired),
  "fetchPaymentActions quote_expired": body(() => ({ optionId: the.expiredOption, data: "" })),
  "fetchPaymentActions sanctioned_user": body(() => ({ optionId: the.listedOption, data: "" })),
  "confirmPayment params_validation": body(() => ({ optionId: "opt_none", results: [SIGNED] })),
  "confirmPayment invalid_state": at("id", () => the.cancelled),
  "confirmPayment payment_expired": at("id", () => the.expired),
  "confirmPayment quote_expired": body(() => ({ optionId: the.expiredOption, results: [SIGNED] })),
  "confirmPayment sanctioned_user": body(() => ({ optionId: the.listedOption, results: [SIGNED] })),
  "cancelPayment invalid_state": at("id", () => the.cancelled),
  "cancelGatewayPayment invalid_state": at("id", () => the.cancelled),
  "createWebhookEndpoint invalid_state": asSecondShop(),
  "redeliverWebhook invalid_state": at("deliveryId", () => the.orphanedDelivery),
  "updateWebhookEndpoint params_validation": body(() => ({ url: "ftp://example.com/" })),
  "updateMerchant params_validation": body(() => ({ merchantEmail: "nobody" })),
  "changeSettlementDestination params_validation": body(() => ({ destination: "eip155:1:0x12" })),
  "addSettlementDestinations settlement_asset_conflict": body(() => ({ settlements: [the.taken] })),
  "createRefund payment_not_found": body(() => ({ paymentId: "pay_0000000000" })),
  "createRefund payment_not_succeeded": body(() => ({ paymentId: the.open })),
  "createRefund already_refunded": body(() => ({ paymentId: the.refunded })),
};

/** What every endpoint can answer, proven apart because it changes the whole server. */
const APART: readonly ErrorCode[] = ["internal_error", "rate_limited", "api_version_downgrade"];

const ids = ({ path }: EndpointShape) => ({
  id: path.endsWith("/cancel") ? the.spare : the.open,
  merchantId: world.demo.merchants[0]?.id ?? "",
  settlementId: the.taken.id,
  endpointId: the.endpoint,
  deliveryId: the.delivery,
});

function callFor(endpoint: EndpointShape, code: ErrorCode): Call {
  const recipe = OWN[`${endpoint.operation} ${code}`] ?? GENERAL[code];
  if (recipe === undefined) throw new Error(`nothing says how ${endpoint.operation} earns ${code}`);
  const good = exampleCall(endpoint, world.demo, ids(endpoint));
  const call = { ...good, ...recipe(good, endpoint) };
  return { ...call, path: targetOf(call) };
}

function expectRefused(answer: Answer, endpoint: EndpointShape, code: ErrorCode) {
  expect(answer.body.code, answer.text).toBe(code);
  const statuses = [ERROR_STATUS[code], ...(code === "params_validation" ? [422] : [])];
  expect(statuses).toContain(answer.status);
  const shape = endpoint.auth === "gateway" ? errorResponse : merchantErrorResponse;
  expect(shape.safeParse(answer.body).success).toBe(true);
  expect(answer.body.message).not.toBe("");
  expect(answer.headers.get("request-id")).toBe(answer.body.requestId);
}

/** The same key with another body; where there is no body, the same key while the first call is still running. */
async function expectConflict(endpoint: EndpointShape, call: Call): Promise<void> {
  if (call.body !== undefined) {
    await send(server.baseUrl, { ...call, body: { ...(call.body as object), odd: "first" } });
    expectRefused(await send(server.baseUrl, call), endpoint, "idempotency_conflict");
    return;
  }
  const running = await world.db.pool.connect();
  try {
    const [shopping] = world.demo.merchants;
    await running.query("begin");
    await running.query(
      `insert into idempotency_key (scope, key, fingerprint) values ($1, 'used before', sha256('x'))`,
      [`test ${world.demo.partnerId} ${shopping?.id} ${call.path}`],
    );
    const answer = await send(server.baseUrl, call);
    expectRefused(answer, endpoint, "idempotency_conflict");
    expect(answer.headers.get("retry-after")).toBe("1");
  } finally {
    await running.query("rollback");
    running.release();
  }
}

const MATRIX = ENDPOINTS.flatMap((endpoint) =>
  possibleErrors(endpoint)
    .filter((code) => !APART.includes(code))
    .map((code) => [endpoint.operation, code, endpoint] as const),
);

describe("every code of every endpoint", () => {
  // Guarantee: each code an endpoint's contract names is answered by that endpoint, with its status and shape.
  test.for(MATRIX)("%s: %s", async ([, code, endpoint]) => {
    const call = callFor(endpoint, code);
    if (code === "idempotency_conflict") return expectConflict(endpoint, call);
    expectRefused(await send(server.baseUrl, call), endpoint, code);
  });

  // Guarantee: a partner pinned to a later version is not served an earlier one, except by the gateway, which refuses no version it knows.
  test("an older version than the pin", async () => {
    const pin = (version: string) =>
      world.db
        .query("update partner set api_version = $1", [version])
        .then(() => world.db.query("notify credentials"));
    await pin(PREVIEW);
    try {
      for (const endpoint of ENDPOINTS) {
        const call = callFor(endpoint, "api_version_downgrade");
        const answer = await until(
          () => send(server.baseUrl, call),
          ({ body: said }) => endpoint.auth === "gateway" || said.code === "api_version_downgrade",
        );
        if (endpoint.auth === "gateway") expect(answer.body.code).not.toBe("api_version_downgrade");
        else expectRefused(answer, endpoint, "api_version_downgrade");
      }
    } finally {
      await pin(STABLE);
    }
  });

  // Guarantee: too many calls are refused everywhere alike, with the time to wait.
  test("more calls than allowed", async () => {
    for (const endpoint of ENDPOINTS) {
      const good = exampleCall(endpoint, world.demo, ids(endpoint));
      const answer = await until(
        () => send(narrow.baseUrl, { ...good, path: targetOf(good), body: "{" }),
        ({ status }) => status === 429,
        20_000,
      );
      expectRefused(answer, endpoint, "rate_limited");
      const wait = Number(answer.headers.get("retry-after"));
      expect(Number.isInteger(wait) && wait >= 1).toBe(true);
      if (endpoint.auth === "gateway") expect(wait).toBeLessThanOrEqual(2);
    }
  });

  // Guarantee: when something breaks inside, every endpoint says so in the same shape and tells nothing of it.
  test("a broken database", async () => {
    await world.db.query("alter table api_key rename to api_key_gone");
    await world.db.query("notify credentials");
    for (const endpoint of ENDPOINTS) {
      const good = exampleCall(endpoint, world.demo, ids(endpoint));
      const answer = await until(
        () => send(server.baseUrl, { ...good, path: targetOf(good) }),
        ({ status }) => status === 500,
        20_000,
      );
      expectRefused(answer, endpoint, "internal_error");
      expect(answer.text).not.toMatch(/api_key|relation|select|\.ts/);
    }
    await world.db.query("alter table api_key_gone rename to api_key");
    await world.db.query("notify credentials");
  });
});
