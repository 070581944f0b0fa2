import { afterAll, beforeAll, expect, test } from "vitest";
import { submitCollected } from "#server/usecases/submit-collected.ts";
import { actors, until } from "./api.ts";
import { askForData, asWallet, FORM, linkOf, newBuyer, rowsOf, withServices } from "./collect.ts";
import { endsIn } from "./unguarded.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const baseUrl = () => server.baseUrl;
const api = () => actors(world, baseUrl);
const stored = (paymentId: string) => rowsOf(world, paymentId);

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer();
  const asking = world.demo.merchants.find(({ flow }) => flow === "intermediary");
  const create = () => api().create();
  await askForData(world, create, { merchantId: asking?.id ?? "", when: "always" });
});
afterAll(() => world?.stop());

const created = async (): Promise<string> => (await api().create()).body.paymentId;

// Guarantee: data from the page serves its payment; it counts for others only once the account itself has signed.
test("data given through the page", async () => {
  const buyer = await newBuyer(world, baseUrl);
  const [id, other] = [await created(), await created()];
  const option = await buyer.option(id);
  const link = linkOf(option.collectData?.url ?? "");
  await withServices(world, async (services) => {
    expect(await submitCollected(services, { ...link, data: FORM })).toBeUndefined();
  });
  expect((await buyer.listed(id)).body).toMatchObject({
    collectData: null,
    options: [{ id: option.id, collectData: null }],
  });
  expect((await buyer.option(other)).collectData).not.toBeNull();
  const forOther = await buyer.option(other);
  const refused = await buyer.confirm(other, forOther.id, await buyer.sign(forOther));
  expect(refused).toMatchObject({ status: 400, body: { code: "params_validation" } });
  expect((await stored(id)).every(({ proven }) => !proven)).toBe(true);

  const confirmed = await buyer.confirm(id, option.id, await buyer.sign(option));
  expect(confirmed.status).toBe(200);
  expect((await stored(id)).every(({ proven }) => proven)).toBe(true);
  expect((await buyer.option(other)).collectData).toBeNull();
  expect((await buyer.listed(other)).body.collectData).toBeNull();
});

// Guarantee: one link gives one form to all its accounts, a second form takes the place of the first, and what the wallet sends with its signature wins.
test("a form is replaced until the signature", async () => {
  const [one, two] = [await newBuyer(world, baseUrl), await newBuyer(world, baseUrl)];
  const id = await created();
  const { body } = await one.listed(id, [one.account, two.account]);
  const link = linkOf(body.collectData.url);
  await withServices(world, async (services) => {
    await submitCollected(services, { ...link, data: FORM });
    const { pobCountry, pobAddress, ...rest } = FORM;
    const moved = { ...rest, porCountry: pobCountry, porAddress: pobAddress };
    await submitCollected(services, { ...link, data: moved });
  });
  const names = ["dob", "fullName", "porAddress", "porCountry", "tosConfirmed"];
  expect((await stored(id)).map(({ name }) => name)).toEqual([...names, ...names]);
  const option = await one.option(id);
  await one.confirm(id, option.id, await one.sign(option), asWallet());
  const rows = await stored(id);
  const of = (account: string) => rows.filter((row) => row.account === account);
  expect(of(one.canonical).map(({ name, proven }) => [name, proven])).toEqual(
    Object.keys(FORM)
      .sort()
      .map((name) => [name, true]),
  );
  expect(of(two.canonical).map(({ name, proven }) => [name, proven])).toEqual(
    names.map((name) => [name, false]),
  );
});

// Guarantee: a link that was changed, swapped, made up or outlived is refused, all with the same words, and stores nothing.
test("links that are not ours", async () => {
  const [one, two] = [await newBuyer(world, baseUrl), await newBuyer(world, baseUrl)];
  const [id, other] = [await created(), await created()];
  const link = linkOf((await one.option(id)).collectData?.url ?? "");
  const elsewhere = linkOf((await two.option(other)).collectData?.url ?? "");
  const { body } = await api().create({ flow: "direct" });
  const wrong = [
    { ...link, token: "" },
    { ...link, token: elsewhere.token },
    { ...link, token: `9${link.token}` },
    { ...link, paymentId: other },
    { ...link, paymentId: body.paymentId },
    { ...link, accounts: [two.canonical] },
    { ...link, accounts: [one.canonical, two.canonical] },
    { ...link, accounts: [] },
    { ...link, paymentId: "pay_none" },
  ];
  await withServices(world, async (services) => {
    const refusals = new Set<string>();
    for (const bad of wrong) {
      const refusal = await submitCollected(services, { ...bad, data: FORM }).catch((e) => e);
      refusals.add(`${refusal.code} ${refusal.message}`);
    }
    const later = {
      ...services,
      clock: { ...services.clock, now: () => Date.now() / 1_000 + 3_601 },
    };
    const outlived = await submitCollected(later, { ...link, data: FORM }).catch((e) => e);
    refusals.add(`${outlived.code} ${outlived.message}`);
    expect([...refusals]).toEqual([
      "forbidden This link is not valid or no longer valid: go back to the wallet",
    ]);
    const bad = submitCollected(services, { ...link, data: { ...FORM, dob: "1" } });
    await expect(bad).rejects.toMatchObject({
      code: "params_validation",
      issues: [{ path: "data.dob" }],
    });
  });
  expect([...(await stored(id)), ...(await stored(other))]).toEqual([]);
});

// Guarantee: a payment that is over takes no data, and what it got without a signature counts nowhere.
test("a payment that is not open", async () => {
  const buyer = await newBuyer(world, baseUrl);
  const id = await created();
  const link = linkOf((await buyer.option(id)).collectData?.url ?? "");
  await withServices(world, async (services) => {
    await submitCollected(services, { ...link, data: FORM });
    await endsIn(world.db, id);
    await until(
      () => api().status(id),
      ({ body: standing }) => standing.status === "expired",
    );
    const late = submitCollected(services, { ...link, data: FORM });
    await expect(late).rejects.toMatchObject({ code: "payment_expired" });
  });
  expect(await stored(id)).toHaveLength(5);
  expect((await buyer.option(await created())).collectData).not.toBeNull();

  const paid = await created();
  const option = await buyer.option(paid);
  const open = linkOf(option.collectData?.url ?? "");
  await buyer.confirm(paid, option.id, await buyer.sign(option), asWallet());
  const before = await stored(paid);
  await withServices(world, async (services) => {
    const late = submitCollected(services, {
      ...open,
      data: { ...FORM, fullName: "Somebody Else" },
    });
    await expect(late).rejects.toMatchObject({ code: "invalid_state" });
  });
  expect(await stored(paid)).toEqual(before);
});
