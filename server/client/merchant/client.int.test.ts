import { Validator } from "@seriousme/openapi-schema-validator";
import { afterAll, beforeAll, expect, test } from "vitest";
import { ENDPOINTS } from "#server/contract/index.ts";
import { actors, call, until } from "#server/testing/api.ts";
import { createTestWorld, type TestServer, type TestWorld } from "#server/testing/world.ts";
import { createMerchantClient } from "./client.ts";

let world: TestWorld;
let server: TestServer;
beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer();
});
afterAll(() => world?.stop());

const ORDER = { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-1" };

function client(apiKey?: string) {
  const merchant = world.demo.merchants.find(({ flow }) => flow === "intermediary");
  if (merchant === undefined) throw new Error("no merchant");
  return createMerchantClient({
    baseUrl: server.baseUrl,
    apiKey: apiKey ?? merchant.apiKey,
    merchantId: merchant.id,
  });
}

// Guarantee: a shop's backend can do its whole day's work with the client.
test("a payment is created once, paid, read, listed and refunded", async () => {
  const florin = client();
  const created = await florin.createPayment({ body: ORDER, idempotencyKey: "order-1" });
  const again = await florin.createPayment({ body: ORDER, idempotencyKey: "order-1" });
  expect(again).toEqual(created);
  const id = created.paymentId;
  const api = actors(world, () => server.baseUrl);
  await api.pay(id, world.buyer("everything").key, "USDC", "eip155:31337", 20_000);
  const standing = await until(
    () => florin.getPaymentStatus({ id, query: { maxPollMs: "5000" } }),
    ({ isFinal }) => isFinal,
  );
  expect(standing.status).toBe("succeeded");
  const details = await florin.getPayment({ id, query: { include: "explanation" } });
  expect([details.referenceId, details.info?.txId]).toEqual(["order-1", standing.info?.txId]);
  const { data } = await florin.listMerchantPayments({ query: { status: ["succeeded"] } });
  expect(data.map(({ paymentId }) => paymentId)).toEqual([id]);
  const refund = await florin.createRefund({ body: { paymentId: id, amount: "1000000" } });
  expect((await florin.listRefunds()).refunds.map(({ id: one }) => one)).toEqual([refund.id]);
  const events = await until(
    () => florin.listEvents({ query: { paymentId: id } }),
    (page) => page.data.some(({ type }) => type === "payment.succeeded"),
  );
  expect(events.data[0]).toMatchObject({ type: "payment.created", number: 1 });
});

// Guarantee: what the service refuses reaches the caller with its code, its members and its request id.
test("refusals are typed errors", async () => {
  await expect(client().getPayment({ id: "pay_none" })).rejects.toMatchObject({
    status: 404,
    code: "payment_not_found",
    requestId: expect.stringMatching(/^req_/),
  });
  const body = { ...ORDER, amount: { unit: "iso4217/USD", value: "-1" } };
  await expect(client().createPayment({ body })).rejects.toMatchObject({
    status: 400,
    issues: [{ path: "amount.value" }],
  });
  const foreign = client(`sk_test_${"A".repeat(43)}`);
  await expect(foreign.createPayment({ body: ORDER })).rejects.toMatchObject({
    status: 401,
    code: "invalid_api_key",
  });
});

// Guarantee: a running server describes itself to any program, and says cheaply that nothing has changed.
test("the API description is served, valid, and open to every origin", async () => {
  const { status, headers, body } = await call(server.baseUrl, "GET", "/openapi.json", {
    headers: { origin: "https://docs.example.com" },
  });
  expect(status).toBe(200);
  expect(headers.get("content-type")).toBe("application/json");
  expect(headers.get("access-control-allow-origin")).toBe("*");
  expect(headers.get("cache-control")).toBe("public, max-age=300");
  expect((await new Validator().validate(structuredClone(body))).valid).toBe(true);
  expect(body.servers).toEqual([{ url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) }]);
  for (const { path, method } of ENDPOINTS)
    expect(body.paths[path][method.toLowerCase()].operationId).toBeTruthy();
  const etag = headers.get("etag") ?? "";
  for (const given of [etag, `W/${etag}`, `"x", ${etag}`, "*"]) {
    const repeated = await call(server.baseUrl, "GET", "/openapi.json", {
      headers: { "if-none-match": given },
    });
    expect([given, repeated.status, repeated.text]).toEqual([given, 304, ""]);
    expect(repeated.headers.get("etag")).toBe(etag);
  }
  const other = { headers: { "if-none-match": '"other"' } };
  expect((await call(server.baseUrl, "GET", "/openapi.json", other)).status).toBe(200);
  expect((await call(server.baseUrl, "HEAD", "/openapi.json")).text).toBe("");
  expect((await call(server.baseUrl, "POST", "/openapi.json", { body: {} })).status).toBe(405);
});
