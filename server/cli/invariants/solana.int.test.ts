import { afterAll, beforeAll, expect, test } from "vitest";
import { call, until } from "#server/testing/api.ts";
import { expectInvariants } from "#server/testing/native/invariants.ts";
import { solanaShop } from "#server/testing/solana.ts";
import { createTestWorld, type TestServer, type TestWorld } from "#server/testing/world.ts";
import { copyDatabase } from "./copy-database.ts";
import { openContext } from "./open.ts";
import { CHECKS, exitCodeOf, inWords, type Line, runChecks, summary } from "./run.ts";
import { readSettings } from "./settings.ts";

const SOL = 1_000_000_000n;
/** The id of a transaction that nobody made. */
const NOBODY = "1".repeat(64);

let world: TestWorld;
let server: TestServer;
const shop = () => solanaShop(world, () => server);

beforeAll(async () => {
  world = await createTestWorld({ solana: { slotMs: 50 } });
  server = await world.startServer();
});
afterAll(() => world?.stop());

async function runHere(env: Record<string, string> = {}): Promise<Line[]> {
  const { context, close } = await openContext(readSettings({ ...world.world.serverEnv, ...env }));
  return runChecks(context, () => undefined).finally(close);
}

const alarms = (lines: Line[]): string[] =>
  lines
    .filter(
      (line) => line.outcome === "violated" || (line.outcome === "not_checked" && line.failed),
    )
    .map(inWords);

async function paid(symbol: "USDC" | "SOL"): Promise<string> {
  const { created, paySolana, final, newBuyer } = shop();
  const buyer = await newBuyer({ usdc: 100_000_000n, lamports: SOL });
  const id = await created({ value: "1500" });
  await paySolana(id, buyer, symbol);
  expect((await final(id)).body.status).toBe("succeeded");
  return id;
}

/** Payments in both assets, one of them partly refunded, all settled. */
async function live(): Promise<void> {
  await world.db.query(`insert into settlement_hold (asset, reason) values ('*', 'a test')`);
  const id = await paid("USDC");
  const made = await call(server.baseUrl, "POST", "/v1/refunds", {
    headers: shop().merchantHeaders("intermediary"),
    body: { paymentId: id, amount: "5000000", kind: "execute" },
  });
  expect(made.status, made.text).toBe(201);
  await world.db.query(`delete from settlement_hold`);
  await paid("SOL");
  await paid("USDC");
  await until(
    () =>
      world.db.query(`select 1 from settlement where state = 'final' union all
        select 1 from refund where state = 'succeeded'`),
    (done) => done.length > 1,
  );
  await expectInvariants(world);
}

// Guarantee: a service that works on Solana while it is checked raises no alarm.
test("a busy cluster is clean all the time", async () => {
  let busy = true;
  const work = live().finally(() => {
    busy = false;
  });
  const found: string[] = [];
  while (busy) found.push(...alarms(await runHere()));
  await work;
  expect(found).toEqual([]);
});

// Guarantee: money that leaves while the checks run was there when the books were read.
test("a settlement during a run", async () => {
  await world.db.query(`insert into settlement_hold (asset, reason) values ('*', 'a test')`);
  await paid("USDC");
  const { context, close } = await openContext(readSettings(world.world.serverEnv));
  try {
    await world.db.query(`delete from settlement_hold`);
    await expectInvariants(world);
    const checks = CHECKS.filter(({ id }) => id === "I14");
    expect(alarms(await runChecks(context, () => undefined, checks))).toEqual([]);
  } finally {
    await close();
  }
});

// Guarantee: a password in a node's URL reaches the node, and no answer.
test("a node with a password", async () => {
  const chain = shop().chain();
  const [, id = ""] = chain.caip2.split(":");
  const withPassword = (url: string) => url.replace("://", "://operator:sekret-42@");
  const evm = world.world.chains[0]?.anvil;
  const good = await runHere({
    [`FLORIN_RPC_${id}`]: withPassword(chain.rpcUrl),
    [`FLORIN_RPC_${evm?.chainId}`]: withPassword(evm?.rpcUrl ?? ""),
  });
  expect(alarms(good)).toEqual([]);
  const dead = await runHere({
    [`FLORIN_RPC_${id}`]: withPassword("http://127.0.0.1:1"),
    [`FLORIN_RPC_${evm?.chainId}`]: withPassword("http://127.0.0.1:1"),
  });
  expect(exitCodeOf(dead)).toBe(2);
  expect(JSON.stringify(dead)).not.toContain("sekret-42");
});

// Guarantee: what an invariant says and nothing here can show is named on its line, and counted.
test("parts that cannot be shown are named", async () => {
  const lines = await runHere();
  const words = (of: string) => inWords(lines.find(({ id }) => id === of) as Line);
  expect(words("I22")).toContain("proofs of expiry not checked: they are not stored");
  expect(words("I32")).toContain("bodies of attempts not checked: they are not stored");
  expect(words("I39")).toContain("budgets not checked: no budget is configured");
  const partly = lines.filter((line) => line.outcome === "ok" && line.unchecked.length > 0).length;
  expect(summary(lines)).toMatch(
    new RegExp(`^\\d+ ok \\(${partly} of them in part\\), 0 violated, `),
  );
});

// Guarantee: what is not looked at on a cluster is said on every line that looks at chains.
test("each line says what it leaves out", async () => {
  await server.stop();
  await world.db.close();
  const lines = await runHere();
  expect(alarms(lines)).toEqual([]);
  const left = lines.filter(
    (line) => line.outcome === "ok" && line.unchecked.some((one) => one.includes("solana:")),
  );
  expect(left.map(({ id }) => id)).toEqual(["I11", "I24", "I25"]);
  for (const line of left) expect(inWords(line)).toMatch(/solana:\w+ not checked: \w+/);
});

const ON_SOLANA = `split_part(asset, '/', 1) like 'solana:%'`;

const PLANTS: [of: string, planted: string, ...statements: string[]][] = [
  [
    "I10",
    "a capture of a transaction that nobody made",
    `update capture set tx_ref = '${NOBODY}' where id = (select min(id) from capture where chain like 'solana:%')`,
  ],
  [
    "I10",
    "a capture of more than arrived",
    `update capture set received = received + 1 where chain like 'solana:%'`,
  ],
  [
    "I10",
    "a capture booked from another slot",
    `update capture set block_number = block_number - 1 where chain like 'solana:%'`,
  ],
  [
    "I14",
    "books that say more than the account holds",
    `update ledger_entry e set amount = amount + 1000000000 from ledger_account a
     where a.id = e.account_id and a.kind = 'intermediary' and a.asset like 'solana:%' and e.amount > 0`,
  ],
  [
    "I23",
    "an intent with two landed transactions",
    `update chain_tx set replaces = hash, intent_id = (select intent_id from settlement where state = 'final' and ${ON_SOLANA} limit 1)
     where intent_id in (select id from chain_intent where kind = 'capture')`,
  ],
  [
    "I28",
    "a final settlement without a transfer",
    `update settlement set tx_ref = '${NOBODY}' where state = 'final' and ${ON_SOLANA}`,
    `update chain_intent set mined_hash = '${NOBODY}' where kind = 'settlement'`,
  ],
  [
    "I28",
    "a transfer of less than its settlement",
    `update settlement set amount = amount + 1 where state = 'final' and ${ON_SOLANA}`,
  ],
  [
    "I28",
    "a transfer whose settlement is called blocked",
    `update settlement set state = 'blocked' where state = 'final' and ${ON_SOLANA}`,
  ],
  [
    "I28",
    "a refund to somebody else",
    `update refund set destination = destination || 'x' where state = 'succeeded' and intent_id is not null`,
  ],
  [
    "I28",
    "a merchant's refund that rests on nothing",
    `update refund set tx_ref = '${NOBODY}', log_index = 1, intent_id = null, ended_at = ended_at - interval '1 hour'
     where state = 'succeeded'`,
  ],
  [
    "I39",
    "gas recorded and posted as less than the chain took",
    `update chain_intent set gas_cost = gas_cost - 1`,
    `update ledger_entry e set amount = e.amount - sign(e.amount) from ledger_tx t
     where t.id = e.tx_id and t.reason = 'gas'`,
  ],
];

// Guarantee: whatever was planted is found, on the line it belongs to.
test.for(PLANTS.map((plant, index) => [plant[0], plant[1], plant.slice(2), index] as const))(
  "%s finds %s",
  async ([of, , statements, index]) => {
    const copy = await copyDatabase(world.world.databaseUrl, `planted_${index}`);
    try {
      for (const statement of statements)
        expect((await copy.client.query(statement)).rowCount, statement).toBeGreaterThan(0);
      const lines = await runHere({ DATABASE_URL: copy.url });
      const line = lines.find(({ id }) => id === of);
      expect(line?.outcome, lines.map(inWords).join("\n")).toBe("violated");
      expect(JSON.stringify(line)).toContain("solana:");
    } finally {
      await copy.drop();
    }
  },
);

/** Lets a quarter of an hour pass on the chain. */
async function letTimePass(): Promise<void> {
  const { rpc } = shop();
  const timeOf = async () => {
    const slot = await rpc<number>("getSlot", [{ commitment: "finalized" }]);
    return rpc<number>("getBlockTime", [slot]);
  };
  const before = await timeOf();
  await rpc("surfnet_timeTravel", [{ absoluteTimestamp: (before + 1_000) * 1_000 }]);
  await until(timeOf, (now) => now >= before + 1_000);
}

// Guarantee: a service that stopped recording what is final is found on Solana too.
test("I35 finds a transaction that is final and still called sent", async () => {
  const copy = await copyDatabase(world.world.databaseUrl, "planted_open");
  try {
    await letTimePass();
    const { rowCount } = await copy.client.query(
      `update chain_intent set state = 'broadcast', created_at = now() - interval '1 hour' where kind = 'settlement'`,
    );
    expect(rowCount).toBeGreaterThan(0);
    const lines = await runHere({ DATABASE_URL: copy.url });
    const line = lines.find(({ id }) => id === "I35");
    expect(line?.outcome, lines.map(inWords).join("\n")).toBe("violated");
    expect(alarms(await runHere())).toEqual([]);
  } finally {
    await copy.drop();
  }
});
