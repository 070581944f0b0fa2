import { execFile } from "node:child_process";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { environment } from "#server/sandbox/migrate.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { call, until } from "./api.ts";
import { newPartner } from "./partner-calls.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { FLORIN_WORKER: "off" } });
});
afterAll(() => world?.stop());

type Outcome = { code: number; out: string; err: string };

/** `npm run keys`, with the settings an operator of this world has. */
function keys(...words: string[]): Promise<Outcome> {
  const node = join(ROOT, "node_modules", ".bin", "node");
  const { DATABASE_URL, FLORIN_KEY_PEPPER, FLORIN_MODE } = world.world.serverEnv;
  const env = { ...environment(), DATABASE_URL, FLORIN_KEY_PEPPER, FLORIN_MODE };
  return new Promise((resolve) => {
    execFile(
      node,
      [join(ROOT, "server/cli/keys.ts"), ...words],
      { env, timeout: 60_000 },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

async function made(...words: string[]): Promise<{ id: string; key: string }> {
  const { code, out, err } = await keys(...words);
  if (code !== 0) throw new Error(err);
  return JSON.parse(out);
}

const list = (key: string) =>
  call(server.baseUrl, "GET", "/v1/merchants", { headers: { "Api-Key": key } });
const options = (headers: Record<string, string>) =>
  call(server.baseUrl, "POST", "/v1/gateway/payment/pay_none/options", {
    headers,
    body: { accounts: [] },
  });

// Guarantee: after a rotation both keys work, the old one stops at its time, and nothing else ends it before.
test("a rotated key works until it expires, its successor goes on", async () => {
  const { id: partner } = await newPartner(world);
  const old = await made(
    "issue",
    "--partner",
    partner,
    "--name",
    "till 4",
    "--scope",
    "merchant",
    "--scope",
    "gateway",
  );
  expect(old.key).toMatch(/^sk_test_/);
  expect((await list(old.key)).status).toBe(200);
  const next = await made("rotate", old.id);
  expect(next.key).not.toBe(old.key);
  for (const { key } of [old, next]) expect((await list(key)).status).toBe(200);
  const [kept] = await world.db.query<{ hours: string }>(
    `select round(extract(epoch from expires_at - created_at) / 3600) as hours from api_key where id = $1`,
    [old.id],
  );
  expect(kept?.hours).toBe("24");
  const [ending] = await world.db.query<{ at: Date }>(
    `update api_key set expires_at = now() + interval '2 seconds' where id = $1 returning expires_at as at`,
    [old.id],
  );
  const ended = await until(
    () => list(old.key),
    ({ status }) => status !== 200,
    30_000,
  );
  expect([ended.status, ended.body.code]).toEqual([401, "invalid_api_key"]);
  expect(Date.now()).toBeGreaterThanOrEqual(ending?.at.getTime() ?? Number.POSITIVE_INFINITY);
  expect((await list(next.key)).status).toBe(200);
  const lines = (await keys("list", "--partner", partner)).out.split("\n");
  const line = (id: string) => lines.find((one) => one.startsWith(id)) ?? "";
  expect(line(old.id)).toMatch(/sk_test_….*gateway\+merchant.*ended {2}till 4/);
  expect(line(next.id)).toMatch(/expires -.*active {2}till 4/);
});

// Guarantee: a key's last use is written down, and a list shows everything of a key but the key.
test("a list tells who uses what and gives nothing away", async () => {
  const merchant = world.demo.merchants[0]?.id ?? "";
  const { id, key } = await made("issue", "--merchant", merchant);
  const line = async () =>
    (await keys("list")).out.split("\n").find((one) => one.startsWith(id)) ?? "";
  expect(await line()).toContain("used -");
  expect((await list(key)).body.merchants).toHaveLength(1);
  const used = await until(line, (text) => !text.includes("used -"), 30_000);
  expect(used).toContain(merchant);
  const { out } = await keys("list");
  for (const secret of [key, world.demo.gateway.apiKey, world.demo.partner?.apiKey ?? "?"])
    expect(out).not.toContain(secret.slice(8));
});

// Guarantee: nobody has more than two active keys of one kind, however many are asked for at once.
test("two active keys are the most", async () => {
  const { id: partner } = await newPartner(world);
  const issue = () => keys("issue", "--partner", partner);
  const [one, two] = await Promise.all([issue(), issue()]);
  expect([one.code, two.code].toSorted()).toEqual([0, 2]);
  const gateway = await made("issue", "--partner", partner, "--scope", "gateway");
  expect(gateway.key).toMatch(/^gk_test_/);
  const third = await issue();
  expect([third.code, third.out]).toEqual([2, ""]);
  expect(third.err).toContain("Two such keys are active already");
  const { id } = JSON.parse(one.out || two.out);
  expect((await keys("rotate", id)).code).toBe(2);
  expect((await keys("revoke", id)).code).toBe(0);
  expect((await keys("rotate", id)).err).toContain("does not work any more");
  expect((await issue()).code).toBe(0);
});

// Guarantee: a revoked key and a revoked app become unknown without anybody telling the server.
test("a revocation ends keys and apps", async () => {
  const { id: partner } = await newPartner(world);
  const { id, key } = await made("issue", "--partner", partner, "--scope", "gateway");
  const app = JSON.parse(
    (await keys("issue-app", "--partner", partner, "--name", "Wallet")).out,
  ).appId;
  const byApp = { "App-Id": app, "Client-Id": "c" };
  for (const headers of [{ "Api-Key": key }, byApp])
    expect((await options(headers)).status).not.toBe(401);
  expect((await keys("list", "--partner", partner)).out).toContain(`${app}  app  test`);
  expect((await keys("revoke", id)).code).toBe(0);
  expect((await keys("revoke-app", app)).code).toBe(0);
  const refused = (headers: Record<string, string>, code: string) =>
    until(
      () => options(headers),
      ({ body }) => body.code === code,
    );
  await refused({ "Api-Key": key }, "invalid_api_key");
  await refused(byApp, "invalid_app_id");
  expect((await keys("revoke-app", app)).code).toBe(2);
});

// Guarantee: a wrong command makes nothing and says why.
test("misuse is refused", async () => {
  const count = async () => (await world.db.query(`select 1 from api_key`)).length;
  const before = await count();
  const { partnerId } = world.demo;
  for (const words of [
    ["issue", "--partner", "par_none"],
    ["issue", "--merchant", "mer_none"],
    ["issue", "--partner", "par_none", "--merchant", world.demo.merchants[0]?.id ?? ""],
    ["issue", "--partner", partnerId, "--scope", "admin"],
    ["issue", "--partner", partnerId, "--unknown"],
    ["rotate", "key_none"],
    ["rotate", "key_none", "--keep-hours", "721"],
    ["revoke", "key_none"],
    ["toString"],
  ]) {
    const { code, out, err } = await keys(...words);
    expect([words, code, out]).toEqual([words, 2, ""]);
    expect(err).not.toMatch(/^\s+at /m);
  }
  expect(await count()).toBe(before);
});

// Guarantee: a key that wallets use for one merchant sees that merchant's payments and nobody else's; a partner's wallet key sees all.
test("whose payments a wallet's key reaches", async () => {
  const [mine, other] = world.demo.merchants;
  if (mine === undefined || other === undefined) throw new Error("no two merchants");
  const own = await made("issue", "--merchant", mine.id, "--name", "kiosk", "--scope", "gateway");
  expect(own.key).toMatch(/^gk_test_/);
  const paymentOf = async (merchant: typeof mine): Promise<string> => {
    const answer = await call(server.baseUrl, "POST", "/v1/merchant/payment", {
      headers: { "Api-Key": merchant.apiKey, "Merchant-Id": merchant.id },
      body: { amount: { unit: "iso4217/USD", value: "1250" }, referenceId: "order-1" },
    });
    return answer.body.paymentId;
  };
  const read = (key: string, id: string) =>
    call(server.baseUrl, "GET", `/v1/gateway/payment/${id}`, { headers: { "Api-Key": key } });
  const [here, there] = [await paymentOf(mine), await paymentOf(other)];
  expect((await read(own.key, here)).status).toBe(200);
  const foreign = await read(own.key, there);
  expect([foreign.status, foreign.body.code]).toEqual([404, "payment_not_found"]);
  expect((await read(world.demo.gateway.apiKey, there)).status).toBe(200);
});
