import { afterAll, beforeAll, describe, expect, test } from "vitest";
import {
  createCredentials,
  issueKey,
  keyDigest,
  registerApp,
  revokeKey,
} from "#server/db/credentials.ts";
import { createListener } from "#server/db/listener.ts";
import { newId } from "#server/platform/ids.ts";
import { createLog } from "#server/platform/log.ts";
import { seedMerchant } from "#server/sandbox/seed.ts";
import { type Answer, until, untilOffered } from "./api.ts";
import {
  type Call,
  changesNothing,
  DOORS,
  type Door,
  type Doors,
  expectRefusal,
  type HeaderLines,
  openDoors,
  type Refusal,
  send,
} from "./doors.ts";

const MISSING_PAYMENT = "pay_00000000000000000000000000";
const A_DAY_MS = 24 * 3_600 * 1_000;
let doors: Doors;
/** Payment of the first merchant with an option, and what else the tables below need. */
let own: { id: string; optionId: string; account: string };
let key: Record<
  | "merchant"
  | "wide"
  | "wallet"
  | "revoked"
  | "live"
  | "liveWallet"
  | "scoped"
  | "foreign"
  | "spare",
  string
>;
let app: Record<"good" | "revoked" | "live", string>;
let merchant: Record<"own" | "sibling" | "foreign" | "live" | "deleted", string>;
let foreign: { id: string; live: string };

type Kind = "merchant" | "gateway";
type Scopes = Parameters<typeof issueKey>[2]["scopes"];

beforeAll(async () => {
  doors = await openDoors();
  const { world } = doors;
  const { db, demo } = world;
  const { pepper } = world.world.memory;
  const assets = [world.asset("usdc"), world.asset("usdt")];
  const issue = async (
    partnerId: string,
    merchantId: string | null,
    scopes: Scopes,
    environment: "test" | "live" = "test",
  ) => (await issueKey(db.query, pepper, { partnerId, merchantId, environment, scopes })).key;
  const [first, second] = demo.merchants;
  if (first === undefined || second === undefined) throw new Error("no merchants");
  const otherPartner = newId("partner");
  await db.query(`insert into partner (id, name, api_version) values ($1, 'Other', '2026-02-18')`, [
    otherPartner,
  ]);
  const seed = { name: "Other shop", flow: "intermediary" } as const;
  const theirs = await seedMerchant(db, { partnerId: otherPartner, pepper, assets }, seed);
  const partnerId = demo.partnerId;
  const gone = await seedMerchant(db, { partnerId, pepper, assets }, seed);
  await db.query(`update merchant set status = 'deleted' where id = $1`, [gone.id]);
  const live = await seedMerchant(
    db,
    { partnerId, pepper, assets, environment: "live" },
    { ...seed, name: "Live shop" },
  );
  merchant = {
    own: first.id,
    sibling: second.id,
    foreign: theirs.id,
    live: live.id,
    deleted: gone.id,
  };
  const revoked = await issueKey(db.query, pepper, {
    partnerId,
    merchantId: first.id,
    environment: "test",
    scopes: ["merchant", "gateway"],
  });
  await revokeKey(db.query, revoked.id);
  key = {
    merchant: first.apiKey,
    wide: await issue(partnerId, null, ["merchant"]),
    wallet: demo.gateway.apiKey,
    revoked: revoked.key,
    live: live.apiKey,
    liveWallet: await issue(partnerId, null, ["gateway"], "live"),
    scoped: await issue(partnerId, first.id, ["merchant", "gateway"]),
    foreign: await issue(otherPartner, null, ["gateway"]),
    spare: await issue(partnerId, null, ["gateway"]),
  };
  const register = (environment: "test" | "live") =>
    registerApp(db.query, { partnerId, environment, name: "App" });
  app = { good: demo.gateway.appId, revoked: await register("test"), live: await register("live") };
  await db.query(`update app set revoked_at = now() where id = $1`, [app.revoked]);

  const api = doors.at("front door");
  const account = `eip155:31337:${world.buyer("everything").address}`;
  const created = await api.create();
  const listed = await untilOffered(() => api.options(created.body.paymentId, [account]));
  own = { id: created.body.paymentId, optionId: listed.body.options[0].id, account };
  const sibling = await api.create({ flow: "direct" });
  foreign = { id: sibling.body.paymentId, live: newId("payment") };
  await db.query(
    `insert into payment select * from jsonb_populate_record(null::payment, (select to_jsonb(p)
       || jsonb_build_object('id', $1::text, 'environment', 'live', 'merchant_id', $2::text) from payment p where id = $3))`,
    [foreign.live, live.id, own.id],
  );
});
afterAll(() => doors?.stop());

/** Every endpoint that names a payment or makes one, with a body that would be taken. */
const ENDPOINTS: { name: string; kind: Kind; missing: string; call: (id: string) => Call }[] = [
  {
    name: "POST /v1/merchant/payment",
    kind: "merchant",
    missing: "missing_merchant_api_key",
    call: () => ({
      method: "POST",
      path: "/v1/merchant/payment",
      body: { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-1" },
    }),
  },
  {
    name: "GET /v1/merchant/payment/{id}/status",
    kind: "merchant",
    missing: "missing_merchant_api_key",
    call: (id) => ({ path: `/v1/merchant/payment/${id}/status` }),
  },
  {
    name: "GET /v1/payments/{id}",
    kind: "merchant",
    missing: "missing_api_key",
    call: (id) => ({ path: `/v1/payments/${id}` }),
  },
  {
    name: "GET /v1/gateway/payment/{id}",
    kind: "gateway",
    missing: "missing_auth_headers",
    call: (id) => ({ path: `/v1/gateway/payment/${id}` }),
  },
  {
    name: "GET /v1/gateway/payment/{id}/status",
    kind: "gateway",
    missing: "missing_auth_headers",
    call: (id) => ({ path: `/v1/gateway/payment/${id}/status` }),
  },
  {
    name: "POST /v1/gateway/payment/{id}/options",
    kind: "gateway",
    missing: "missing_auth_headers",
    call: (id) => ({
      method: "POST",
      path: `/v1/gateway/payment/${id}/options`,
      body: { accounts: [own.account] },
    }),
  },
  {
    name: "POST /v1/gateway/payment/{id}/fetch",
    kind: "gateway",
    missing: "missing_auth_headers",
    call: (id) => ({
      method: "POST",
      path: `/v1/gateway/payment/${id}/fetch`,
      body: { optionId: own.optionId, data: "" },
    }),
  },
  {
    name: "POST /v1/gateway/payment/{id}/confirm",
    kind: "gateway",
    missing: "missing_auth_headers",
    call: (id) => ({
      method: "POST",
      path: `/v1/gateway/payment/${id}/confirm`,
      body: {
        optionId: own.optionId,
        results: [{ type: "walletRpc", data: [`0x${"11".repeat(65)}`] }],
      },
    }),
  },
];
const of = (kind: Kind) => ENDPOINTS.filter((endpoint) => endpoint.kind === kind);

const BAD_KEY = { status: 401, code: "invalid_api_key" };
const BAD_APP = { status: 401, code: "invalid_app_id" };
const NOT_ASCII = { status: 400, code: "header_not_ascii" };
const FORBIDDEN = { status: 403, code: "forbidden" };
const LIVE = { status: 403, code: "not_sandbox_api_key" };
const NO_MERCHANT = { status: 404, code: "merchant_not_found" };
const MISSING = "missing" as const;
type Case = [string, () => HeaderLines, Refusal | typeof MISSING];

const id = (headers: Record<string, string>) => ({ "Merchant-Id": merchant.own, ...headers });
/** Keys no server knows, in every shape a guess can have. */
const BAD_KEYS: [string, () => string][] = [
  ["unknown", () => `sk_test_${"A".repeat(43)}`],
  ["unknown wallet", () => `gk_test_${"A".repeat(43)}`],
  ["revoked", () => key.revoked],
  ["malformed", () => "hunter2"],
  ["cut short", () => key.merchant.slice(0, -1)],
  ["one character longer", () => `${key.merchant}A`],
  ["in capitals", () => key.merchant.toUpperCase()],
  ["with a quote", () => "sk_test_' or 1=1 --"],
  ["of 5,000 characters", () => `sk_test_${"A".repeat(5_000)}`],
  ["that is an app's public id", () => app.good],
  ["that says bearer", () => `Bearer ${key.merchant}`],
];

const MERCHANT_CASES: Case[] = [
  ["no headers", () => ({}), MISSING],
  ["an empty key", () => id({ "Api-Key": "" }), MISSING],
  ["a merchant without a key", () => id({}), MISSING],
  ["an app in place of a key", () => id({ "App-Id": app.good, "Client-Id": "c" }), MISSING],
  [
    "a key without a merchant",
    () => ({ "Api-Key": key.merchant }),
    { status: 401, code: "missing_merchant_id" },
  ],
  [
    "a key with an empty merchant",
    () => ({ "Api-Key": key.merchant, "Merchant-Id": "" }),
    { status: 401, code: "missing_merchant_id" },
  ],
  ...BAD_KEYS.map(
    ([name, make]): Case => [`a key ${name}`, () => id({ "Api-Key": make() }), BAD_KEY],
  ),
  [
    "the key twice",
    () => [
      ["Api-Key", key.merchant],
      ["Api-Key", key.merchant],
      ["Merchant-Id", merchant.own],
    ],
    BAD_KEY,
  ],
  [
    "a wrong key after the right one",
    () => [
      ["Api-Key", key.merchant],
      ["api-key", "x"],
      ["Merchant-Id", merchant.own],
    ],
    BAD_KEY,
  ],
  ["a key of latin-1 bytes", () => id({ "Api-Key": "sk_test_k\u00e9y" }), NOT_ASCII],
  ["a key of high bytes", () => id({ "Api-Key": "\u0080\u00ff" }), NOT_ASCII],
  ["a key with a tab", () => id({ "Api-Key": "sk\ttest" }), NOT_ASCII],
  [
    "a merchant of latin-1 bytes",
    () => ({ "Api-Key": key.merchant, "Merchant-Id": "m\u00e9r" }),
    NOT_ASCII,
  ],
  [
    "an idempotency key of latin-1 bytes",
    () => id({ "Api-Key": key.merchant, "Idempotency-Key": "\u00e9" }),
    NOT_ASCII,
  ],
  ["a wallet's key", () => id({ "Api-Key": key.wallet }), FORBIDDEN],
  ["a live key", () => ({ "Api-Key": key.live, "Merchant-Id": merchant.live }), LIVE],
  ["a live wallet's key", () => id({ "Api-Key": key.liveWallet }), LIVE],
  [
    "an unknown merchant",
    () => ({ "Api-Key": key.merchant, "Merchant-Id": "mer_none" }),
    NO_MERCHANT,
  ],
  ["a malformed merchant", () => ({ "Api-Key": key.merchant, "Merchant-Id": "../x" }), NO_MERCHANT],
  [
    "the merchant twice",
    () => [
      ["Api-Key", key.merchant],
      ["Merchant-Id", merchant.own],
      ["Merchant-Id", merchant.own],
    ],
    NO_MERCHANT,
  ],
  [
    "another merchant of the partner, with a key for one",
    () => ({ "Api-Key": key.merchant, "Merchant-Id": merchant.sibling }),
    NO_MERCHANT,
  ],
  [
    "another partner's merchant",
    () => ({ "Api-Key": key.wide, "Merchant-Id": merchant.foreign }),
    NO_MERCHANT,
  ],
  [
    "a live merchant with a test key",
    () => ({ "Api-Key": key.wide, "Merchant-Id": merchant.live }),
    NO_MERCHANT,
  ],
  [
    "a merchant that was deleted",
    () => ({ "Api-Key": key.wide, "Merchant-Id": merchant.deleted }),
    NO_MERCHANT,
  ],
];

const GATEWAY_CASES: Case[] = [
  ["no headers", () => ({}), MISSING],
  ["an empty key", () => ({ "Api-Key": "" }), MISSING],
  ["a merchant's id alone", () => ({ "Merchant-Id": merchant.own }), MISSING],
  [
    "an app without a client",
    () => ({ "App-Id": app.good }),
    { status: 401, code: "missing_client_id" },
  ],
  [
    "an app with an empty client",
    () => ({ "App-Id": app.good, "Client-Id": "" }),
    { status: 401, code: "missing_client_id" },
  ],
  [
    "a client without an app",
    () => ({ "Client-Id": "c" }),
    { status: 401, code: "missing_app_id" },
  ],
  [
    "a client with an empty app",
    () => ({ "App-Id": "", "Client-Id": "c" }),
    { status: 401, code: "missing_app_id" },
  ],
  [
    "both modes at once",
    () => ({ "Api-Key": key.wallet, "App-Id": app.good, "Client-Id": "c" }),
    { status: 400, code: "conflicting_auth_headers" },
  ],
  [
    "a key and an app without a client",
    () => ({ "Api-Key": key.wallet, "App-Id": app.good }),
    { status: 400, code: "conflicting_auth_headers" },
  ],
  ...BAD_KEYS.map(
    ([name, make]): Case => [`a key ${name}`, () => ({ "Api-Key": make() }), BAD_KEY],
  ),
  [
    "the key twice",
    () => [
      ["Api-Key", key.wallet],
      ["Api-Key", key.wallet],
    ],
    BAD_KEY,
  ],
  ["a key of latin-1 bytes", () => ({ "Api-Key": "gk_test_k\u00e9y" }), NOT_ASCII],
  ["an app of latin-1 bytes", () => ({ "App-Id": "app_\u00e9", "Client-Id": "c" }), NOT_ASCII],
  ["a client of latin-1 bytes", () => ({ "App-Id": app.good, "Client-Id": "\u00fc" }), NOT_ASCII],
  [
    "a kit's name of latin-1 bytes",
    () => ({ "Api-Key": key.wallet, "Sdk-Name": "\u00fc" }),
    NOT_ASCII,
  ],
  ["an unknown app", () => ({ "App-Id": `app_test_${"A".repeat(43)}`, "Client-Id": "c" }), BAD_APP],
  ["a revoked app", () => ({ "App-Id": app.revoked, "Client-Id": "c" }), BAD_APP],
  ["a private key in the app's place", () => ({ "App-Id": key.wallet, "Client-Id": "c" }), BAD_APP],
  [
    "the app twice",
    () => [
      ["App-Id", app.good],
      ["App-Id", app.good],
      ["Client-Id", "c"],
    ],
    BAD_APP,
  ],
  ["a merchant's key without the right", () => ({ "Api-Key": key.merchant }), FORBIDDEN],
  ["a live key", () => ({ "Api-Key": key.liveWallet }), LIVE],
  ["a live merchant's key", () => ({ "Api-Key": key.live }), LIVE],
  ["a live app", () => ({ "App-Id": app.live, "Client-Id": "c" }), LIVE],
];

const call = (
  door: Door,
  endpoint: (typeof ENDPOINTS)[number],
  headers: HeaderLines,
  of = own.id,
) => send(doors.baseUrl(door), { ...endpoint.call(of), headers });

/** An answer without what differs from one request to the next. */
const lasting = ({ status, headers, text }: Answer) => ({
  status,
  text: text.replaceAll(headers.get("request-id") ?? "?", "(request)"),
  headers: [...headers].filter(([name]) => !["request-id", "date", "ratelimit"].includes(name)),
});

describe.for(DOORS)("through the %s", (door) => {
  const refuses = async (kind: Kind, headers: () => HeaderLines, refusal: Case[2]) => {
    for (const endpoint of of(kind)) {
      const expected = refusal === MISSING ? { status: 401, code: endpoint.missing } : refusal;
      const answer = await changesNothing(doors.world.db, () => call(door, endpoint, headers()));
      expectRefusal(answer, endpoint.call(own.id).path, expected);
    }
  };

  // Guarantee: nobody gets past a merchant endpoint without a good test key and a merchant that is the key's.
  test.for(MERCHANT_CASES)("merchant side: %s", ([, headers, refusal]) =>
    refuses("merchant", headers, refusal),
  );

  // Guarantee: nobody gets past a gateway endpoint without exactly one of the two modes, and a good credential in it.
  test.for(GATEWAY_CASES)("gateway: %s", ([, headers, refusal]) =>
    refuses("gateway", headers, refusal),
  );

  // Guarantee: who guesses keys learns nothing from the refusals.
  test.for(ENDPOINTS.map((endpoint) => [endpoint.name, endpoint] as const))(
    "unknown, malformed and revoked keys look alike: %s",
    async ([, endpoint]) => {
      const answers = [];
      for (const [, make] of BAD_KEYS)
        answers.push(lasting(await call(door, endpoint, id({ "Api-Key": make() }))));
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    },
  );
  test("foreign, deleted and missing merchants look alike", async () => {
    for (const endpoint of of("merchant")) {
      const answers = [];
      for (const one of ["mer_none", merchant.foreign, merchant.deleted, merchant.live])
        answers.push(
          lasting(await call(door, endpoint, { "Api-Key": key.wide, "Merchant-Id": one })),
        );
      for (const answer of answers) expect(answer).toEqual(answers[0]);
    }
  });

  // Guarantee: a payment of somebody else, or of the other environment, is not to be told from one that never was.
  test.for([
    ["another merchant's", () => foreign.id],
    ["a live one", () => foreign.live],
  ] as const)("a foreign payment is a missing one: %s", async ([, theirs]) => {
    for (const endpoint of ENDPOINTS.slice(1)) {
      const headers = id({ "Api-Key": key.scoped });
      const answer = await changesNothing(doors.world.db, () =>
        call(door, endpoint, headers, theirs()),
      );
      expectRefusal(answer, endpoint.call(own.id).path, { status: 404, code: "payment_not_found" });
      const missing = await call(door, endpoint, headers, MISSING_PAYMENT);
      expect(lasting(answer)).toEqual(lasting(missing));
    }
  });
  test("a live payment is missing for every wallet", async () => {
    for (const headers of [
      { "Api-Key": key.wallet },
      { "App-Id": app.good, "Client-Id": "c" },
    ] as Record<string, string>[])
      for (const endpoint of of("gateway")) {
        const answer = await call(door, endpoint, headers, foreign.live);
        expectRefusal(answer, "/v1/gateway/", { status: 404, code: "payment_not_found" });
      }
  });

  // Guarantee: the credentials refused above for one reason each do work where they should.
  test.for([
    ["a merchant's key", "merchant", () => ({ "Api-Key": key.merchant })],
    ["a partner's key for one of its merchants", "merchant", () => ({ "Api-Key": key.wide })],
    ["a wallet's key", "gateway", () => ({ "Api-Key": key.wallet })],
    ["an app with a client", "gateway", () => ({ "App-Id": app.good, "Client-Id": "any client" })],
    ["another partner's wallet key", "gateway", () => ({ "Api-Key": key.foreign })],
    ["a merchant's key with the gateway's scope", "gateway", () => ({ "Api-Key": key.scoped })],
  ] as [string, Kind, () => Record<string, string>][])("works: %s", async ([, kind, headers]) => {
    for (const endpoint of of(kind).filter(({ name }) => name.startsWith("GET")))
      expect((await call(door, endpoint, id(headers()))).status).toBe(200);
  });
});

// Guarantee: a key that is revoked stops working, behind every door.
test("a revocation is noticed by every process", async () => {
  const endpoint = of("gateway")[1];
  if (endpoint === undefined) throw new Error("no endpoint");
  const ask = (door: Door) => () => call(door, endpoint, { "Api-Key": key.spare });
  for (const door of DOORS) expect((await ask(door)()).status).toBe(200);
  await revokeKey(doors.world.db.query, await idOf(key.spare));
  for (const door of DOORS) await until(ask(door), ({ status }) => status === 401);
});

// Guarantee: a revocation is noticed because the database announces it, not only when what is remembered grows old.
test("a revocation is announced", async () => {
  const { db, demo, world } = doors.world;
  const { pepper } = world.memory;
  const log = createLog("silent");
  const listener = createListener(db.url, ["credentials"], log);
  const listening = new Promise<void>((resolve) => listener.onConnect(resolve));
  try {
    const credentials = createCredentials(db.query, pepper, listener, log, A_DAY_MS);
    await listening;
    const { partnerId } = demo;
    const owner = {
      partnerId,
      merchantId: null,
      environment: "test",
      scopes: ["gateway"],
    } as const;
    const issued = await issueKey(db.query, pepper, owner);
    expect(await credentials.key(issued.key)).toMatchObject({ id: issued.id });
    await revokeKey(db.query, issued.id);
    await until(
      async () => credentials.key(issued.key),
      (found) => found === null,
    );
  } finally {
    await listener.close();
  }
});

/** The id of a key, by the only thing that is stored of it. */
async function idOf(clear: string): Promise<string> {
  const [row] = await doors.world.db.query<{ id: string }>(
    `select id from api_key where digest = $1`,
    [keyDigest(doors.world.world.memory.pepper, clear)],
  );
  return row?.id ?? "";
}

// Guarantee: whatever was sent above, no credential stands in a log.
test("no log holds a key", () => {
  for (const door of DOORS) {
    const output = doors.output(door);
    expect(output.length).toBeGreaterThan(1_000);
    for (const secret of [...Object.values(key), "hunter2"]) expect(output).not.toContain(secret);
  }
});
