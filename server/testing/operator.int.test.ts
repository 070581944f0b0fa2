import { execFile } from "node:child_process";
import { join } from "node:path";
import { createWalletClient, type Hex, parseGwei } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { openContext } from "#server/cli/invariants/open.ts";
import { runChecks } from "#server/cli/invariants/run.ts";
import { readSettings } from "#server/cli/invariants/settings.ts";
import { liftHold, listStopped, retrySettlement } from "#server/db/operator.ts";
import { fundGas } from "#server/sandbox/deploy.ts";
import { environment } from "#server/sandbox/migrate.ts";
import { nodeTransport, rpc } from "#server/sandbox/node-rpc.ts";
import { ROOT } from "#server/sandbox/prepare.ts";
import { until } from "./api.ts";
import { explainCalls, PATIENCE_MS } from "./explain-calls.ts";
import { createTestWorld, fromNowOn, type TestServer, type TestWorld } from "./world.ts";

const CHAIN = "eip155:31337";
/** What a payment of 12.50 USD leaves the demo merchant. */
const NET = 12_450_000n;

let world: TestWorld;
let server: TestServer;
let calls: ReturnType<typeof explainCalls>;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({
    registry: (registry) => ({
      ...registry,
      chains: registry.chains.map((entry) => ({ ...entry, stuckAfterS: 2 })),
    }),
  });
  calls = explainCalls(world, () => server.baseUrl);
});
afterAll(() => world?.stop());

const chain = () => {
  const found = world.world.chains[0];
  if (found === undefined) throw new Error("no chain");
  return { url: found.anvil.rpcUrl, ...found.deployment };
};
const rows = <Row>(text: string, values: unknown[] = []) => world.db.query<Row>(text, values);
const eventually = <T>(ask: () => Promise<T>, done: (value: T) => boolean) =>
  until(ask, done, PATIENCE_MS);
const addressOf = (key: Hex): Hex => privateKeyToAccount(key).address.toLowerCase() as Hex;

/** The relayers' and the intermediary's keys. */
function ourKeys() {
  const [memory] = world.world.memory.chains;
  if (memory === undefined) throw new Error("no keys");
  return { relayers: memory.relayerKeys, intermediary: world.world.memory.intermediaryKey };
}

function keyOf(signer: string): Hex {
  const { relayers, intermediary } = ourKeys();
  const key = [...relayers, intermediary].find((one) => addressOf(one) === signer);
  if (key === undefined) throw new Error(`no key of ${signer}`);
  return key;
}

/** Lets the chain make no block but by `evm_mine` while something is done. */
async function withoutBlocks(work: (mine: () => Promise<unknown>) => Promise<void>) {
  await rpc(chain().url, "evm_setIntervalMining", [0]);
  try {
    await work(() => rpc(chain().url, "evm_mine"));
  } finally {
    await rpc(chain().url, "evm_setIntervalMining", [1]);
  }
}

/** What another program does with one of our keys: nothing to anybody, at a fee that pushes ours aside. */
async function sendOutside(key: Hex, nonce?: number): Promise<void> {
  const account = privateKeyToAccount(key);
  await createWalletClient({ account, transport: nodeTransport(chain().url) }).sendTransaction({
    to: account.address,
    value: 0n,
    gas: 21_000n,
    maxFeePerGas: parseGwei("200"),
    maxPriorityFeePerGas: parseGwei("100"),
    chain: null,
    ...(nonce === undefined ? {} : { nonce }),
  });
}

const holds = async () => (await listStopped(world.db)).holds.map(({ asset }) => asset);
const outflows = (signer: string, nonce: string | number) =>
  rows<{ id: string; state: string }>(
    `select id, state from exception_record where kind = 'unknown_outflow' and tx_ref = $1`,
    [`${signer}:${nonce}`],
  );

type IntentRow = { id: string; signer: string; nonce: string; state: string };

const capturesOf = (paymentId: string) =>
  rows<IntentRow>(
    `select id, signer, nonce, state from chain_intent where payment_id = $1 and kind = 'capture' order by nonce`,
    [paymentId],
  );

type SettlementRow = { id: string; state: string; detail: string | null; intent_id: string | null };

const settlementsOf = (paymentId: string) =>
  rows<SettlementRow>(
    `select id, state, detail, intent_id from settlement where payment_id = $1 order by created_at`,
    [paymentId],
  );

const received = async () => {
  const destination = world.demo.merchants.find(({ flow }) => flow === "intermediary")?.destination;
  const data = `0x70a08231${destination?.slice(2).padStart(64, "0")}`;
  return BigInt(await rpc<string>(chain().url, "eth_call", [{ to: chain().usdc, data }, "latest"]));
};

/** The server with what it logs in the test under way. */
let heard: TestServer;
beforeEach(() => {
  heard = fromNowOn(server);
});

/** The lines of the server's log of this test with these words in one line. */
const linesWith = (...words: string[]) =>
  heard
    .output()
    .split("\n")
    .filter((line) => words.every((word) => line.includes(word)));

/** The same, once there are any: the log is written a little later than what it tells. */
const told = (...words: string[]) =>
  eventually(
    async () => linesWith(...words),
    ({ length }) => length > 0,
  );

async function cli(command: string, words: string[]) {
  return new Promise<{ code: number; out: string; err: string }>((resolve) => {
    execFile(
      join(ROOT, "node_modules", ".bin", "node"),
      [join(ROOT, "server", "cli", command), ...words],
      { cwd: ROOT, env: { ...environment(), ...world.world.serverEnv }, timeout: PATIENCE_MS },
      (error, out, err) =>
        resolve({ code: typeof error?.code === "number" ? error.code : 0, out, err }),
    );
  });
}

/** A USDC option of a new payment whose captures are the first relayer's: its authorization's nonce says so. */
async function offeredForFirstRelayer() {
  const buyer = world.buyer("everything");
  for (;;) {
    const id = await calls.created();
    const offered = await calls.offered(id, `${CHAIN}:${buyer.address}`);
    const option = offered.find(({ amount }) => amount.display.assetSymbol === "USDC");
    const [action] = option?.actions ?? [];
    if (option === undefined || action === undefined) throw new Error("no option");
    const { nonce } = JSON.parse(String(action.data.params[1])).message;
    if (Number.parseInt(nonce.slice(-6), 16) % ourKeys().relayers.length === 0)
      return {
        id,
        confirm: async () =>
          calls.api.confirm(id, option.id, [await calls.api.execute(action, buyer.key)]),
      };
  }
}

// Guarantee: a relayer without gas money stops nothing: its chain is still offered, and another relayer does its work. First, as the answer to who has gas money is remembered for a moment.
test("one relayer without gas money", async () => {
  const [empty, other] = ourKeys().relayers.map(addressOf);
  if (empty === undefined || other === undefined) throw new Error("no relayers");
  await rpc(chain().url, "anvil_setBalance", [empty, "0x0"]);
  const { id, confirm } = await offeredForFirstRelayer();
  await confirm();
  await calls.becomes(id, "succeeded.settled");
  expect((await capturesOf(id)).map(({ signer }) => signer)).toEqual([other]);
  expect(await told("too little money", empty)).toHaveLength(1);
  await fundGas(chain().url, empty);
  await told("has money for network fees again", empty);
});

// Guarantee: a relayer's nonce that another program took delays a payment, and payouts wait for one look, once.
test("a capture whose nonce was taken is submitted again", async () => {
  const id = await calls.created();
  let taken: IntentRow | undefined;
  await withoutBlocks(async (mine) => {
    await calls.pay(id);
    [taken] = await eventually(
      () => capturesOf(id),
      ([one]) => one?.state === "broadcast",
    );
    await sendOutside(keyOf(taken?.signer ?? ""), Number(taken?.nonce));
    await mine();
  });
  const held = await calls.becomes(id, "succeeded.settlement_held");
  expect(held.actor).toBe("operator");
  const [first, second, ...more] = await capturesOf(id);
  expect([first?.id, first?.state, more]).toEqual([taken?.id, "superseded", []]);
  expect(["mined", "final"]).toContain(second?.state);
  const [record, ...others] = await outflows(taken?.signer ?? "", taken?.nonce ?? "");
  expect([record?.state, others]).toEqual(["open", []]);
  expect(await holds()).toEqual(["*"]);
  expect(await liftHold(world.db, "*")).toBe(true);
  await calls.becomes(id, "succeeded.settled");
  expect(await holds()).toEqual([]);
});

// Guarantee: a payout whose nonce was taken is never said to be on its way; lifting the hold and one retry pay it, once.
test("a settlement whose nonce was taken is blocked, lifted and tried again", async () => {
  const before = await received();
  await rows(`insert into settlement_hold (asset, reason) values ('*', 'a test')`);
  const id = await calls.created();
  await calls.pay(id);
  await eventually(
    () => settlementsOf(id),
    ([one]) => one?.state === "pending",
  );
  let taken: IntentRow | undefined;
  await withoutBlocks(async (mine) => {
    await liftHold(world.db, "*");
    [taken] = await eventually(
      () =>
        rows<IntentRow>(
          `select i.* from settlement s join chain_intent i on i.id = s.intent_id
           where s.payment_id = $1 and i.state = 'broadcast'`,
          [id],
        ),
      (found) => found.length === 1,
    );
    await sendOutside(ourKeys().intermediary, Number(taken?.nonce));
    await mine();
  });
  const [blocked] = await eventually(
    () => settlementsOf(id),
    ([one]) => one?.state === "blocked",
  );
  expect(blocked?.detail).toContain(`nonce ${taken?.nonce} of ${taken?.signer}`);
  expect((await calls.explanation(id)).code).toBe("succeeded.settlement_blocked");
  expect(await holds()).toEqual(["*"]);
  expect(await told("an exception was recorded", `${taken?.signer}:${taken?.nonce}`)).toHaveLength(
    1,
  );
  expect((await cli("settlements.ts", ["lift", "*"])).out).toContain("is lifted");
  expect((await cli("settlements.ts", ["retry", blocked?.id ?? ""])).out).toContain(
    "is tried again",
  );
  await calls.becomes(id, "succeeded.settled");
  expect((await settlementsOf(id)).map(({ state }) => state)).toEqual(["superseded", "final"]);
  expect(await holds()).toEqual([]);
  expect(await outflows(taken?.signer ?? "", taken?.nonce ?? "")).toHaveLength(1);
  expect((await received()) - before).toBe(NET);
  expect(await retrySettlement(world.db, blocked?.id ?? "")).toBeNull();
});

// Guarantee: what somebody sends with a key of ours is noticed without a payment, and payments go on after one look.
test("a transaction made outside is noticed while nothing is to be done", async () => {
  const signer = addressOf(ourKeys().intermediary);
  const next = async () =>
    (
      await rows<{ next: string }>(
        `select next from signer_nonce where chain = $1 and signer = $2`,
        [CHAIN, signer],
      )
    )[0]?.next ?? "";
  const first = Number(await next());
  await sendOutside(ourKeys().intermediary);
  await sendOutside(ourKeys().intermediary, first + 1);
  for (const nonce of [first, first + 1])
    await eventually(
      () => outflows(signer, nonce),
      (found) => found.length === 1,
    );
  expect(await holds()).toEqual(["*"]);
  expect(await told("an exception was recorded", `${signer}:${first}"`)).toHaveLength(1);
  await liftHold(world.db, "*");
  const id = await calls.created();
  await calls.pay(id);
  await calls.becomes(id, "succeeded.settled");
  expect(Number(await next())).toBe(first + 3);
  expect(await holds()).toEqual([]);
  await eventually(
    () =>
      rows(
        `select 1 from chain_intent where chain = $1 and state in ('signed', 'broadcast', 'mined')`,
        [CHAIN],
      ),
    (open) => open.length === 0,
  );
});

/** The invariants that do not hold now. */
async function violated(): Promise<string[]> {
  const { context, close } = await openContext(readSettings(world.world.serverEnv));
  const lines = await runChecks(context, () => undefined).finally(close);
  return lines.filter(({ outcome }) => outcome === "violated").map(({ id }) => id);
}

// Guarantee: after all of this every rule of the books holds; what was sent outside is told until somebody has looked.
test("the invariants hold, but for what others did with our keys", async () => {
  expect(await violated()).toEqual(["I24"]);
});

// Guarantee: a key without gas money is named with where to fund it, told once in the log, and its fees are not driven up.
test("keys without gas money", async () => {
  const keys = [...ourKeys().relayers, ourKeys().intermediary];
  const id = await calls.created();
  const buyer = world.buyer("everything");
  const offered = await calls.offered(id, `${CHAIN}:${buyer.address}`);
  const option = offered.find(({ amount }) => amount.display.assetSymbol === "USDC");
  const [action] = option?.actions ?? [];
  if (option === undefined || action === undefined) throw new Error("no option");
  for (const key of keys) await rpc(chain().url, "anvil_setBalance", [addressOf(key), "0x0"]);
  await calls.api.confirm(id, option.id, [await calls.api.execute(action, buyer.key)]);
  const waits = await calls.becomes(id, "processing.no_gas_money");
  const [intent] = await capturesOf(id);
  expect(waits.actor).toBe("operator");
  expect(waits.nextStep).toContain(`Fund ${intent?.signer} on `);
  const head = async () =>
    Number(
      (
        await rows<{ n: string }>(`select latest_number as n from chain_cursor where chain = $1`, [
          CHAIN,
        ])
      )[0]?.n,
    );
  const seenAt = await head();
  await eventually(head, (now) => now >= seenAt + 8);
  expect(await rows(`select 1 from chain_tx where intent_id = $1`, [intent?.id])).toHaveLength(1);
  expect(await told("too little money", intent?.signer ?? "none")).toHaveLength(1);
  for (const key of ourKeys().relayers) await fundGas(chain().url, addressOf(key));
  const unpaid = await calls.becomes(id, "succeeded.settlement_no_gas_money");
  expect(unpaid.nextStep).toContain(addressOf(ourKeys().intermediary));
  await fundGas(chain().url, addressOf(ourKeys().intermediary));
  await calls.becomes(id, "succeeded.settled");
  await eventually(
    () => rows(`select 1 from signer_nonce where gas_short_since is not null`),
    (short) => short.length === 0,
  );
});

// Guarantee: money that a reorganisation took and brought back leaves nothing to be dealt with.
test("an orphaned record closes when the transfer is back", async () => {
  const id = await calls.created();
  const record = () =>
    rows<{ state: string; resolution: string | null }>(
      `select state, resolution from exception_record where payment_id = $1 and kind = 'orphaned'`,
      [id],
    );
  await withoutBlocks(async (mine) => {
    await calls.pay(id);
    await eventually(
      () => capturesOf(id),
      ([one]) => one?.state === "broadcast",
    );
    await mine();
    await calls.becomes(id, "succeeded.waiting_for_finality");
    await rpc(chain().url, "anvil_reorg", [1, []]);
    await eventually(record, ([one]) => one?.state === "open");
    expect((await calls.explanation(id)).code).toBe("succeeded.orphaned");
  });
  const [closed] = await eventually(record, ([one]) => one?.state === "resolved");
  expect(closed?.resolution).toMatch(/^Landed again in 0x/);
  await calls.becomes(id, "succeeded.settled");
  expect((await calls.explanation(id)).notes).toEqual([]);
});

// Guarantee: an operator sees what is open in words, and closes it with a reason that is kept.
test("the command for exceptions", async () => {
  const [one, ...more] = await rows<{ id: string }>(
    `select id from exception_record where state = 'open' order by created_at`,
  );
  expect(more.length).toBeGreaterThan(0);
  await rows(
    `insert into exception_record (id, kind, environment, payment_id, chain, tx_ref, log_index, block_hash, asset, payer, amount_minor, detail)
     select 'exc_test', 'short', 'test', id, $1, '0x01', 0, '', $2, '0x02', 2500000, 'Less than the amount that was due'
     from payment limit 1`,
    [CHAIN, world.asset("usdc")],
  );
  const listed = await cli("exceptions.ts", []);
  expect(listed.code).toBe(0);
  expect(listed.out).toContain(`${one?.id}  An unknown amount left one of our accounts`);
  expect(listed.out).toMatch(
    /exc_test {2}2\.500000 USDC on .+ came, less than was due\n {2}payment {2}pay_/,
  );
  expect(listed.out).toMatch(/since {4}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
  const closed = await cli("exceptions.ts", ["resolve", "exc_test", "sent back by hand"]);
  expect([closed.code, closed.out]).toEqual([0, "exc_test is closed: sent back by hand\n"]);
  expect((await cli("exceptions.ts", ["resolve", "exc_test", "sent back by hand"])).code).toBe(1);
  expect((await cli("exceptions.ts", [])).out).not.toContain("exc_test");
  const [kept] = await rows(
    `select state, resolution, resolved_at is not null as timed from exception_record where id = 'exc_test'`,
  );
  expect(kept).toEqual({ state: "resolved", resolution: "sent back by hand", timed: true });
  for (const words of [
    ["resolve"],
    ["resolve", "exc_test"],
    ["resolve", "exc_test", "no"],
    ["close"],
  ]) {
    const refused = await cli("exceptions.ts", words);
    expect([refused.code, refused.out], words.join(" ")).toEqual([2, ""]);
    expect(refused.err).toContain("npm run exceptions");
    expect(refused.err).not.toMatch(/\n\s+at /);
  }
  const help = await cli("exceptions.ts", ["--help"]);
  expect([help.code, help.err]).toEqual([0, ""]);
  expect(help.out).toContain("resolve <id>");
});

// Guarantee: an operator stops payouts by one command, with a reason, in an asset that there is or in all of them.
test("the command for holds", async () => {
  const settlements = (...words: string[]) => cli("settlements.ts", words);
  for (const [words, says] of [
    [["hold", "*"], "Say why"],
    [["hold", "USDC", "a test"], "no CAIP-19 asset"],
    [["hold"], "npm run settlements"],
  ] as const) {
    const refused = await settlements(...words);
    expect([refused.code, refused.out]).toEqual([2, ""]);
    expect(refused.err).toContain(says);
  }
  expect((await settlements("hold", "*", "a restore")).code).toBe(0);
  expect((await settlements("hold", "*", "again")).code).toBe(1);
  expect((await settlements()).out).toMatch(/^hold {5}\* {2}since .+: a restore\n$/);
  expect((await settlements("lift", "*")).code).toBe(0);
});

// Guarantee: once an operator has looked at all of it, nothing is left that a check would call wrong.
test("everything looked at", async () => {
  const open = await rows<{ id: string }>(
    `select id from exception_record where kind = 'unknown_outflow' and state = 'open'`,
  );
  expect(open.length).toBeGreaterThan(0);
  for (const { id } of open.slice(1))
    expect((await cli("exceptions.ts", ["resolve", id, "a test sent it"])).code).toBe(0);
  expect(await violated()).toEqual(["I24"]);
  expect((await cli("exceptions.ts", ["resolve", open[0]?.id ?? "", "a test sent it"])).code).toBe(
    0,
  );
  expect(await violated()).toEqual([]);
});
