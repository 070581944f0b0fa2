import { afterAll, beforeAll, expect, test } from "vitest";
import { until } from "./api.ts";
import { signTransaction, solanaShop } from "./solana.ts";
import { createTestWorld, type ServerOptions, type TestServer, type TestWorld } from "./world.ts";

/** Blocks in which a transaction can land after its blockhash, and those until a block is final. */
const LIFE = 150;
const FINAL = 32;

let world: TestWorld;
let server: TestServer;
const shop = () => solanaShop(world, () => server);

beforeAll(async () => {
  world = await createTestWorld({ solana: { slotMs: 40 } });
  server = await world.startServer();
});
afterAll(() => world?.stop());

/** Makes blocks at once, so that a transaction lapses when the test says so and not earlier. */
const pass = (blocks: number) => shop().standing(() => shop().step(blocks));

async function restart(env: Record<string, string> = {}): Promise<void> {
  await server.kill();
  server = await world.startServer({ env });
}

async function ready() {
  const { created, newBuyer, asked } = shop();
  const buyer = await newBuyer();
  const id = await created();
  const { option, transaction } = await asked(id, buyer, "USDC");
  return { id, option, buyer, signed: signTransaction(buyer, transaction) };
}

/** Confirms with a server that dies at a point of the work; the clock must stand. */
async function confirmAndDie(point: string) {
  await restart({ FAILPOINT: `${point}:exit` });
  const payment = await ready();
  const answer = await shop()
    .confirm(payment.id, payment.option.id, [payment.signed])
    .catch(() => null);
  // It died before it answered, or took what was signed.
  expect([null, 200]).toContain(answer?.status ?? null);
  await server.exited;
  return payment;
}

const rowsOf = async (id: string, kind: string) =>
  (
    await world.db.pool.query(
      `select i.state, t.hash, t.replaces from chain_intent i left join chain_tx t on t.intent_id = i.id
       where i.kind = $2 and (i.payment_id = $1 or i.id in (select intent_id from settlement where payment_id = $1))
       order by t.created_at`,
      [id, kind],
    )
  ).rows;

// Guarantee: a transaction that has lapsed is not taken, and the next fetch gives one that is.
test("a wallet that was too slow gets a new transaction", async () => {
  const { confirm, status, fetchIt, final, standing, step, sent } = shop();
  const id = await standing(async () => {
    const payment = await ready();
    await step(LIFE - 19);
    const late = await confirm(payment.id, payment.option.id, [payment.signed]);
    expect([late.status, late.body.code]).toEqual([409, "quote_expired"]);
    expect((await status(payment.id)).body.status).toBe("requires_action");
    const fetched = await fetchIt(payment.id, payment.option);
    const { transaction } = fetched.body.actions[0].data.params[0];
    const again = signTransaction(payment.buyer, transaction);
    expect(again).not.toBe(payment.signed);
    expect((await confirm(payment.id, payment.option.id, [again])).status).toBe(200);
    await sent(payment.id);
    return payment.id;
  });
  expect((await final(id)).body.status).toBe("succeeded");
});

// Guarantee: bytes that were committed and not sent go out after a restart, the same ones.
test("killed between commit and broadcast", async () => {
  const { final, tokens, standing, sent } = shop();
  const { id, buyer, stored } = await standing(async () => {
    const payment = await confirmAndDie("capture.after_commit_raw");
    const [row] = await rowsOf(payment.id, "capture");
    expect(row).toMatchObject({ state: "signed", hash: expect.any(String) });
    await restart();
    await sent(payment.id);
    return { ...payment, stored: row };
  });
  expect((await final(id)).body.status).toBe("succeeded");
  const rows = await rowsOf(id, "capture");
  expect(rows.map(({ hash }) => hash)).toEqual([stored?.hash]);
  expect(await tokens(buyer.address)).toBe(87_500_000n);
});

// Guarantee: a payment fails only once its transaction can never land, sent or not, and then nothing was taken.
test.for(["confirm.after_commit", "capture.after_commit_raw"])(
  "killed at %s until the transaction has lapsed",
  async (point) => {
    const { final, tokens, rpc, standing } = shop();
    const { id, buyer } = await standing(() => confirmAndDie(point));
    await pass(LIFE + 2);
    await restart();
    const ended = await final(id);
    expect([ended.body.status, ended.body.failureCode]).toEqual([
      "failed",
      "authorization_expired",
    ]);
    expect(await tokens(buyer.address)).toBe(100_000_000n);
    const { rows } = await world.db.pool.query(
      `select extract(epoch from e.at) as at, a.lapses_at::int as lapses from payment_event e
       join attempt a on a.payment_id = e.payment_id where e.payment_id = $1 and e.to_s = 'failed'`,
      [id],
    );
    // Proof needs the height at finalized, which is well past the lifetime.
    expect(await rpc<number>("getBlockHeight", [{ commitment: "finalized" }])).toBeGreaterThan(
      rows[0].lapses,
    );
  },
);

// Guarantee: a payout that was signed and never landed is signed anew after it lapsed, and the merchant gets it once.
test("a settlement that lapsed is sent once", async () => {
  const { details, tokens, created, newBuyer, paySolana, standing } = shop();
  const merchant = world.demo.merchants[0]?.solanaDestination ?? "";
  await until(
    async () =>
      (await world.db.pool.query(`select 1 from settlement where state in ('pending', 'sent')`))
        .rowCount,
    (open) => open === 0,
  );
  const before = await tokens(merchant);
  await restart({ FAILPOINT: "settlement.after_commit_raw:exit" });
  const id = await created();
  await paySolana(id, await newBuyer(), "USDC");
  await server.exited;
  await pass(LIFE + FINAL + 2);
  // The new one must land in its own time, however slow this machine is.
  await standing(async () => {
    await restart();
    await until(
      () => rowsOf(id, "settlement"),
      (rows) => rows.length === 2 && rows.every(({ state }) => state === "broadcast"),
    );
  });
  await until(
    () => details(id),
    ({ body }) => body.settlement?.successful?.txId !== undefined,
  );
  const sent = await rowsOf(id, "settlement");
  expect(sent).toHaveLength(2);
  expect(sent[1]).toMatchObject({ state: "final", replaces: sent[0]?.hash });
  expect((await tokens(merchant)) - before).toBe(12_450_000n);
});

// Guarantee: two servers on one database submit a payment and pay it out once.
test("two workers", async () => {
  const { created, newBuyer, handIn, final, details, tokens, standing } = shop();
  const merchant = world.demo.merchants[0]?.solanaDestination ?? "";
  const before = await tokens(merchant);
  const second = await world.startServer({ entry: "worker" });
  const one = async () => {
    const id = await created();
    await handIn(id, await newBuyer(), "USDC");
    return { id };
  };
  const all = await standing(() => Promise.all([one(), one(), one()]));
  for (const { id } of all) expect((await final(id)).body.status).toBe("succeeded");
  for (const { id } of all)
    await until(
      () => details(id),
      ({ body }) => body.settlement?.successful?.txId !== undefined,
    );
  for (const { id } of all) expect(await rowsOf(id, "capture")).toHaveLength(1);
  expect((await tokens(merchant)) - before).toBe(3n * 12_450_000n);
  await second.kill();
});

// Guarantee: a node of another cluster, a mint with other decimals and one that can take transfers back are not offered.
test("a cluster and its mints are compared before anything is offered", async () => {
  const { rpc, chain, created, newBuyer, options } = shop();
  const { mint } = chain().memory;
  const buyer = await newBuyer();
  const offered = async () => {
    const listed = await options(await created(), [`${chain().caip2}:${buyer.address}`]);
    return listed.body.options.length;
  };
  expect(await until(offered, (count) => count > 0)).toBe(1);
  // Nothing is offered before the comparison either.
  const saysWhy = (why: string) =>
    until(
      async () => server.output(),
      (said) => said.includes(why),
    );
  const withDecimals = (decimals: number): ServerOptions => ({
    registry: (registry) => ({
      ...registry,
      solana: registry.solana.map((entry) => ({
        ...entry,
        tokens: entry.tokens.map((token) => ({ ...token, decimals })),
      })),
    }),
  });
  await server.kill();
  server = await world.startServer(withDecimals(8));
  expect(await offered()).toBe(0);
  await saysWhy("the mint has 6 decimals, the registry says 8");
  await server.kill();
  const info = await rpc<{ value: { data: [string, string] } }>("getAccountInfo", [
    mint,
    { encoding: "base64" },
  ]);
  const plain = Buffer.from(info.value.data[0], "base64");
  // A Token-2022 mint with a transfer hook (type 14).
  const hooked = Buffer.concat([
    plain,
    Buffer.alloc(83),
    Buffer.from([1, 14, 0, 64, 0]),
    Buffer.alloc(64),
  ]);
  await rpc("surfnet_setAccount", [
    mint,
    {
      data: hooked.toString("hex"),
      owner: "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
      lamports: 10_000_000,
    },
  ]);
  server = await world.startServer();
  expect(await offered()).toBe(0);
  await saysWhy("extensions that may change or take back a transfer (types 14)");
});
