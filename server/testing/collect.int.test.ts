import { afterAll, beforeAll, expect, test } from "vitest";
import { COLLECT_FIELDS, COLLECT_SCHEMA } from "#server/domain/collect/form.ts";
import { actors, until } from "./api.ts";
import { askForData, asWallet, CANARIES, FORM, linkOf, newBuyer, rowsOf } from "./collect.ts";
import { changesNothing } from "./doors.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const baseUrl = () => server.baseUrl;
const api = () => actors(world, baseUrl);
const stored = (paymentId: string) => rowsOf(world, paymentId);

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { LOG_LEVEL: "trace" } });
  const asking = world.demo.merchants.find(({ flow }) => flow === "intermediary");
  const create = () => api().create();
  await askForData(world, create, { merchantId: asking?.id ?? "", when: "always" });
});
afterAll(() => world?.stop());

const created = async (): Promise<string> => (await api().create()).body.paymentId;

// Guarantee: a wallet learns for each account which form it needs and where, in the shape all clients need.
test("options show what is asked of which account", async () => {
  const [one, two] = [await newBuyer(world, baseUrl), await newBuyer(world, baseUrl)];
  const id = await created();
  const { body } = await one.listed(id, [one.account, two.account]);
  expect(body.options).toHaveLength(2);
  for (const [index, buyer] of [one, two].entries()) {
    const { collectData } = body.options[index];
    expect(collectData).toMatchObject({ schema: COLLECT_SCHEMA, fields: COLLECT_FIELDS });
    expect(linkOf(collectData.url)).toMatchObject({ paymentId: id, accounts: [buyer.canonical] });
    expect(collectData.url.startsWith(`${baseUrl()}/collect?pid=${id}&accounts=eip155%3A`)).toBe(
      true,
    );
  }
  expect(linkOf(body.collectData.url).accounts).toEqual([one.canonical, two.canonical]);
  expect(body.collectData).toMatchObject({ schema: COLLECT_SCHEMA, fields: COLLECT_FIELDS });
});

// Guarantee: a merchant that asks for nothing gets payments whose buyers are asked for nothing.
test("nothing is asked where nothing is collected", async () => {
  const buyer = await newBuyer(world, baseUrl);
  const { body } = await api().create({ flow: "direct" });
  const listed = await buyer.listed(body.paymentId);
  expect(listed.body).toMatchObject({ options: [{ collectData: null }], collectData: null });
  const option = await buyer.option(body.paymentId);
  const outputs = await buyer.sign(option);
  const confirmed = await buyer.confirm(body.paymentId, option.id, outputs, asWallet());
  expect(confirmed.status).toBe(200);
  expect(await stored(body.paymentId)).toEqual([]);
});

// Guarantee: a merchant that asks from an amount on asks from exactly there on.
test("asked from an amount on", async () => {
  const merchantId = world.demo.merchants.find(({ flow }) => flow === "direct")?.id ?? "";
  const create = (value: string) => api().create({ flow: "direct", value });
  await askForData(world, () => create("2000"), { merchantId, when: "above", aboveCents: 2_000 });
  const buyer = await newBuyer(world, baseUrl);
  for (const [value, asked] of [
    ["1999", false],
    ["2000", true],
  ] as const) {
    const { body } = await create(value);
    expect((await buyer.option(body.paymentId)).collectData !== null).toBe(asked);
  }
});

// Guarantee: without the data a signature is not taken, and nothing at all happens; fetch answers all the same.
test("a confirm without data", async () => {
  const buyer = await newBuyer(world, baseUrl);
  const id = await created();
  const option = await buyer.option(id);
  expect(await buyer.fetch(id, option.id)).toMatchObject({ status: 200 });
  const outputs = await buyer.sign(option);
  await changesNothing(
    world.db,
    async () => {
      for (const data of [undefined, null]) {
        const refused = await buyer.confirm(id, option.id, outputs, data);
        expect(refused.status).toBe(400);
        expect(refused.body).toMatchObject({
          code: "params_validation",
          message:
            "Validation error: IC data required but not found: fullName, dob, tosConfirmed, pobCountry and pobAddress or porCountry and porAddress",
          issues: [{ path: "collectedData", field: "collectedData" }],
        });
      }
      expect((await buyer.confirm(id, option.id, [], undefined)).status).toBe(400);
    },
    id,
  );
});

// Guarantee: wrong data is refused with one finding for each wrong field, none repeats it, and none is kept.
test("a confirm with wrong data", async () => {
  const buyer = await newBuyer(world, baseUrl);
  const id = await created();
  const option = await buyer.option(id);
  const outputs = await buyer.sign(option);
  const wrong = { ...FORM, dob: "2999-01-01", pobCountry: "Quux", tosConfirmed: false };
  await changesNothing(
    world.db,
    async () => {
      const refused = await buyer.confirm(id, option.id, outputs, asWallet(wrong));
      expect(refused.status).toBe(400);
      expect(refused.body.code).toBe("params_validation");
      expect(refused.body.issues.map(({ path }: { path: string }) => path)).toEqual([
        "collectedData.dob",
        "collectedData.pobCountry",
        "collectedData.tosConfirmed",
      ]);
      for (const odd of ["x", 5, [], {}, { fields: [{ id: "dob" }, { id: "dob" }] }]) {
        const malformed = await buyer.confirm(id, option.id, outputs, odd);
        expect(malformed).toMatchObject({ status: 400, body: { code: "params_validation" } });
      }
    },
    id,
  );
  for (const { text } of buyer.answers)
    for (const canary of CANARIES) expect(text).not.toContain(canary);
});

// Guarantee: a wallet's own form pays; from then on this account is known, and no other.
test("own-form data is taken with the signature it came with", async () => {
  const [buyer, other] = [await newBuyer(world, baseUrl), await newBuyer(world, baseUrl)];
  const id = await created();
  const option = await buyer.option(id);
  const outputs = await buyer.sign(option);
  const bad = await buyer.confirm(id, option.id, [`0x${"11".repeat(64)}1b`], asWallet());
  expect(bad.status).toBe(422);
  expect(await stored(id)).toEqual([]);
  expect((await buyer.option(id)).collectData).not.toBeNull();

  const confirmed = await buyer.confirm(id, option.id, outputs, asWallet());
  expect(confirmed).toMatchObject({ status: 200 });
  expect((await buyer.final(id)).body.status).toBe("succeeded");
  const repeated = await buyer.confirm(id, option.id, outputs, asWallet({ fullName: "" }));
  expect(repeated).toMatchObject({ status: 200, body: { status: "succeeded" } });
  const rows = await stored(id);
  expect(rows.map(({ name }) => name)).toEqual(Object.keys(FORM).sort());
  for (const { account, proven, days } of rows)
    expect({ account, proven, days }).toEqual({
      account: buyer.canonical,
      proven: true,
      days: 365,
    });

  const next = await created();
  const listed = await buyer.listed(next, [buyer.account, other.account]);
  expect(listed.body.options.map((o: { collectData: unknown }) => o.collectData === null)).toEqual([
    true,
    false,
  ]);
  expect(linkOf(listed.body.collectData.url).accounts).toEqual([other.canonical]);
  const again = await buyer.option(next);
  expect((await buyer.confirm(next, again.id, await buyer.sign(again))).status).toBe(200);
  expect((await buyer.final(next)).body.status).toBe("succeeded");
  expect(await stored(next)).toEqual([]);
});

// Guarantee: neither the log, at any level, nor any answer, nor the database shows what a buyer gave, and no log shows a link's token.
test("personal data shows nowhere", async () => {
  const buyer = await newBuyer(world, baseUrl);
  const id = await created();
  const option = await buyer.option(id);
  await buyer.confirm(id, option.id, [`0x${"11".repeat(64)}1b`], asWallet());
  await buyer.confirm(id, option.id, ["0x"], asWallet({ ...FORM, dob: "Quux" }));
  await buyer.confirm(id, option.id, await buyer.sign(option), asWallet());
  await buyer.final(id);
  await buyer.details(id);
  await buyer.listed(id);
  const { token } = linkOf(option.collectData?.url ?? "");
  const lines = (output: string) => output.split("\n").filter((line) => line.includes(id));
  const log = await until(
    async () => server.output(),
    (output) => lines(output).filter((line) => line.includes("confirmPayment")).length === 3,
  );
  for (const canary of [...CANARIES, token.split(".")[1] ?? "", "collect?pid"])
    expect(log.includes(canary), canary).toBe(false);
  for (const { text } of buyer.answers)
    for (const canary of CANARIES) expect(text).not.toContain(canary);
  const rows = await stored(id);
  expect(rows).toHaveLength(5);
  for (const { sealed } of rows)
    for (const canary of [...CANARIES, FORM.pobCountry, "true"])
      expect(sealed.includes(Buffer.from(canary)), canary).toBe(false);
  const everything = await world.db.query<{ row: string }>(
    `select to_jsonb(e)::text as row from payment_event e union all select to_jsonb(o)::text from outbox o
     union all select to_jsonb(a)::text from attempt a union all select to_jsonb(j)::text from pgboss.job j`,
  );
  expect(everything.length).toBeGreaterThan(0);
  for (const { row } of everything)
    for (const canary of CANARIES) expect(row).not.toContain(canary);
});

// Guarantee: past its time data counts for nothing at once, and is gone once the sweep has been.
test("data is kept for its time and no longer", async () => {
  const buyer = await newBuyer(world, baseUrl);
  const id = await created();
  const option = await buyer.option(id);
  await buyer.confirm(id, option.id, await buyer.sign(option), asWallet());
  await buyer.final(id);
  const next = await created();
  expect((await buyer.option(next)).collectData).toBeNull();
  await world.db.query(
    `update collected_field set delete_after = now() - interval '1 second' where payment_id = $1`,
    [id],
  );
  expect((await buyer.option(next)).collectData).not.toBeNull();
  const [kept] = await world.db.query<{ n: number }>(
    `select count(*)::int as n from collected_field where delete_after > now()`,
  );
  expect(kept?.n).toBeGreaterThan(0);
  await server.kill();
  server = await world.startServer({ env: { FLORIN_DATA_DAYS: "30" } });
  await until(
    () => stored(id),
    (rows) => rows.length === 0,
  );
  expect(
    await world.db.query(
      `select count(*)::int as n from collected_field where delete_after > now()`,
    ),
  ).toEqual([kept]);
  const again = await buyer.option(next);
  await buyer.confirm(next, again.id, await buyer.sign(again), asWallet());
  expect((await stored(next)).map(({ days }) => days)).toEqual([30, 30, 30, 30, 30]);
});
