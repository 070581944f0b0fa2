import { afterAll, beforeAll, expect, test } from "vitest";
import { referenceOf } from "#server/chains/solana/keys.ts";
import { paymentNonce } from "#server/domain/option/authorization.ts";
import { call, until } from "./api.ts";
import { expectInvariants } from "./native/invariants.ts";
import { signTransaction, solanaShop } from "./solana.ts";
import { sendOwn } from "./solana-sends.ts";
import { endsIn } from "./unguarded.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const SOL = 1_000_000_000n;
const DUE = 12_500_000n;

let world: TestWorld;
let server: TestServer;
const shop = () => solanaShop(world, () => server);

beforeAll(async () => {
  world = await createTestWorld({ solana: { slotMs: 50 } });
  server = await world.startServer();
});
afterAll(() => world?.stop());

const rich = () => shop().newBuyer({ usdc: 100_000_000n, lamports: SOL });

const exceptionsOf = (txId: string) =>
  until(
    async () =>
      (
        await world.db.pool.query(
          `select kind, payment_id, amount_minor::text as amount from exception_record where tx_ref = $1`,
          [txId],
        )
      ).rows,
    (rows) => rows.length > 0,
  );

async function paid(value = "1250", symbol: "USDC" | "SOL" = "USDC") {
  const { created, paySolana, final } = shop();
  const buyer = await rich();
  const id = await created({ value });
  await paySolana(id, buyer, symbol);
  expect((await final(id)).body.status).toBe("succeeded");
  return { id, buyer };
}

// Guarantee: money that nobody asked for is found, recorded and pays nothing.
test.for([false, true])("a plain transfer to the intermediary is an exception", async (native) => {
  const txId = await sendOwn(shop(), await rich(), { amount: 3_000_000n, native });
  expect(await exceptionsOf(txId)).toEqual([
    { kind: "unattributed", payment_id: null, amount: "3000000" },
  ]);
});

// Guarantee: a transfer that carries a payment's reference and its exact amount pays it, whoever sent it off.
test("a buyer's own transfer with the reference pays", async () => {
  const { created, asked, final, status } = shop();
  const buyer = await rich();
  const id = await created();
  await asked(id, buyer, "USDC");
  const reference = referenceOf(paymentNonce(id));
  const short = await sendOwn(shop(), buyer, { amount: DUE - 1n, reference });
  expect(await exceptionsOf(short)).toEqual([
    { kind: "short", payment_id: id, amount: (DUE - 1n).toString() },
  ]);
  expect((await status(id)).body.status).toBe("requires_action");
  await sendOwn(shop(), buyer, { amount: DUE, reference });
  expect((await final(id)).body.status).toBe("succeeded");
  const again = await sendOwn(shop(), buyer, { amount: DUE, reference });
  expect(await exceptionsOf(again)).toEqual([
    { kind: "double", payment_id: id, amount: DUE.toString() },
  ]);
});

// Guarantee: money for a payment that has expired is an exception, and changes nothing.
test("a late transfer is an exception", async () => {
  const { created, asked, final } = shop();
  const buyer = await rich();
  const id = await created();
  const { option, transaction } = await asked(id, buyer, "USDC");
  await endsIn(world.db, id);
  expect((await final(id)).body.status).toBe("expired");
  const signed = signTransaction(buyer, transaction);
  const refused = await shop().confirm(id, option.id, [signed]);
  expect([refused.status, refused.body.code]).toEqual([410, "payment_expired"]);
  const reference = referenceOf(paymentNonce(id));
  const txId = await sendOwn(shop(), buyer, { amount: DUE, reference });
  expect(await exceptionsOf(txId)).toEqual([
    { kind: "late", payment_id: id, amount: DUE.toString() },
  ]);
});

// Guarantee: a refund goes back to the account that paid, and the merchant gets what is left.
test.for(["USDC", "SOL"] as const)("a refund in %s", async (symbol) => {
  const { merchantHeaders, tokens, lamports } = shop();
  await world.db.query(`insert into settlement_hold (asset, reason) values ('*', 'a test')`);
  const { id, buyer } = await paid("1500", symbol);
  const held = () => (symbol === "USDC" ? tokens(buyer.address) : lamports(buyer.address));
  const before = await held();
  const amount = symbol === "USDC" ? 5_000_000n : 40_000_000n;
  const made = await call(server.baseUrl, "POST", "/v1/refunds", {
    headers: merchantHeaders("intermediary"),
    body: { paymentId: id, amount: amount.toString(), kind: "execute" },
  });
  expect([made.status, made.body.status], made.text).toEqual([201, "pending"]);
  await world.db.query(`delete from settlement_hold`);
  await until(held, (now) => now === before + amount);
  const settled = await until(
    () => shop().details(id),
    ({ body }) => body.settlement?.successful?.txId !== undefined,
  );
  const sent = symbol === "USDC" ? 15_000_000n - 60_000n : 100_000_000n - 400_000n;
  expect(settled.body.settlement.successful.amount.value).toBe((sent - amount).toString());
});

// Guarantee: what the ledger says we hold is on the chain.
test("the books agree with the chain", async () => {
  const { chain, tokens, lamports } = shop();
  const { solanaAddress } = await import("#server/sandbox/solana-world.ts");
  const { assets, memory } = chain();
  const intermediary = solanaAddress(memory.intermediaryKey);
  const booked = async (asset: string) => {
    const { rows } = await world.db.pool.query(
      `select coalesce(sum(balance), 0)::text as sum from ledger_account where kind = 'intermediary' and asset = $1`,
      [asset],
    );
    return BigInt(rows[0].sum);
  };
  await until(
    async () => (await tokens(intermediary)) === (await booked(assets.usdc)),
    (same) => same,
  );
  // The rent minimum was there before.
  await until(
    async () => (await lamports(intermediary)) - 890_880n === (await booked(assets.sol)),
    (same) => same,
  );
});

// Guarantee: every invariant that can be checked holds for what was done on Solana.
test("the invariants hold", () => expectInvariants(world));
