import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { newId } from "#server/platform/ids.ts";
import { actors, until } from "./api.ts";
import { anonymous, freshAccount, newPartner, partnerCalls, refusal } from "./partner-calls.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const CHAIN = "eip155:31337";

let world: TestWorld;
let server: TestServer;
/** Another partner's key. */
let second: string;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { FLORIN_SETTLEMENT_BATCH_S: "4" } });
  second = (await newPartner(world)).key;
});
afterAll(() => world?.stop());

const calls = () => partnerCalls(world, () => server);
type Calls = ReturnType<typeof partnerCalls>;
const ask: Calls["ask"] = (...call) => calls().ask(...call);
const add: Calls["add"] = (...call) => calls().add(...call);
const path = (merchantId: string, id?: string) =>
  `/v1/merchants/${merchantId}/settlements${id === undefined ? "" : `/crypto/${id}`}`;

describe("settlement destinations", () => {
  // Guarantee: a destination can be added, read, moved and removed; one asset has one.
  test("live a whole life", async () => {
    const merchantId = await calls().merchant();
    const [usdc, usdt] = [world.asset("usdc"), world.asset("usdt")];
    const mine = freshAccount();
    const upper = usdc.replace(/0x.*/, (hex) => `0x${hex.slice(2).toUpperCase()}`);
    const added = await add(merchantId, [{ asset: upper, destination: mine }]);
    expect(added.status).toBe(201);
    const [row] = added.body.settlements;
    expect(row).toEqual({ id: row.id, asset: usdc, destination: mine.toLowerCase() });
    expect((await ask("GET", path(merchantId))).body).toEqual({ fiat: [], crypto: [row] });
    expect((await ask("GET", path(merchantId, row.id))).body).toEqual(row);
    const both = [
      { asset: usdt, destination: mine },
      { asset: usdc, destination: mine },
    ];
    expect(refusal(await add(merchantId, both))).toEqual([409, "settlement_asset_conflict"]);
    expect((await ask("GET", path(merchantId))).body.crypto).toEqual([row]);
    const next = freshAccount();
    const moved = await ask("PUT", path(merchantId, row.id), { body: { destination: next } });
    expect([moved.status, moved.body]).toEqual([200, { ...row, destination: next.toLowerCase() }]);
    expect((await ask("DELETE", path(merchantId, row.id))).body).toEqual({
      id: row.id,
      deleted: true,
    });
    for (const [method, body] of [["GET"], ["PUT", { destination: next }], ["DELETE"]] as const)
      expect(refusal(await ask(method, path(merchantId, row.id), { body }))).toEqual([
        404,
        "not_found",
      ]);
    expect((await add(merchantId, both)).status).toBe(201);
  });

  // Guarantee: of many adding a destination for one asset at once, one does.
  test("are added once, by however many at a time", async () => {
    const merchantId = await calls().merchant();
    const entry = () => [{ asset: world.asset("usdc"), destination: freshAccount() }];
    const answers = await Promise.all(Array.from({ length: 6 }, () => add(merchantId, entry())));
    expect(answers.map(({ status }) => status).toSorted()).toEqual([201, 409, 409, 409, 409, 409]);
    const headers = { "Idempotency-Key": newId("request") };
    const usdt = [{ asset: world.asset("usdt"), destination: freshAccount() }];
    const one = await add(merchantId, usdt, headers);
    expect((await add(merchantId, usdt, headers)).text).toBe(one.text);
    expect(refusal(await add(merchantId, entry(), headers))).toEqual([409, "idempotency_conflict"]);
  });

  // Guarantee: money is never sent where nobody, or only this service, could take it.
  test("refuse assets and accounts that cannot be", async () => {
    const merchantId = await calls().merchant();
    const deployment = world.world.memory.chains[0];
    const { intermediaryKey } = world.world.memory;
    const asset = world.asset("usdc");
    const at = (address: string | undefined) => ({ asset, destination: `${CHAIN}:${address}` });
    const address = (key: `0x${string}` | undefined) => privateKeyToAccount(key ?? "0x").address;
    const good = { asset: world.asset("usdt"), destination: freshAccount() };
    for (const entry of [
      at(`0x${"0".repeat(40)}`),
      at(deployment?.usdc),
      at(deployment?.usdt.toUpperCase().replace("0X", "0x")),
      at(address(intermediaryKey)),
      at(address(deployment?.relayerKeys[0])),
      at(address(deployment?.spenderKey)),
      at("0x1234"),
      { asset, destination: freshAccount().replace("31337", "31338") },
      { asset: asset.replace("31337", "1"), destination: freshAccount().replace("31337", "1") },
      {
        asset: `${CHAIN}/erc20:${freshAccount().slice(CHAIN.length + 1)}`,
        destination: freshAccount(),
      },
      { asset: "USDC", destination: freshAccount() },
      { asset: `caip19/${asset}`, destination: freshAccount() },
      good,
    ]) {
      const answer = await add(merchantId, [good, entry]);
      expect([entry, ...refusal(answer)]).toEqual([entry, 400, "params_validation"]);
      expect(answer.body.issues[0].path).toMatch(/^settlements\.1\.(asset|destination)$/);
    }
    expect((await ask("GET", path(merchantId))).body.crypto).toEqual([]);
    expect(refusal(await add(merchantId, []))).toEqual([400, "params_validation"]);
    expect(refusal(await add(merchantId, Array(51).fill(good)))).toEqual([
      400,
      "params_validation",
    ]);
    expect(refusal(await add(merchantId, "all"))).toEqual([400, "invalid_params"]);
    const [row] = (await add(merchantId, [good])).body.settlements;
    for (const destination of [
      `${CHAIN}:0x${"0".repeat(40)}`,
      freshAccount().replace("31337", "31338"),
      "me",
    ])
      expect(
        refusal(await ask("PUT", path(merchantId, row.id), { body: { destination } })),
      ).toEqual([400, "params_validation"]);
  });

  // Guarantee: another partner's merchants and destinations answer byte for byte as missing ones do.
  test("and merchants of another partner do not exist", async () => {
    const merchantId = await calls().merchant();
    const entries = [{ asset: world.asset("usdc"), destination: freshAccount() }];
    const [row] = (await add(merchantId, entries)).body.settlements;
    const own = await calls().merchant({ key: second });
    const missing = "mer_00000000000000000000000000";
    const attempts: [string, (merchant: string) => string, unknown?][] = [
      ["GET", (id) => `/v1/merchants/${id}`],
      ["PATCH", (id) => `/v1/merchants/${id}`, { merchantName: "Mine" }],
      ["DELETE", (id) => `/v1/merchants/${id}`],
      ["GET", (id) => path(id)],
      ["POST", (id) => `${path(id)}/crypto`, { settlements: entries }],
      ["GET", (id) => path(id, row.id)],
      ["PUT", (id) => path(id, row.id), { destination: freshAccount() }],
      ["DELETE", (id) => path(id, row.id)],
    ];
    const ids = [merchantId, missing, "%00", "x".repeat(3_000), "%F0%9F%92%A9"];
    for (const [method, of, body] of attempts) {
      const answers: ReturnType<typeof anonymous>[] = [];
      for (const id of ids) {
        const headers = { "Idempotency-Key": newId("request") };
        answers.push(anonymous(await ask(method, of(id), { key: second, body, headers })));
      }
      expect(answers[0]?.status).toBe(404);
      expect(answers).toEqual(ids.map(() => answers[0]));
    }
    for (const [method, body] of [
      ["GET"],
      ["PUT", { destination: freshAccount() }],
      ["DELETE"],
    ] as const)
      for (const id of [row.id, "dst_0", "%00"])
        expect(refusal(await ask(method, path(own, id), { key: second, body }))).toEqual([
          404,
          "not_found",
        ]);
    expect((await ask("GET", path(merchantId))).body.crypto).toEqual([row]);
  });

  // Guarantee: a payment settles to where its merchant wanted it when it was made.
  test("of payments that exist never change", async () => {
    const api = actors(world, () => server.baseUrl);
    const merchantId = await calls().merchant();
    const before = freshAccount().toLowerCase();
    const [row] = (await add(merchantId, [{ asset: world.asset("usdc"), destination: before }]))
      .body.settlements;
    const headers = { "Merchant-Id": merchantId };
    const body = { amount: { unit: "iso4217/USD", value: "500" }, referenceId: "snapshot" };
    const payment = await ask("POST", "/v1/payments", { headers, body });
    expect(payment.status).toBe(201);
    await ask("PUT", path(merchantId, row.id), { body: { destination: freshAccount() } });
    const { paymentId } = payment.body;
    await api.pay(paymentId, world.buyer("everything").key, "USDC");
    const rows = await until(
      () =>
        world.db.query<{ destination: string; state: string }>(
          `select destination, state from settlement where payment_id = $1`,
          [paymentId],
        ),
      ([settled]) => settled?.state === "final",
    );
    expect(`${CHAIN}:${rows[0]?.destination}`.endsWith(before)).toBe(true);
    await ask("DELETE", `/v1/merchants/${merchantId}`);
    expect(refusal(await ask("POST", "/v1/payments", { headers, body }))).toEqual([
      404,
      "merchant_not_found",
    ]);
    const listed = await ask("GET", `/v1/payments?merchantId=${merchantId}`);
    expect(listed.body.data[0]).toMatchObject({ paymentId, settlement: { settled: true } });
  });
});
