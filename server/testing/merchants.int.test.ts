import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "#server/platform/ids.ts";
import { newPartner, partnerCalls, partnerKey, refusal } from "./partner-calls.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const SHOP = { merchantName: "Corner Shop", merchantEmail: "till@shop.test" };

let world: TestWorld;
let server: TestServer;
/** Another partner's key. */
let second: string;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { FLORIN_WORKER: "off" } });
  second = (await newPartner(world)).key;
});
afterAll(() => world?.stop());

const calls = () => partnerCalls(world, () => server);
const ask: ReturnType<typeof partnerCalls>["ask"] = (...call) => calls().ask(...call);
const created = (body: object = {}, key?: string) =>
  calls().merchant({ body, ...(key === undefined ? {} : { key }) });

describe("merchants", () => {
  // Guarantee: a merchant can be made, read, changed and deleted, and every answer shows all of it.
  test("live a whole life", async () => {
    const made = await ask("POST", "/v1/merchants", {
      body: {
        ...SHOP,
        iconUrl: "https://shop.test/icon.png",
        collectData: { when: "above", aboveCents: 50_000 },
        feeBps: 0,
      },
    });
    expect(made.status).toBe(201);
    const { id } = made.body.merchant;
    const whole = {
      id,
      name: "Corner Shop",
      email: "till@shop.test",
      status: "active",
      createdAt: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
      iconUrl: "https://shop.test/icon.png",
      flow: "intermediary",
      settlementSchedule: "instant",
      feeBps: 0,
      feeFixedCents: 0,
      collectData: { when: "above", aboveCents: 50_000 },
      proveOwnership: false,
    };
    expect(made.body).toEqual({ merchant: whole });
    expect((await ask("GET", `/v1/merchants/${id}`)).body).toEqual({
      merchant: { ...whole, settlements: { crypto: [], fiat: [] } },
    });
    const changed = await ask("PATCH", `/v1/merchants/${id}`, {
      body: {
        iconUrl: null,
        flow: "direct",
        proveOwnership: true,
        collectData: { when: "always" },
      },
    });
    expect([changed.status, changed.body]).toEqual([
      200,
      {
        merchant: {
          ...whole,
          iconUrl: null,
          flow: "direct",
          proveOwnership: true,
          collectData: { when: "always", aboveCents: null },
        },
      },
    ]);
    const renamed = await ask("PATCH", `/v1/merchants/${id}`, { body: { merchantName: "New" } });
    expect(renamed.body.merchant).toEqual({ ...changed.body.merchant, name: "New" });
    for (let round = 0; round < 2; round++) {
      const deleted = await ask("DELETE", `/v1/merchants/${id}`);
      expect([deleted.status, deleted.body]).toEqual([200, { id, deleted: true }]);
    }
    for (const [method, body] of [["GET"], ["PATCH", { merchantName: "X" }]] as const)
      expect(refusal(await ask(method, `/v1/merchants/${id}`, { body }))).toEqual([
        404,
        "merchant_not_found",
      ]);
    const listed = await ask("GET", `/v1/merchants?search=${id}`);
    expect(listed.body).toEqual({ merchants: [], totalCount: 0, nextCursor: null });
  });

  // Guarantee: a fee is the operator's alone, whatever a body says.
  test("cannot set their own fee", async () => {
    const id = await created();
    await world.db.query(`update merchant set fee_bps = 40, fee_fixed_cents = 7 where id = $1`, [
      id,
    ]);
    const body = { merchantName: "Cheap", feeBps: 0, feeFixedCents: 0 };
    const { merchant } = (await ask("PATCH", `/v1/merchants/${id}`, { body })).body;
    expect([merchant.name, merchant.feeBps, merchant.feeFixedCents]).toEqual(["Cheap", 40, 7]);
  });

  const bad: [string, object, string][] = [
    ["no name", { merchantEmail: "a@b.test" }, "invalid_params"],
    ["no e-mail", { merchantName: "A" }, "invalid_params"],
    ["an empty name", { ...SHOP, merchantName: "" }, "params_validation"],
    ["a blank name", { ...SHOP, merchantName: "  " }, "params_validation"],
    ["a name of 257", { ...SHOP, merchantName: "x".repeat(257) }, "params_validation"],
    ["a line break in a name", { ...SHOP, merchantName: "a\nb" }, "params_validation"],
    ["no e-mail address", { ...SHOP, merchantEmail: "shop" }, "params_validation"],
    ["an http icon", { ...SHOP, iconUrl: "http://a.test/i.png" }, "params_validation"],
    ["a script for an icon", { ...SHOP, iconUrl: "javascript:alert(1)" }, "params_validation"],
    ["a password in an icon", { ...SHOP, iconUrl: "https://a:b@c.test/" }, "params_validation"],
    ["quotes in an icon", { ...SHOP, iconUrl: 'https://a.test/"><x' }, "params_validation"],
    ["an unknown flow", { ...SHOP, flow: "sideways" }, "invalid_params"],
    ["above nothing", { ...SHOP, collectData: { when: "above" } }, "params_validation"],
    [
      "a fraction of a cent",
      { ...SHOP, collectData: { when: "above", aboveCents: 1.5 } },
      "invalid_params",
    ],
  ];
  // Guarantee: what is not a merchant is refused by name and makes none.
  test.for(bad)("refuse %s", async ([, body, expected]) => {
    const count = async () => (await world.db.query(`select id from merchant`)).length;
    const before = await count();
    const answer = await ask("POST", "/v1/merchants", { body });
    expect(refusal(answer)).toEqual([400, expected]);
    expect(answer.body.issues[0].message).not.toBe("");
    expect(await count()).toBe(before);
  });

  // Guarantee: a change of nothing is refused.
  test("refuse an empty change", async () => {
    const id = await created();
    for (const body of [{}, { unknown: 1 }])
      expect(refusal(await ask("PATCH", `/v1/merchants/${id}`, { body }))).toEqual([
        400,
        "params_validation",
      ]);
  });

  // Guarantee: the same key and body make one merchant, another body is a conflict.
  test("are made once for each Idempotency-Key", async () => {
    const headers = { "Idempotency-Key": newId("request") };
    const [one, two] = await Promise.all([
      ask("POST", "/v1/merchants", { body: SHOP, headers }),
      ask("POST", "/v1/merchants", { body: SHOP, headers }),
    ]);
    expect([one.status, two.text]).toEqual([201, one.text]);
    const other = { ...SHOP, merchantName: "Other" };
    expect(refusal(await ask("POST", "/v1/merchants", { body: other, headers }))).toEqual([
      409,
      "idempotency_conflict",
    ]);
  });

  // Guarantee: a key for one merchant sees that one alone and makes none.
  test("are out of reach for a sibling's key", async () => {
    const sibling = await created();
    const merchantId = world.demo.merchants[0]?.id ?? "";
    const key = await partnerKey(world, world.demo.partnerId, merchantId);
    expect(refusal(await ask("POST", "/v1/merchants", { key, body: SHOP }))).toEqual([
      403,
      "forbidden",
    ]);
    const listed = await ask("GET", "/v1/merchants", { key });
    expect(listed.body.merchants.map((m: { id: string }) => m.id)).toEqual([merchantId]);
    expect((await ask("GET", `/v1/merchants/${merchantId}`, { key })).status).toBe(200);
    expect(refusal(await ask("GET", `/v1/merchants/${sibling}`, { key }))).toEqual([
      404,
      "merchant_not_found",
    ]);
  });

  // Guarantee: walking a list by its cursor meets everything that was there, once each, while more is made.
  test("are listed page by page, newest first", async () => {
    const ids = [];
    for (let n = 0; n < 5; n++)
      ids.push(await created({ ...SHOP, merchantName: `Paged ${n}` }, second));
    const met: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const after: string = cursor === "" ? "" : `&cursor=${cursor}`;
      const page = await ask("GET", `/v1/merchants?limit=2&search=pAgEd${after}`, { key: second });
      met.push(...page.body.merchants.map((m: { id: string }) => m.id));
      cursor = page.body.nextCursor;
      await created({ ...SHOP, merchantName: "Paged later" }, second);
    }
    expect(met).toEqual(ids.toReversed());
    const [one] = ids;
    const only = await ask("GET", `/v1/merchants?search=${one?.slice(4, 20)}`, { key: second });
    expect(only.body.totalCount).toBe(1);
    await world.db.query(`update merchant set status = 'suspended' where id = $1`, [one]);
    const suspended = await ask("GET", "/v1/merchants?status=suspended", { key: second });
    expect(suspended.body.merchants.map((m: { id: string }) => m.id)).toEqual([one]);
    const elsewhere = Buffer.from("time.other 1 mer_1").toString("base64url");
    for (const query of [
      "limit=0",
      "limit=101",
      "status=deleted",
      "cursor=x",
      `cursor=${elsewhere}`,
    ])
      expect(refusal(await ask("GET", `/v1/merchants?${query}`))).toEqual([400, "invalid_params"]);
  });
});

// Guarantee: these calls need a key with the right, and say which header is missing.
test("a partner's calls need a partner's key", async () => {
  const gateway = world.demo.gateway.apiKey;
  const first = world.demo.partner?.apiKey;
  for (const path of [
    "/v1/merchants",
    "/v1/merchants/mer_1",
    "/v1/merchants/mer_1/settlements",
    "/v1/payments",
  ]) {
    expect(refusal(await ask("GET", path, { key: "" }))).toEqual([401, "missing_api_key"]);
    expect(refusal(await ask("GET", path, { key: `${first}x` }))).toEqual([401, "invalid_api_key"]);
    expect(refusal(await ask("GET", path, { key: gateway }))).toEqual([403, "forbidden"]);
  }
});
