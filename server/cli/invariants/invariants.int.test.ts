import { spawn } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type pg from "pg";
import { encodeFunctionData, type Hex, parseAbi } from "viem";
import { generatePrivateKey, privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { fundGas, mint } from "#server/sandbox/deploy.ts";
import { environment } from "#server/sandbox/migrate.ts";
import { rpc } from "#server/sandbox/node-rpc.ts";
import { databaseUrl } from "#server/sandbox/postgres.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { actors, call, until } from "#server/testing/api.ts";
import { lagging, startRpcProxy } from "#server/testing/rpc-proxy.ts";
import { endsIn } from "#server/testing/unguarded.ts";
import { createTestWorld, type TestServer, type TestWorld } from "#server/testing/world.ts";
import { copyDatabase } from "./copy-database.ts";
import { LEGAL_ROWS } from "./legal-rows.ts";
import { openContext } from "./open.ts";
import { CHAIN_PLANTS } from "./plant-chain.ts";
import { REFUND_PLANTS } from "./plant-refunds.ts";
import { ROW_PLANTS } from "./plant-rows.ts";
import { LEGAL_WEBHOOKS, WEBHOOK_PLANTS } from "./plant-webhooks.ts";
import type { Ground, Plant } from "./plants.ts";
import { CHECKS, exitCodeOf, runChecks } from "./run.ts";
import { readSettings } from "./settings.ts";

const PLANTS = [...ROW_PLANTS, ...REFUND_PLANTS, ...WEBHOOK_PLANTS, ...CHAIN_PLANTS];
const LEGAL = [...LEGAL_ROWS, ...LEGAL_WEBHOOKS];
/** What neither database nor chains show. */
const NOT_SHOWN = ["I4", "I5", "I37", "I40"];
const CHAIN = "eip155:31337";
const TOKEN = parseAbi([
  "function transferWithAuthorization(address from, address to, uint256 value, uint256 validAfter, uint256 validBefore, bytes32 nonce, bytes signature)",
  "function transfer(address to, uint256 value)",
]);

type Line = { id: string; title: string; outcome: string; note?: string; examples?: string[] };
type Report = { code: number; text: string; lines: Line[] };

let world: TestWorld;
let server: TestServer;
/** A finished database that is copied for every plant. */
let clean: string;
const api = () => actors(world, () => server.baseUrl);
const first = () => {
  const found = world.world.chains[0];
  if (found === undefined) throw new Error("no chain");
  return { url: found.anvil.rpcUrl, ...found.deployment };
};
const intermediary = () =>
  privateKeyToAccount(world.world.memory.intermediaryKey).address.toLowerCase() as Hex;

/** What an operator with a node of his own sets: no key, no secret. */
const settings = (url: string): Record<string, string> => ({
  DATABASE_URL: url,
  FLORIN_REGISTRY_FILE: world.world.registryFile,
  ...Object.fromEntries(
    world.world.chains.map(({ anvil }) => [`FLORIN_RPC_${anvil.chainId}`, anvil.rpcUrl]),
  ),
});

/** What the command runs, for one invariant or for all, without a process of its own. */
async function runHere(url: string, of?: string): Promise<Report> {
  const { context, close } = await openContext(readSettings(settings(url)));
  const checks = CHECKS.filter(({ id }) => of === undefined || id === of);
  const lines = await runChecks(context, () => undefined, checks).finally(close);
  return { code: exitCodeOf(lines), text: JSON.stringify(lines, null, 2), lines };
}

/** Runs the command as an operator does. */
async function run(
  url: string,
  env: Record<string, string> = {},
  args = ["--json"],
): Promise<Report> {
  const command = join(ROOT, "node_modules", ".bin", "node");
  const child = spawn(command, [join(ROOT, "server/cli/invariants.ts"), ...args], {
    cwd: ROOT,
    env: { ...environment(), ...settings(url), ...env },
  });
  let text = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (text += chunk));
  const code = await new Promise<number>((resolve) => child.once("close", (n) => resolve(n ?? -1)));
  const lines: Line[] =
    args.includes("--json") && text.startsWith("{") ? JSON.parse(text).invariants : [];
  return { code, text, lines };
}

async function buyer(tokens: { usdc?: bigint } = {}) {
  const key = generatePrivateKey();
  const { address } = privateKeyToAccount(key);
  await fundGas(first().url, address);
  if (tokens.usdc) await mint(first().url, first(), "usdc", address, tokens.usdc);
  return { key, address };
}

const created = async (options: Parameters<ReturnType<typeof api>["create"]>[0] = {}) => {
  const answer = await api().create(options);
  if (answer.status !== 201) throw new Error(answer.text);
  return String(answer.body.paymentId);
};

/** An account's first option. A chain that was too busy to answer offers nothing at that moment. */
async function optionFor(id: string, address: Hex): Promise<{ id: string }> {
  const [option] = await until<{ id: string }[]>(
    async () => (await api().options(id, [`${CHAIN}:${address}`])).body.options ?? [],
    (options) => options.length > 0,
  );
  if (option === undefined) throw new Error("no option");
  return option;
}

const final = (id: string) =>
  until(
    () => api().status(id, 2_000),
    ({ body }) => body.isFinal,
  );

const send = async (key: Hex, data: Hex): Promise<void> => {
  const account = privateKeyToAccount(key);
  const nonce = Number(
    await rpc<Hex>(first().url, "eth_getTransactionCount", [account.address, "pending"]),
  );
  const raw = await account.signTransaction({
    type: "eip1559",
    chainId: 31337,
    nonce,
    to: first().usdc,
    data,
    gas: 200_000n,
    maxFeePerGas: 50_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
  });
  await rpc(first().url, "eth_sendRawTransaction", [raw]);
};

/** A relayer's own tokens, moved into the pool with its signature and somebody else's transaction. */
async function topUp(): Promise<void> {
  const key = world.world.memory.chains[0]?.relayerKeys[0] as Hex;
  const relayer = privateKeyToAccount(key);
  await mint(first().url, first(), "usdc", relayer.address, 500n);
  const nonce = `0x${"42".repeat(32)}` as const;
  const terms = [relayer.address, intermediary(), 500n, 0n, 99_999_999_999n, nonce] as const;
  const signature = await relayer.signTypedData({
    domain: { name: "USD Coin", version: "2", chainId: 31337, verifyingContract: first().usdc },
    types: {
      TransferWithAuthorization: [
        { name: "from", type: "address" },
        { name: "to", type: "address" },
        { name: "value", type: "uint256" },
        { name: "validAfter", type: "uint256" },
        { name: "validBefore", type: "uint256" },
        { name: "nonce", type: "bytes32" },
      ],
    },
    primaryType: "TransferWithAuthorization",
    message: {
      from: terms[0],
      to: terms[1],
      value: terms[2],
      validAfter: terms[3],
      validBefore: terms[4],
      nonce: terms[5],
    },
  });
  const operator = await buyer();
  await send(
    operator.key,
    encodeFunctionData({
      abi: TOKEN,
      functionName: "transferWithAuthorization",
      args: [...terms, signature],
    }),
  );
}

/** Payments of every kind that ends well, and of the kinds that end otherwise. */
async function live(): Promise<void> {
  const rich = world.buyer("everything").key;
  const keyed = { headers: { "Idempotency-Key": "order-1" } };
  const paying = [
    created(keyed).then((id) =>
      api()
        .pay(id, rich, "USDC")
        .then(() => id),
    ),
    created({ flow: "direct" }).then((id) =>
      api()
        .pay(id, world.buyer("usdc").key, "USDC")
        .then(() => id),
    ),
    created({ unit: "iso4217/EUR", value: "4321" }).then((id) =>
      api()
        .pay(id, rich, "USDC", "eip155:31338")
        .then(() => id),
    ),
    created().then((id) =>
      api()
        .pay(id, world.buyer("usdt").key, "USDT")
        .then(() => id),
    ),
  ];
  const late = await created();
  const stingy = await buyer({ usdc: 100_000_000n });
  await optionFor(late, stingy.address);
  await send(
    stingy.key,
    encodeFunctionData({
      abi: TOKEN,
      functionName: "transfer",
      args: [intermediary(), 7_000_000n],
    }),
  );
  await endsIn(world.db, late, 1);
  const confused = await created();
  const option = await optionFor(confused, stingy.address);
  await api().confirm(confused, option.id, [`0x${"ab".repeat(32)}`]);
  await topUp();
  const ids = await Promise.all(paying);
  for (const id of [...ids, late, confused]) await final(id);
}

/** Two payments of one merchant that are settled together; one transaction is replaced because it was stuck. */
async function liveBatch(): Promise<void> {
  await world.db.query(
    `update merchant set settlement_schedule = 'batched' where flow = 'intermediary'`,
  );
  // What is to be refunded is not settled before.
  await world.db.query(`insert into settlement_hold (asset, reason) values ('*', 'a test')`);
  const keyed = { headers: { "Idempotency-Key": "order-2" } };
  const ids = [await created(keyed), await created({ value: "2000" })];
  const rich = world.buyer("everything").key;
  await rpc(first().url, "evm_setIntervalMining", [0]);
  try {
    for (const id of ids) await api().pay(id, rich, "USDC");
    await until(
      () =>
        world.db.query(
          `select 1 from chain_tx t join chain_intent i on i.id = t.intent_id
           where i.payment_id = any($1) group by i.id having count(*) > 1`,
          [ids],
        ),
      (replaced) => replaced.length > 0,
    );
  } finally {
    await rpc(first().url, "evm_setIntervalMining", [1]);
  }
  await world.db.query(
    `select reserve_intent('fill:test', 'fill', null, null, $1, signer, '{"kind":"fill"}')
     from chain_intent where kind = 'capture' and chain = $1 limit 1`,
    [CHAIN],
  );
  for (const id of ids) await final(id);
  await refunds(ids[0] ?? "");
  await world.db.query(`delete from settlement_hold`);
}

/** Refunds of every kind: noted, sent out of a settlement that waits, and sent by the merchant's own account. */
async function refunds(id: string): Promise<void> {
  let keys = 0;
  const refund = async (flow: "intermediary" | "direct", body: object) => {
    const headers = { ...api().merchantHeaders(flow), "Idempotency-Key": `refund-${++keys}` };
    const answer = await call(server.baseUrl, "POST", "/v1/refunds", { headers, body });
    if (answer.status !== 201) throw new Error(answer.text);
    return answer.body;
  };
  const execute = { kind: "execute", amount: "2500000" };
  await refund("intermediary", { paymentId: id, ...execute });
  await refund("intermediary", { paymentId: id, amount: "1" });
  const [direct] = await until(
    () =>
      world.db.query<{ id: string }>(
        `select c.payment_id as id from capture c join payment p on p.id = c.payment_id and p.flow = 'direct'
         where c.status = 'finalized'`,
      ),
    (found) => found.length > 0,
  );
  const { transfer } = await refund("direct", { paymentId: direct?.id, ...execute });
  const [tx] = transfer.params;
  await rpc(first().url, "anvil_setBalance", [tx.from, "0x56bc75e2d63100000"]);
  await rpc(first().url, "anvil_impersonateAccount", [tx.from]);
  await rpc(first().url, "eth_sendTransaction", [tx]);
}

const settled = () =>
  until(
    () =>
      world.db.query(
        `select (select count(*) from chain_intent where state in ('signed', 'broadcast', 'mined')) as open,
           (select count(*) from settlement where state = 'final') as settled,
           (select count(*) from refund where state = 'succeeded') as refunded,
           (select count(*) from movement where state in ('exception', 'topup')) as told,
           (select count(*) from capture where status <> 'finalized') as confirmed,
           (select count(*) from outbox where number is null) as unnumbered`,
      ),
    ([row]) =>
      JSON.stringify(row) ===
      JSON.stringify({
        ...{ open: "0", settled: "5", refunded: "3", told: "2", confirmed: "0", unnumbered: "0" },
      }),
  );

beforeAll(async () => {
  world = await createTestWorld({ chains: 2 });
  server = await world.startServer({
    env: { FLORIN_SETTLEMENT_BATCH_S: "2" },
    registry: (registry) => ({
      ...registry,
      chains: registry.chains.map((chain) => ({ ...chain, stuckAfterS: 2 })),
    }),
  });
});
afterAll(() => world?.stop());

// Guarantee: a service that works while it is checked raises no alarm.
test("a busy world is clean all the time", async () => {
  let busy = true;
  const work = live()
    .then(liveBatch)
    .then(settled)
    .finally(() => {
      busy = false;
    });
  const reports: Report[] = [];
  while (busy) reports.push(await runHere(world.world.databaseUrl));
  await work;
  expect(reports.length).toBeGreaterThan(0);
  for (const { code, text } of reports) expect(code, text).toBe(0);
});

// Guarantee: every invariant has its line, and in a clean world each one that can be shown is.
test("a clean world is clean", async () => {
  await server.stop();
  for (const { anvil } of world.world.chains) await rpc(anvil.rpcUrl, "evm_setIntervalMining", [0]);
  await world.db.close();
  clean = world.world.databaseUrl;
  const { code, lines, text } = await run(clean);
  expect(code, text).toBe(0);
  expect(lines.map(({ id }) => id)).toEqual([...Array(40).keys()].map((n) => `I${n + 1}`));
  const outcomes = lines.map(({ id, outcome }) => `${id} ${outcome}`);
  expect(outcomes).toEqual(
    lines.map(({ id }) => `${id} ${NOT_SHOWN.includes(id) ? "not_checked" : "ok"}`),
  );
  const words = await run(clean, {}, []);
  expect(words.text).toMatch(/^I1 {2}ok {8}status equals the last event \(8 payments\)$/m);
  expect(words.text).toMatch(/^I5 {2}not checked: observed by clients/m);
  expect(words.text.trimEnd().split("\n")).toHaveLength(41);
});

// Guarantee: no invariant is called checked that was never seen violated.
test("every checked invariant has a plant", async () => {
  const { lines } = await run(clean);
  const checked = lines.filter(({ outcome }) => outcome === "ok").map(({ id }) => id);
  expect(checked.filter((id) => !PLANTS.some(({ of }) => of === id))).toEqual([]);
});

/** Plants that the command finds as a process of its own: one in the database, and one that only the chain shows. */
const AS_PROCESS = ["I1", "I10"];

/** What the first node sees of a copy of the database. */
const groundOf = ({ client }: { client: pg.Client }): Ground => ({
  sql: async (text, values) => {
    const { rows, command, rowCount } = await client.query(text, values);
    if (["INSERT", "UPDATE", "DELETE"].includes(command)) expect(rowCount, text).not.toBe(0);
    return rows;
  },
  node: (method, params) => rpc(first().url, method, params),
  chain: CHAIN,
  usdc: first().usdc,
  intermediary: intermediary(),
});

/** A plant is found by what the command runs: the first of an invariant among all checks, further ones by its own. */
async function expectFound({ of, plant, endsTheWorld }: Plant, index: number): Promise<void> {
  const copy = await copyDatabase(clean, `planted_${index}`);
  const before = await rpc<string>(first().url, "evm_snapshot");
  try {
    await plant(groundOf(copy));
    const isFirst = PLANTS.findIndex((other) => other.of === of) === index;
    const { code, lines, text } =
      isFirst && AS_PROCESS.includes(of)
        ? await run(copy.url)
        : await runHere(copy.url, isFirst ? undefined : of);
    const line = lines.find(({ id }) => id === of);
    expect(line?.outcome, text).toBe("violated");
    expect(line?.examples?.length).toBeGreaterThan(0);
    expect(code).toBe(1);
  } finally {
    await copy.drop();
    if (endsTheWorld !== true) await rpc(first().url, "evm_revert", [before]);
  }
}

// Guarantee: whatever was planted is found, on the line it belongs to, and the command fails.
const CASES = PLANTS.map((plant, index) => [plant.of, plant.planted, plant, index] as const);
test.for(CASES.filter(([, , { endsTheWorld }]) => endsTheWorld !== true))(
  "%s finds %s",
  ([, , plant, index]) => expectFound(plant, index),
);

// Guarantee: what a service may do raises no alarm.
test.for(LEGAL.map((legal, index) => [legal.of, legal.planted, legal, index] as const))(
  "%s allows %s",
  async ([of, , { plant }, index]) => {
    const copy = await copyDatabase(clean, `legal_${index}`);
    try {
      await plant(groundOf(copy));
      const { lines, text } = await runHere(copy.url, of);
      expect(lines[0]?.outcome, text).toBe("ok");
    } finally {
      await copy.drop();
    }
  },
);

// Guarantee: the chains are as before, so every plant was judged on clean ground.
test("what was planted is gone again", async () => {
  const { code, text } = await run(clean);
  expect(code, text).toBe(0);
});

// Guarantee: a running sandbox is checked without any setting.
test("the sandbox file is enough", async () => {
  const dir = join(world.world.dir, "told");
  mkdirSync(dir);
  const merchant = { id: "mer_x", apiKey: "sk_test_x", flow: "intermediary" };
  const told = {
    baseUrl: server.baseUrl,
    checkoutUrl: server.baseUrl,
    merchant,
    merchants: [merchant],
    gateway: { apiKey: "gk_test_x" },
    accounts: [],
    chains: world.world.chains.map(({ caip2, anvil, deployment }) => ({
      caip2,
      rpcUrl: anvil.rpcUrl,
      tokens: (["usdc", "usdt"] as const).map((name) => ({
        symbol: name.toUpperCase(),
        caip19: `${caip2}/erc20:${deployment[name]}`,
        address: deployment[name],
        decimals: 6,
        mechanism: "eip3009",
      })),
    })),
    databaseUrl: clean,
  };
  writeFileSync(join(dir, "sandbox.json"), JSON.stringify(told));
  const empty = { DATABASE_URL: "", FLORIN_RPC_31337: "", FLORIN_RPC_31338: "", SANDBOX_DIR: dir };
  const { code, lines, text } = await run(clean, empty);
  expect(code, text).toBe(0);
  expect(lines.filter(({ outcome }) => outcome === "ok")).toHaveLength(40 - NOT_SHOWN.length);
});

// Guarantee: what could not be looked at is never taken for clean.
test("a missing database or a silent node is no success", async () => {
  const dead = await run("postgresql://nobody@127.0.0.1:1/none");
  expect([dead.code, dead.text]).toEqual([2, expect.stringContaining("does not answer")]);
  const empty = await run(databaseUrl(clean, "postgres"));
  expect([empty.code, empty.text]).toEqual([2, expect.stringContaining("never migrated")]);
  const nothing = { DATABASE_URL: "", SANDBOX_DIR: join(world.world.dir, "nowhere") };
  expect((await run(clean, nothing)).code).toBe(2);
  const silent = await run(clean, { FLORIN_RPC_31337: "http://127.0.0.1:1" });
  expect(silent.code, silent.text).toBe(2);
  expect(silent.lines.find(({ id }) => id === "I10")).toMatchObject({ outcome: "not_checked" });
  expect(silent.lines.find(({ id }) => id === "I1")).toMatchObject({ outcome: "ok" });
});

// Guarantee: a second node that is behind the server's raises no alarm, and what it cannot show yet is counted.
test("a node that is some blocks behind", async () => {
  const copy = await copyDatabase(clean, "behind");
  const proxy = await startRpcProxy(first().url);
  try {
    const { rows } = await copy.client.query(
      `select min(number) as first from (
         select max(block_number) as number from capture where chain = $1
         union all select max(mined_block) from chain_intent where chain = $1 and kind = 'settlement'
         union all select max(mined_block) from chain_intent where chain = $1 and kind = 'refund') newest`,
      [CHAIN],
    );
    // What is final is two blocks behind the head.
    proxy.fail(lagging(BigInt(rows[0].first) + 1n));
    const { code, lines, text } = await run(copy.url, { FLORIN_RPC_31337: proxy.url });
    expect(code, text).toBe(0);
    for (const id of ["I10", "I28", "I39"])
      expect(lines.find((line) => line.id === id)?.note).toMatch(
        /eip155:31337: [1-9]\d* above its node's final block/,
      );
  } finally {
    await proxy.stop();
    await copy.drop();
  }
});

/** The world's registry without one of its tokens. */
function registryWithout(token: Hex): string {
  const file = join(world.world.dir, "smaller.json");
  const registry = JSON.parse(readFileSync(world.world.registryFile, "utf8"));
  for (const chain of registry.chains)
    chain.tokens = chain.tokens.filter(
      ({ address }: { address: string }) => address.toLowerCase() !== token.toLowerCase(),
    );
  writeFileSync(file, JSON.stringify(registry));
  return file;
}

// Guarantee: what the books hold and the registry does not know is compared all the same, and what cannot be judged is said.
test("a token that the registry does not know", async () => {
  const registry = { FLORIN_REGISTRY_FILE: registryWithout(first().usdt) };
  const { code, lines, text } = await run(clean, registry);
  expect(code, text).toBe(0);
  const asset = `${CHAIN}/erc20:${first().usdt.toLowerCase()}`;
  expect(lines.find(({ id }) => id === "I14")).toMatchObject({
    outcome: "ok",
    note: expect.stringContaining(`${asset} is not in this registry`),
  });
  expect(lines.find(({ id }) => id === "I15")).toMatchObject({
    outcome: "not_checked",
    note: expect.stringMatching(`options in ${asset}, which this registry does not know`),
  });
  const copy = await copyDatabase(clean, "unregistered");
  try {
    const { rowCount } = await copy.client.query(
      `update ledger_entry e set amount = e.amount + 1000000000 from ledger_account a
       where a.id = e.account_id and a.kind = 'intermediary' and a.asset = $1 and e.amount > 0`,
      [asset],
    );
    expect(rowCount).not.toBe(0);
    const planted = await run(copy.url, registry);
    const line = planted.lines.find(({ id }) => id === "I14");
    expect([line?.outcome, line?.examples?.join()]).toEqual([
      "violated",
      expect.stringContaining(`${asset}: the chain holds`),
    ]);
  } finally {
    await copy.drop();
  }
});

// Guarantee: a chain that was not asked for is named, and what is known without it is still checked.
test("a chain without a node is said to be unchecked", async () => {
  const { code, lines } = await run(clean, { FLORIN_RPC_31338: "" });
  expect(code).toBe(0);
  const note = lines.find(({ id }) => id === "I10")?.note;
  expect(note).toContain("eip155:31338 not checked: no node: set FLORIN_RPC_31338");
});

// Last, since no chain comes back from it.
// Guarantee: as above.
test.for(CASES.filter(([, , { endsTheWorld }]) => endsTheWorld === true))(
  "%s finds %s",
  ([, , plant, index]) => expectFound(plant, index),
);
