import { afterAll, beforeAll, expect, test } from "vitest";
import { CHAIN, checkoutPages, refusal } from "./checkout-pages.ts";
import { askForData, CANARIES, FORM } from "./collect.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const pages = () => checkoutPages(world, () => server.baseUrl);

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer();
  const merchantId = world.demo.merchants[0]?.id ?? "";
  await askForData(world, () => pages().api().create(), { merchantId, when: "always" });
});
afterAll(() => world?.stop());

// Guarantee: an option says that its account owes data; the form says what, why and how long; once it is handed in, the account can pay.
test("a form and a payment", async () => {
  const id = await pages().created({ value: "1250" });
  const buyer = await pages().buyer(20_000_000n);
  const { client } = pages();
  expect((await pages().option(id, buyer, "USDC")).needsData).toBe(true);
  expect(await refusal(pages().pay(id, buyer, "USDC"))).toMatchObject({
    code: "params_validation",
    issues: [{ field: "collectedData" }],
  });
  const form = await client().checkout.collectForm.query({ id, account: buyer.account });
  if (form === null) throw new Error("no form");
  expect(form).toMatchObject({
    paymentId: id,
    accounts: [`${CHAIN}:${buyer.address.toLowerCase()}`],
    merchant: { name: "Demo Shop" },
    amount: { display: "12.50", currency: "USD" },
    why: "always",
    keptDays: 365,
    given: false,
    required: [{ name: "fullName" }, { name: "dob", kind: "date" }, { name: "tosConfirmed" }],
  });
  expect(form.tokenExpiresAt).toBeGreaterThan(Date.now() / 1_000);
  const link = { pid: id, accounts: form.accounts, t: form.token };
  const bad = client().checkout.submitCollected.mutate({ ...link, data: { ...FORM, dob: "x" } });
  expect(await refusal(bad)).toMatchObject({
    code: "params_validation",
    issues: [{ path: "data.dob", field: "dob" }],
  });
  expect(await client().checkout.submitCollected.mutate({ ...link, data: FORM })).toEqual({
    stored: true,
  });
  const opened = await client().collect.open.query(link);
  expect(opened.given).toBe(true);
  for (const canary of CANARIES) expect(JSON.stringify(opened)).not.toContain(canary);
  expect((await pages().option(id, buyer, "USDC")).needsData).toBe(false);
  expect(await client().checkout.collectForm.query({ id, account: buyer.account })).toBeNull();
  await pages().pay(id, buyer, "USDC");
  await pages().stage(id, "succeeded");
  for (const secret of [...CANARIES, form.token]) expect(server.output()).not.toContain(secret);
});

// Guarantee: a link opens the form of its own payment and accounts alone; every other is refused in the same words.
test("links", async () => {
  const id = await pages().created();
  const other = await pages().created();
  const buyer = await pages().buyer(0n);
  const { collect, checkout } = pages().client();
  const form = await checkout.collectForm.query({ id, account: buyer.account });
  const link = { pid: id, accounts: form?.accounts ?? [], t: form?.token ?? "" };
  expect((await collect.open.query(link)).given).toBe(false);
  const words = new Set<string>();
  for (const wrong of [
    { ...link, pid: other },
    { ...link, accounts: [`${CHAIN}:0x${"1".repeat(40)}`] },
    { ...link, t: `9${link.t}` },
    { ...link, t: "" },
  ]) {
    const refused = await refusal(collect.open.query(wrong));
    expect(refused).toMatchObject({ code: "forbidden", status: 403 });
    words.add(refused.message);
    expect((await refusal(collect.submit.mutate({ ...wrong, data: FORM }))).code).toBe("forbidden");
  }
  expect(words.size).toBe(1);
  expect(await refusal(collect.open.query({ ...link, pid: "x" }))).toMatchObject({ status: 404 });
  expect(await collect.submit.mutate({ ...link, data: FORM })).toEqual({ stored: true });
  await checkout.cancel.mutate({ id });
  expect(await refusal(collect.open.query(link))).toMatchObject({ code: "invalid_state" });
});
