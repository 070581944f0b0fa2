import { encodeFunctionData, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { afterAll, beforeAll, expect, test } from "vitest";
import { rpc } from "#server/sandbox/node-rpc.ts";
import { until } from "./api.ts";
import { explainCalls, PATIENCE_MS } from "./explain-calls.ts";
import { endsIn } from "./unguarded.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const CHAIN = "eip155:31337";
const PLAIN_MEMBERS = ["failureCode", "info", "referenceId", "settlement", "status"];

let world: TestWorld;
let server: TestServer;
let worker: TestServer | null = null;
let calls: ReturnType<typeof explainCalls>;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer({ env: { FLORIN_WORKER: "off" } });
  calls = explainCalls(world, () => server.baseUrl);
});
afterAll(() => world?.stop());

async function startWorker() {
  worker ??= await world.startServer({ entry: "worker" });
}
async function stopWorker() {
  await worker?.kill();
  worker = null;
}

/** Lets the chain make no block but by `evm_mine` while something is done. */
async function withoutBlocks(work: (mine: () => Promise<unknown>) => Promise<void>) {
  const url = world.world.chains[0]?.anvil.rpcUrl ?? "";
  await rpc(url, "evm_setIntervalMining", [0]);
  try {
    await work(() => rpc(url, "evm_mine"));
  } finally {
    await rpc(url, "evm_setIntervalMining", [1]);
  }
}

// Guarantee: who does not ask gets the answer as it was; what is not on offer is refused.
test("explanation and timeline are there only when asked for", async () => {
  const id = await calls.created();
  const plain = await calls.read(id);
  expect(Object.keys(plain.body).toSorted()).toEqual(PLAIN_MEMBERS);
  const only = (await calls.read(id, "?include=explanation")).body;
  expect(["explanation" in only, "timeline" in only]).toEqual([true, false]);
  const both = (await calls.read(id, "?include=timeline,explanation")).body;
  expect(["explanation" in both, "timeline" in both]).toEqual([true, true]);
  for (const query of [
    "?include=secrets",
    "?include=",
    "?include=timeline,",
    "?include=timeline&include=explanation",
  ]) {
    const refused = await calls.read(id, query);
    expect([refused.status, refused.body.code], query).toEqual([400, "invalid_params"]);
  }
});

// Guarantee: a stranger learns nothing, not even that there is something to explain.
test("another merchant's payment is not explained", async () => {
  const id = await calls.created();
  const query = "?include=explanation,timeline";
  const foreign = await calls.read(id, query, "direct");
  const missing = await calls.read("pay_00000000000000000000000000", query);
  expect([foreign.status, foreign.body.code]).toEqual([404, "payment_not_found"]);
  expect([missing.status, missing.body.code]).toEqual([404, "payment_not_found"]);
});

// Guarantee: an open payment says what is missing and until when.
test("created, then options served, then misaligned", async () => {
  const id = await calls.created();
  expect(await calls.explanation(id)).toMatchObject({
    code: "requires_action.not_opened",
    actor: "buyer",
    notes: [],
  });
  const account = `${CHAIN}:${world.buyer("everything").address}`;
  const options = await calls.offered(id, account);
  const served = await calls.explanation(id);
  expect(served.code).toBe("requires_action.options_served");
  expect(served.sentence).toContain(`offered ${options.length} way`);
  await calls.api.confirm(id, options[0]?.id ?? "", [
    `0x${"11".repeat(65)}`,
    `0x${"11".repeat(65)}`,
  ]);
  const failed = await calls.explanation(id);
  expect(failed).toMatchObject({ code: "failed.misaligned", actor: "merchant" });
  expect(failed.sentence).toContain("2 results for 1 actions");
  expect((await calls.timeline(id)).map(({ kind }) => kind)).toEqual([
    "created",
    "options_served",
    "results_misaligned",
  ]);
});

// Guarantee: a payment that stands still because nobody works says so, and whom to ask.
test("processing held by a stopped worker, then succeeded and settled", async () => {
  const id = await calls.created();
  expect((await calls.pay(id)).body.status).toBe("processing");
  const held = await calls.explanation(id);
  expect(held).toMatchObject({ code: "processing.network_silent", actor: "operator" });
  expect(held.sentence).toContain("12.500000 USDC on ");
  expect(held.sentence).toContain("has not heard from");
  await startWorker();
  await until(
    () => calls.explanation(id),
    ({ code }) => code.startsWith("succeeded."),
  );
  await calls.becomes(id, "succeeded.settled");
  const settled = await calls.explanation(id);
  expect(settled.sentence).toMatch(/paid 12\.500000 USDC on .+ received 12\.450000 USDC on /);
  const entries = await calls.timeline(id);
  const kinds = entries.map(({ kind }) => kind);
  for (const kind of [
    "results_accepted",
    "confirm_accepted",
    "tx_stored",
    "tx_broadcast",
    "transfer_seen",
    "tx_mined",
    "capture_recorded",
    "evidence_confirmed",
    "settlement_created",
    "settlement_paid",
  ])
    expect(kinds, kind).toContain(kind);
  const times = entries.map(({ at }) => at);
  expect(times).toEqual(times.toSorted((a, b) => a - b));
  expect(kinds.indexOf("tx_stored")).toBeLessThan(kinds.indexOf("tx_broadcast"));
  expect(kinds.indexOf("capture_recorded")).toBeLessThan(kinds.indexOf("settlement_created"));
});

// Guarantee: nothing a timeline tells can be used to take money or to find out who somebody is.
test("a timeline names no account, signature or raw transaction", async () => {
  const id = await calls.created();
  await startWorker();
  await calls.pay(id);
  await until(
    () => calls.timeline(id),
    (entries) => entries.some(({ kind }) => kind === "evidence_confirmed"),
    PATIENCE_MS,
  );
  const told = JSON.stringify(await calls.timeline(id)).toLowerCase();
  const [attempt] = await world.db.query<{ signature: string }>(
    `select signature from attempt where payment_id = $1`,
    [id],
  );
  const [tx] = await world.db.query<{ raw: Buffer }>(
    `select t.raw from chain_tx t join chain_intent i on i.id = t.intent_id where i.payment_id = $1`,
    [id],
  );
  expect(attempt?.signature).toMatch(/^0x/);
  for (const secret of [
    world.buyer("everything").address.toLowerCase(),
    attempt?.signature.slice(2, 60) ?? "",
    tx?.raw.toString("hex").slice(0, 60) ?? "",
  ]) {
    expect(secret.length).toBeGreaterThan(30);
    expect(told).not.toContain(secret);
  }
});

// Guarantee: what is awaited is said in the terms of the rule that applies.
test("a larger payment waits for its block to be safe", async () => {
  await startWorker();
  const id = await calls.created({ value: "3000" });
  await withoutBlocks(async (mine) => {
    await calls.pay(id);
    await until(
      () => calls.timeline(id),
      (entries) => entries.some(({ kind }) => kind === "tx_broadcast"),
      PATIENCE_MS,
    );
    await mine();
    const confirming = await calls.becomes(id, "processing.confirming");
    expect(confirming).toMatchObject({ actor: "nobody" });
    expect(confirming.sentence).toContain("once the network calls its block safe");
  });
});

// Guarantee: money that went straight to the shop is not said to be owed.
test("the direct flow", async () => {
  await startWorker();
  const id = await calls.created({ flow: "direct" });
  await calls.pay(id);
  const done = await calls.becomes(id, "succeeded.direct", "direct");
  expect(done).toMatchObject({ actor: "nobody", nextStep: "Nothing is left to do." });
});

// Guarantee: an unpaid payment says that nothing was charged, and stray money is told in a line of its own.
test("expired, and money that came by itself", async () => {
  await startWorker();
  const { key, address } = world.buyer("everything");
  const [unpaid, stray] = [await calls.created(), await calls.created()];
  await endsIn(world.db, unpaid);
  await calls.offered(stray, `${CHAIN}:${address}`);
  const intermediary = privateKeyToAccount(world.world.memory.intermediaryKey).address;
  const abi = parseAbi(["function transfer(address to, uint256 value)"]);
  const data = encodeFunctionData({ abi, functionName: "transfer", args: [intermediary, 1n] });
  const to = world.world.chains[0]?.deployment.usdc;
  await calls.api.execute(
    {
      type: "walletRpc",
      data: { chain_id: CHAIN, method: "eth_sendTransaction", params: [{ to, data }] },
    },
    key,
  );
  const expired = await calls.becomes(unpaid, "expired.unpaid");
  expect(expired.sentence).toBe("Nobody paid 12.50 USD in time. Nothing was charged.");
  const told = await until(
    () => calls.explanation(stray),
    ({ notes }) => notes.length > 0,
    PATIENCE_MS,
  );
  expect(told.notes).toMatchObject([{ code: "exception.short", actor: "merchant" }]);
  expect(told.notes[0].sentence).toContain("0.000001 USDC on ");
  await endsIn(world.db, stray);
  const inexact = await calls.becomes(stray, "expired.paid_inexactly");
  expect(inexact.actor).toBe("merchant");
  for (const { sentence } of [told, inexact]) expect(sentence).not.toContain("Nothing was charged");
});

// From here on no worker runs: it would judge the planted rows itself.
// Guarantee: transfers that a wallet sends by itself and refunds are part of what is told.
test("rows of pushed transfers and of refunds are told", async () => {
  await stopWorker();
  const id = await calls.created();
  const options = await calls.offered(id, `${CHAIN}:${world.buyer("everything").address}`);
  const hash = `0x${"ab".repeat(32)}`;
  await world.db.query(
    `insert into push_offer (option_id, payment_id, chain, tag, sender, recipient, value, deadline)
     values ($1, $2, $3, $4, '0x01', '0x02', 12500000, clock_timestamp() + interval '10 minutes')`,
    [options[0]?.id, id, CHAIN, hash],
  );
  expect((await calls.explanation(id)).code).toBe("requires_action.push_handed_out");
  const claim = `insert into push_tx (chain, hash, payment_id, option_id) values ($1, $2, $3, $4)`;
  await world.db.query(claim, [CHAIN, hash, id, options[0]?.id]);
  expect((await calls.explanation(id)).code).toBe("requires_action.push_claimed");
  await world.db.query(`update push_tx set state = 'known' where hash = $1`, [hash]);
  expect((await calls.explanation(id)).code).toBe("requires_action.push_known");
  await world.db.query(
    `insert into refund (id, payment_id, merchant_id, environment, asset, amount, destination, kind, state)
     select 'ref_x', id, merchant_id, environment, $2, 5000000, '', 'execute', 'awaiting_merchant' from payment where id = $1`,
    [id, world.asset("usdc")],
  );
  const { notes } = await calls.explanation(id);
  expect(notes).toMatchObject([{ code: "refund.awaiting_merchant", actor: "merchant" }]);
  expect(notes[0].sentence).toContain("5.000000 USDC on ");
  const kinds = (await calls.timeline(id)).map(({ kind }) => kind);
  for (const kind of [
    "transfer_handed_out",
    "transfer_claimed",
    "transfer_judged",
    "refund_created",
  ])
    expect(kinds).toContain(kind);
});

// Guarantee: a network that fell silent is told from one that was just heard.
test("since when nothing was heard", async () => {
  await startWorker();
  await stopWorker();
  const heard = (ago: string) =>
    world.db.query(
      `update chain_cursor set updated_at = clock_timestamp() - $1::interval where chain = $2`,
      [ago, CHAIN],
    );
  const id = await calls.created();
  await calls.pay(id);
  await heard("0");
  expect(await calls.explanation(id)).toMatchObject({
    code: "processing.accepted",
    actor: "service",
  });
  await heard("5 minutes");
  const silent = await calls.explanation(id);
  expect(silent.code).toBe("processing.network_silent");
  expect(silent.sentence).toMatch(/since \d{4}-\d\d-\d\d \d\d:\d\d:\d\d UTC/);
});
