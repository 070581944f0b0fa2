import { afterAll, beforeAll, expect, test } from "vitest";
import { call, until } from "./api.ts";
import { expectInvariants } from "./native/invariants.ts";
import { NATIVE, nativeShop } from "./native/shop.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const shop = () => nativeShop(world, () => server.baseUrl);

beforeAll(async () => {
  world = await createTestWorld({ native: true });
  server = await world.startServer();
});
afterAll(() => world?.stop());

const refund = (flow: "intermediary" | "direct", body: object) =>
  call(server.baseUrl, "POST", "/v1/refunds", {
    headers: shop().api().merchantHeaders(flow),
    body: { kind: "execute", ...body },
  });

async function paid(flow: "intermediary" | "direct") {
  const buyer = await shop().buyer();
  const { body } = await shop().api().create({ flow });
  const id = String(body.paymentId);
  await shop().send(buyer, await shop().transfer(id, await shop().option(id, buyer)));
  await shop().final(id);
  return { id, buyer };
}

// Guarantee: native coin goes back like a token, out of what is not settled yet, and the rest is settled.
test("native coin out of the settlement", async () => {
  await world.db.query(`insert into settlement_hold (asset, reason) values ('*', 'a test')`);
  const { id, buyer } = await paid("intermediary");
  const held = await shop().balance(buyer.address);
  const made = await refund("intermediary", { paymentId: id, amount: "1000000000000000" });
  expect([made.status, made.body.status]).toEqual([201, "pending"]);
  expect(made.body.amount.unit).toBe(`caip19/${NATIVE}`);
  await world.db.query(`delete from settlement_hold`);
  const rows = await until(
    () =>
      world.db.query(
        `select r.state, s.state as settled, s.amount::text as rest from refund r
         join settlement s on s.payment_id = r.payment_id and s.state = 'final' where r.payment_id = $1`,
        [id],
      ),
    (found) => found.length === 1,
  );
  expect(rows).toEqual([{ state: "succeeded", settled: "final", rest: "3980000000000000" }]);
  expect((await shop().balance(buyer.address)) - held).toBe(1_000_000_000_000_000n);
});

// Guarantee: nobody is asked for a transfer that could not be seen; such a refund is recorded instead.
test("native coin paid directly", async () => {
  const { id } = await paid("direct");
  const refused = await refund("direct", { paymentId: id });
  expect([refused.status, refused.body.code]).toEqual([400, "params_validation"]);
  expect((await refund("direct", { paymentId: id, kind: "record" })).body.status).toBe("succeeded");
});

// Guarantee: books and chain agree after it.
test("every invariant holds", () => expectInvariants(world));
