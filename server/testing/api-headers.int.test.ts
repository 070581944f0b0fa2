import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createStore } from "#server/db/store.ts";
import type { PaymentEventType } from "#server/domain/payment/state.ts";
import { newId } from "#server/platform/ids.ts";
import { seedMerchant } from "#server/sandbox/seed.ts";
import type { Answer } from "./api.ts";
import {
  type Call,
  changesNothing,
  contents,
  DOORS,
  type Doors,
  expectCommonHeaders,
  expectRefusal,
  openDoors,
  type Refusal,
  send,
} from "./doors.ts";

const STABLE = "2026-02-18";
const PREVIEW = "2026-02-19.preview";
const CREATE = "/v1/merchant/payment";
const GOOD = { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-1" };

let doors: Doors;
let open: string;
let cancelled: string;
/** Headers of a merchant whose partner is pinned to the newest version. */
let pinned: Record<string, string>;

const merchant = () => doors.at("front door").merchantHeaders("intermediary");
const wallet = () => doors.at("front door").gatewayHeaders;
const created = async (): Promise<string> => (await doors.at("front door").create()).body.paymentId;

/** Moves a payment as the service itself would. */
async function move(id: string, type: PaymentEventType): Promise<void> {
  await createStore(
    doors.world.db,
    async () => undefined,
    async () => null,
  ).transaction(async (tx) => {
    const payment = await tx.lockPayment(id);
    if (payment === null) throw new Error("no payment");
    await tx.change(payment, { type, body: {} });
  });
}

beforeAll(async () => {
  doors = await openDoors();
  const { db, asset } = doors.world;
  const { pepper } = doors.world.world.memory;
  [open, cancelled] = [await created(), await created()];
  await move(cancelled, "cancelled_by_merchant");
  const partnerId = newId("partner");
  await db.query(`insert into partner (id, name, api_version) values ($1, 'Ahead', $2)`, [
    partnerId,
    PREVIEW,
  ]);
  const ahead = await seedMerchant(
    db,
    { partnerId, pepper, assets: [asset("usdc")] },
    { name: "Ahead", flow: "intermediary" },
  );
  pinned = { "Api-Key": ahead.apiKey, "Merchant-Id": ahead.id };
});
afterAll(() => doors?.stop());

const NAMES = ["Service-Version", "WCP-Version", "api-version"] as const;
const MALFORMED = { status: 400, code: "invalid_api_version" };
const UNKNOWN = { status: 400, code: "unknown_api_version" };
const VERSIONS: [string, Refusal][] = [
  ["", MALFORMED],
  ["1", MALFORMED],
  ["v1", MALFORMED],
  ["latest", MALFORMED],
  ["2026-2-18", MALFORMED],
  ["2026-02-18.beta", MALFORMED],
  ["2026-02-18.preview.preview", MALFORMED],
  ["2026-02-18, 2026-02-18", MALFORMED],
  ["__proto__", MALFORMED],
  ["2026-02-17", UNKNOWN],
  ["2026-02-18.preview", UNKNOWN],
  ["2026-02-19", UNKNOWN],
  ["2030-01-01", UNKNOWN],
  ["0000-00-00", UNKNOWN],
];
const versionOf = ({ headers }: Answer) => [
  headers.get("service-version"),
  headers.get("wcp-version"),
];

describe.for(DOORS)("through the %s", (door) => {
  const ask = (path: string, headers: Record<string, string>, call: Partial<Call> = {}) =>
    send(doors.baseUrl(door), { path, headers, ...call });
  const create = (headers: Record<string, string>, body: unknown = GOOD) =>
    ask(CREATE, { ...merchant(), ...headers }, { method: "POST", body });

  describe("versions", () => {
    // Guarantee: each of the three names asks for a version, and the answer says which one was applied.
    test.for(NAMES.flatMap((name) => [STABLE, PREVIEW].map((version) => [name, version] as const)))(
      "%s: %s is applied",
      async ([name, version]) => {
        for (const [path, headers] of [
          [`/v1/payments/${open}`, merchant()],
          [`/v1/merchant/payment/${open}/status`, merchant()],
          [`/v1/gateway/payment/${open}`, wallet()],
        ] as const) {
          const answer = await ask(path, { ...headers, [name]: version });
          expect([answer.status, ...versionOf(answer)]).toEqual([200, version, version]);
        }
      },
    );
    test("no header: the partner's pin, and the newest stable version on the gateway", async () => {
      expect(versionOf(await ask(`/v1/payments/${open}`, merchant()))).toEqual([STABLE, STABLE]);
      expect(versionOf(await ask(`/v1/gateway/payment/${open}`, wallet()))).toEqual([
        STABLE,
        STABLE,
      ]);
      const ahead = await create(pinned);
      expect([ahead.status, ...versionOf(ahead)]).toEqual([201, PREVIEW, PREVIEW]);
    });

    // Guarantee: Service-Version decides, then WCP-Version, then api-version; one that does not decide is not read.
    test.for([
      [{ "Service-Version": STABLE, "WCP-Version": PREVIEW, "api-version": "junk" }, STABLE],
      [{ "api-version": STABLE, "WCP-Version": PREVIEW }, PREVIEW],
      [{ "api-version": STABLE, "Service-Version": PREVIEW }, PREVIEW],
      [{ "Wcp-Version": PREVIEW, "API-VERSION": PREVIEW }, PREVIEW],
    ] as [Record<string, string>, string][])("precedence of %o", async ([headers, version]) => {
      for (const [path, auth] of [
        [`/v1/payments/${open}`, merchant()],
        [`/v1/gateway/payment/${open}`, wallet()],
      ] as const) {
        const answer = await ask(path, { ...auth, ...headers });
        expect([answer.status, ...versionOf(answer)]).toEqual([200, version, version]);
      }
    });

    // Guarantee: a version that is none, or that nobody knows, is refused and does nothing.
    test.for(VERSIONS)("%j is refused", async ([version, refusal]) => {
      for (const name of NAMES) {
        const refused = await changesNothing(doors.world.db, () => create({ [name]: version }));
        expectRefusal(refused, CREATE, refusal);
        const path = `/v1/gateway/payment/${open}`;
        expectRefusal(await ask(path, { ...wallet(), [name]: version }), path, refusal);
      }
    });

    // Guarantee: a merchant never gets an older version than its partner's pin; the gateway has no pin.
    test("downgrade", async () => {
      const refusal = { status: 400, code: "api_version_downgrade" };
      const headers = { ...pinned, "Service-Version": STABLE };
      const refused = await changesNothing(doors.world.db, () => create(headers));
      expectRefusal(refused, CREATE, refusal);
      expect((await create({ ...pinned, "Service-Version": PREVIEW })).status).toBe(201);
      const seen = await ask(`/v1/gateway/payment/${open}`, {
        "Api-Key": doors.world.demo.gateway.apiKey,
        "Service-Version": STABLE,
      });
      expect(seen.status).toBe(200);
    });
  });

  describe("merchant statuses", () => {
    // Guarantee: the specification's own calls see its five statuses; deployed terminals, known by the older header names, see all six.
    test.for([
      [{}, "pending", "failed"],
      [{ "Service-Version": PREVIEW }, "pending", "failed"],
      [{ "WCP-Version": PREVIEW }, "requires_action", "cancelled"],
      [{ "api-version": STABLE }, "requires_action", "cancelled"],
      [{ "Service-Version": STABLE, "WCP-Version": STABLE }, "requires_action", "cancelled"],
    ] as [Record<string, string>, string, string][])("%o", async ([headers, first, last]) => {
      const made = await create(headers);
      expect([made.status, made.body.status]).toEqual([201, first]);
      const status = async (id: string) =>
        (await ask(`${CREATE}/${id}/status`, { ...merchant(), ...headers })).body;
      expect(await status(open)).toMatchObject({ status: first, isFinal: false, pollInMs: 1000 });
      expect(await status(cancelled)).toMatchObject({
        status: last,
        isFinal: true,
        pollInMs: null,
      });
      const details = await ask(`/v1/payments/${cancelled}`, { ...merchant(), ...headers });
      expect(details.body).toMatchObject({
        status: "cancelled",
        failureCode: null,
        info: null,
        settlement: null,
      });
      const seen = await ask(`/v1/gateway/payment/${cancelled}/status`, {
        ...wallet(),
        ...headers,
      });
      expect(seen.body).toMatchObject({ status: "cancelled", isFinal: true, pollInMs: null });
    });
  });

  describe("idempotency", () => {
    const keyed = (value: string, body: unknown = GOOD, headers: Record<string, string> = {}) =>
      create({ "Idempotency-Key": value, ...headers }, body);
    const payments = async () =>
      (await doors.world.db.query<{ n: number }>(`select count(*)::int as n from payment`, []))[0]
        ?.n ?? 0;

    // Guarantee: a create that is repeated makes no second payment and is answered the same bytes.
    test("the same key and body", async () => {
      const first = await keyed(`same-${door}`);
      expect([first.status, first.headers.get("idempotent-replayed")]).toEqual([201, null]);
      for (const other of DOORS) {
        const again = await changesNothing(doors.world.db, () =>
          send(doors.baseUrl(other), {
            method: "POST",
            path: CREATE,
            headers: { ...merchant(), "Idempotency-Key": `same-${door}` },
            body: GOOD,
          }),
        );
        expect([again.status, again.text]).toEqual([201, first.text]);
        expect(again.headers.get("idempotent-replayed")).toBe("true");
        expectCommonHeaders(again, false);
        expect(again.headers.get("request-id")).not.toBe(first.headers.get("request-id"));
      }
    });
    test("the same body with its members in another order", async () => {
      const first = await keyed(`order-${door}`);
      const body = ` {"referenceId":"order-1","amount":{"value":"1250","unit":"iso4217/USD"}}`;
      const again = await keyed(`order-${door}`, body);
      expect([again.status, again.text]).toEqual([201, first.text]);
    });

    // Guarantee: a key that stands for one body is never taken for another.
    test.for([
      ["another amount", { ...GOOD, amount: { unit: "iso4217/USD", value: "1251" } }],
      ["another reference", { ...GOOD, referenceId: "order-2" }],
      ["one member more", { ...GOOD, description: "shoes" }],
    ] as [string, unknown][])("the same key and %s", async ([name, body]) => {
      const key = `other-${name}-${door}`;
      expect((await keyed(key)).status).toBe(201);
      const refused = await changesNothing(doors.world.db, () => keyed(key, body));
      expectRefusal(refused, CREATE, { status: 409, code: "idempotency_conflict" });
      // The first body is still answered.
      expect((await keyed(key)).headers.get("idempotent-replayed")).toBe("true");
    });
    test("the same key of another merchant is another key", async () => {
      const first = await keyed(`scope-${door}`);
      const second = await keyed(`scope-${door}`, GOOD, doors.at(door).merchantHeaders("direct"));
      expect(second.status).toBe(201);
      expect(second.headers.get("idempotent-replayed")).toBeNull();
      expect(second.body.paymentId).not.toBe(first.body.paymentId);
    });

    // Guarantee: one of many equal calls at once makes the payment, and all of them are told of it.
    test("twelve at once, through both doors", async () => {
      const before = await payments();
      const answers = await Promise.all(
        Array.from({ length: 12 }, (_, at) =>
          send(doors.baseUrl(at % 2 === 0 ? "front door" : "Next"), {
            method: "POST",
            path: CREATE,
            headers: { ...merchant(), "Idempotency-Key": `race-${door}` },
            body: GOOD,
          }),
        ),
      );
      expect(new Set(answers.map(({ status, text }) => `${status} ${text}`)).size).toBe(1);
      expect(answers[0]?.status).toBe(201);
      expect(
        answers.filter(({ headers }) => headers.get("idempotent-replayed") === null).length,
      ).toBe(1);
      expect(await payments()).toBe(before + 1);
    });

    // Guarantee: a key of another shape is refused before anything is made.
    test.for([
      ["an empty one", "", "params_validation"],
      ["256 characters", "k".repeat(256), "params_validation"],
      ["latin-1 bytes", "k\u00e9y", "header_not_ascii"],
      ["a tab", "a\tb", "header_not_ascii"],
    ] as const)("a bad key: %s", async ([, key, code]) => {
      const refused = await changesNothing(doors.world.db, () => keyed(key));
      expectRefusal(refused, CREATE, { status: 400, code });
    });
    test("255 characters are a key", async () => {
      const key = `${door}~ !"#`.padEnd(255, "k");
      expect((await keyed(key)).status).toBe(201);
      expect((await keyed(key)).headers.get("idempotent-replayed")).toBe("true");
    });

    // Guarantee: a refusal by a rule is kept like a success; a body that could not be read is not, since nothing had begun.
    test("refusals are replayed", async () => {
      const small = { ...GOOD, amount: { unit: "iso4217/USD", value: "9" } };
      const before = await contents(doors.world.db);
      const first = await keyed(`small-${door}`, small);
      expectRefusal(first, CREATE, {
        status: 400,
        code: "params_validation",
        message: /at least 10 to cover fees/,
      });
      const { "public.idempotency_key": kept, ...rest } = await contents(doors.world.db);
      expect(kept).not.toBe(before["public.idempotency_key"]);
      const { "public.idempotency_key": _, ...untouched } = before;
      expect(rest).toEqual(untouched);
      const again = await changesNothing(doors.world.db, () => keyed(`small-${door}`, small));
      expect([again.status, again.text]).toEqual([400, first.text]);
      expect(again.headers.get("idempotent-replayed")).toBe("true");
      expectRefusal(await keyed(`small-${door}`), CREATE, {
        status: 409,
        code: "idempotency_conflict",
      });
    });
    test("an unreadable body leaves its key free", async () => {
      expect((await keyed(`free-${door}`, { referenceId: "order-1" })).status).toBe(400);
      expect((await keyed(`free-${door}`, "{")).status).toBe(400);
      expect((await keyed(`free-${door}`)).status).toBe(201);
    });
    test("a key on a read is ignored", async () => {
      for (const id of [open, cancelled]) {
        const answer = await ask(`/v1/payments/${id}`, {
          ...merchant(),
          "Idempotency-Key": "read",
        });
        expect([answer.status, answer.headers.get("idempotent-replayed")]).toEqual([200, null]);
      }
    });
  });

  describe("queries", () => {
    const options = (query: string) =>
      ask(`/v1/gateway/payment/${open}/options${query}`, wallet(), {
        method: "POST",
        body: { accounts: [`eip155:31337:${doors.world.buyer("empty").address}`] },
      });
    const status = (query: string) => ask(`/v1/gateway/payment/${open}/status${query}`, wallet());
    const confirm = (query: string) =>
      ask(`/v1/gateway/payment/${open}/confirm${query}`, wallet(), {
        method: "POST",
        body: { optionId: "opt_none", results: [] },
      });
    const BAD = { status: 400, code: "invalid_params" };

    // Guarantee: a known parameter comes once and means exactly what it says.
    test.for([
      "?maxPollMs=-1",
      "?maxPollMs=1.5",
      "?maxPollMs=1e3",
      "?maxPollMs=0x10",
      "?maxPollMs=",
      "?maxPollMs",
      "?maxPollMs=%20",
      "?maxPollMs=soon",
      "?maxPollMs=Infinity",
      "?maxPollMs=0&maxPollMs=0",
      "?maxPollMs=0&a=b&max%50ollMs=1",
    ])("status and confirm: %s is refused", async (query) => {
      for (const [name, call] of [
        ["status", status],
        ["confirm", confirm],
      ] as const)
        expectRefusal(
          await changesNothing(doors.world.db, () => call(query)),
          `/v1/gateway/${name}`,
          BAD,
        );
    });
    test.for([
      "?includePaymentInfo=yes",
      "?includePaymentInfo=1",
      "?includePaymentInfo=TRUE",
      "?includePaymentInfo=",
      "?includePaymentInfo=true&includePaymentInfo=true",
      "?includePaymentInfo=true&includePaymentInfo=false",
    ])("options: %s is refused", async (query) => {
      expectRefusal(
        await changesNothing(doors.world.db, () => options(query)),
        "/v1/gateway/",
        BAD,
      );
    });
    test("unknown parameters are ignored, also when repeated", async () => {
      expect((await options("?a=1&a=2&__proto__=x&toString=")).status).toBe(200);
      expect((await status("?MAXPOLLMS=x&maxpollms=y")).status).toBe(200);
      expect((await ask(`/v1/payments/${open}?maxPollMs=x`, merchant())).status).toBe(200);
    });
    test("includePaymentInfo", async () => {
      expect((await options("")).body).toEqual({ options: [], info: null, collectData: null });
      expect((await options("?includePaymentInfo=false")).body.info).toBeNull();
      expect((await options("?includePaymentInfo=true")).body.info).toEqual({
        status: "requires_action",
        amount: {
          unit: "iso4217/USD",
          value: "1250",
          display: { assetName: "US Dollar", assetSymbol: "USD", decimals: 2 },
        },
        expiresAt: expect.any(Number),
        merchant: { name: "Demo Shop", iconUrl: null },
        buyer: null,
      });
    });
  });

  describe("browsers", () => {
    const PREFLIGHT = {
      Origin: "https://wallet.test",
      "Access-Control-Request-Method": "POST",
      "Access-Control-Request-Headers": "api-key,content-type,service-version",
    };
    // Guarantee: a page of any origin may call the gateway without credentials of its own, and nothing else.
    test.for(["", "/options", "/fetch", "/confirm", "/status"])(
      "preflight of the gateway's payment%s",
      async (end) => {
        const { status, headers } = await ask(`/v1/gateway/payment/${open}${end}`, PREFLIGHT, {
          method: "OPTIONS",
        });
        expect([status, headers.get("access-control-allow-origin")]).toEqual([204, "*"]);
        expect(headers.get("access-control-allow-credentials")).toBeNull();
        const list = (name: string) =>
          (headers.get(name) ?? "").split(",").map((one) => one.trim().toLowerCase());
        expect(list("access-control-allow-methods")).toEqual(
          expect.arrayContaining(["get", "post"]),
        );
        expect(list("access-control-allow-headers")).toEqual(
          expect.arrayContaining([
            "api-key",
            "merchant-id",
            "app-id",
            "client-id",
            "content-type",
            "service-version",
            "wcp-version",
            "api-version",
            "sdk-name",
            "sdk-version",
            "sdk-platform",
            "idempotency-key",
          ]),
        );
        expect(list("access-control-expose-headers")).toEqual(
          expect.arrayContaining(["request-id", "retry-after", "service-version", "wcp-version"]),
        );
      },
    );
    test.for([CREATE, "/v1/merchant/payment/pay_x/status", "/v1/payments/pay_x"])(
      "%s lets no page in",
      async (path) => {
        const asked = await ask(path, PREFLIGHT, { method: "OPTIONS" });
        const got = await ask(path, { ...merchant(), Origin: "https://wallet.test" });
        for (const { headers } of [asked, got])
          expect([...headers].filter(([name]) => name.startsWith("access-control-"))).toEqual([]);
      },
    );
    test("answers and refusals alike may be read", async () => {
      for (const id of [open, "pay_none"]) {
        const { headers } = await ask(`/v1/gateway/payment/${id}`, { ...wallet(), Origin: "null" });
        expect(headers.get("access-control-allow-origin")).toBe("*");
      }
    });
  });

  // Guarantee: every answer names its request and the applied version.
  test("headers of every answer", async () => {
    for (const id of [open, cancelled]) {
      expectCommonHeaders(await ask(`/v1/payments/${id}`, merchant()), false);
      expectCommonHeaders(await ask(`${CREATE}/${id}/status`, merchant()), false);
      expectCommonHeaders(await ask(`/v1/gateway/payment/${id}`, wallet()), true);
      expectCommonHeaders(await ask(`/v1/gateway/payment/${id}/status`, wallet()), true);
    }
    const head = await ask(`/v1/payments/${open}`, merchant(), { method: "HEAD" });
    expect([head.status, head.text]).toEqual([200, ""]);
    expectCommonHeaders(head, false);
  });
});
