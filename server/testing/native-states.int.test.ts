import { type Hex, keccak256 } from "viem";
import { afterAll, beforeAll, expect, test } from "vitest";
import { mint } from "#server/sandbox/deploy.ts";
import { type Action, type Answer, until } from "./api.ts";
import { expectInvariants } from "./native/invariants.ts";
import { type Buyer, buildDataOf, CHAIN, nativeShop } from "./native/shop.ts";
import { endsIn } from "./unguarded.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

let world: TestWorld;
let server: TestServer;
const shop = () => nativeShop(world, () => server.baseUrl);

beforeAll(async () => {
  world = await createTestWorld({ native: true });
  server = await world.startServer();
});
afterAll(() => world?.stop());

const code = ({ status, body }: Answer) => [status, body.code ?? body.status];

/** Runs `work` while no block is made but those it asks for. */
async function withoutBlocks<T>(work: () => Promise<T>): Promise<T> {
  await shop().node("evm_setIntervalMining", [0]);
  try {
    return await work();
  } finally {
    await shop().node("evm_setIntervalMining", [1]);
  }
}

const pushIs = (hash: string, state: string) =>
  until(
    () => shop().rows<{ state: string }>(`select state from push_tx where hash = $1`, [hash]),
    ([row]) => row?.state === state,
  );

/** A payment with a served ETH option. */
async function served(buyer: Buyer, options: { value?: string; expiresAt?: number } = {}) {
  const id = await shop().created(options);
  const option = await shop().option(id, buyer);
  return { id, option, transfer: await shop().transfer(id, option) };
}

const inSeconds = (seconds: number) => Math.floor(Date.now() / 1000) + seconds;

const random = () => keccak256(new TextEncoder().encode(`${Math.random()}`));

/** An account with USDC besides, and its USDC option of a payment. */
async function withUsdc(buyer: Buyer, id: string) {
  const [chain] = world.world.chains;
  if (chain === undefined) throw new Error("no chain");
  await mint(shop().url(), chain.deployment, "usdc", buyer.address, 100_000_000n);
  const option = await shop().usdcOption(id, buyer);
  const [action] = option.actions as Action[];
  if (action === undefined) throw new Error("no action");
  return { option, signature: await shop().api().execute(action, buyer.key) };
}

// Guarantee: a transfer on its way, once a node knows it, keeps everybody from paying another way and from cancelling.
test("a known transfer locks the payment", async () => {
  const buyer = await shop().buyer();
  const { id, option, transfer } = await served(buyer);
  const usdc = await withUsdc(buyer, id);
  await withoutBlocks(async () => {
    const hash = await shop().send(buyer, transfer);
    const confirmed = await shop().api().confirm(id, option.id, [hash]);
    expect(code(confirmed)).toEqual([200, "requires_action"]);
    await pushIs(hash, "known");
    const other = await shop().api().confirm(id, usdc.option.id, [usdc.signature]);
    expect(code(other)).toEqual([400, "invalid_state"]);
    expect(code(await shop().fetch(id, usdc.option.id))).toEqual([400, "invalid_state"]);
    expect(code(await shop().cancel(id))).toEqual([400, "invalid_state"]);
    const listed = await shop()
      .api()
      .options(id, [`${CHAIN}:${buyer.address}`]);
    expect(listed.body.options).toEqual([]);
    const misaligned = await shop().api().confirm(id, option.id, ["0x12"]);
    expect(code(misaligned)).toEqual([200, "requires_action"]);
    expect(code(await shop().fetch(id, option.id))).toEqual([200, undefined]);
    // The node forgets it: nothing is locked any more.
    await shop().node("anvil_dropTransaction", [hash]);
    await pushIs(hash, "claimed");
    expect(code(await shop().fetch(id, usdc.option.id))).toEqual([200, undefined]);
    const again = await shop().send(buyer, transfer);
    expect(again).toBe(hash);
    await pushIs(hash, "known");
    expect(code(await shop().cancel(id))).toEqual([400, "invalid_state"]);
  });
  expect((await shop().final(id)).body.status).toBe("succeeded");
});

// Guarantee: a hash is a claim and nothing more: it neither pays, nor locks, nor ends anything.
test("made-up and foreign hashes", async () => {
  const buyer = await shop().buyer();
  const { id, option, transfer } = await served(buyer);
  const elsewhere = await shop().send(buyer, transfer, { data: "0x" });
  const less = await shop().send(buyer, transfer, { value: 1n });
  for (const hash of [random(), elsewhere, less]) {
    const answer = await shop().api().confirm(id, option.id, [hash]);
    expect(code(answer)).toEqual([200, "requires_action"]);
  }
  await pushIs(elsewhere, "foreign");
  await pushIs(less, "foreign");
  for (let many = 0; many < 12; many++) await shop().api().confirm(id, option.id, [random()]);
  expect(await shop().rows(`select 1 from push_tx where payment_id = $1`, [id])).toHaveLength(10);
  const usdc = await withUsdc(buyer, id);
  expect(code(await shop().api().confirm(id, usdc.option.id, [usdc.signature]))[0]).toBe(200);
  expect((await shop().final(id)).body.status).toBe("succeeded");
  expect(code(await shop().api().confirm(id, option.id, [random()]))).toEqual([
    400,
    "invalid_state",
  ]);
});

// Guarantee: results that cannot be a transaction's hash end the payment, and only those of its own shape do not.
test("results of another shape", async () => {
  const buyer = await shop().buyer();
  const { id, option } = await served(buyer);
  expect(code(await shop().api().confirm(id, option.id, [random(), random()]))).toEqual([
    200,
    "failed",
  ]);
  const unfetched = await shop().created();
  const asked = await shop().option(unfetched, buyer);
  const early = await shop().api().confirm(unfetched, asked.id, [random()]);
  expect(code(early)).toEqual([400, "params_validation"]);
  expect((await shop().api().status(unfetched)).body.status).toBe("requires_action");
});

// Guarantee: the opaque data of an option is taken whole and for this option only.
test("changed and swapped build data", async () => {
  const buyer = await shop().buyer();
  const [one, two] = [await shop().created(), await shop().created()];
  const [mine, other] = [await shop().option(one, buyer), await shop().option(two, buyer)];
  const data = buildDataOf(mine);
  const bytes = Buffer.from(data);
  const flipped = [...bytes.keys()].flatMap((at) =>
    [1, 0x20].map((bit) => {
      const copy = Buffer.from(bytes);
      copy[at] = (copy[at] ?? 0) ^ bit;
      return copy.toString("latin1");
    }),
  );
  const wrong = [...flipped, data.slice(0, -1), `${data}A`, buildDataOf(other), "x", "0x"];
  for (const text of wrong) {
    const answer = await shop().fetch(one, mine.id, text);
    expect([text, ...code(answer)]).toEqual([text, 400, "params_validation"]);
  }
  expect(code(await shop().fetch(two, mine.id, data))).toEqual([400, "params_validation"]);
  const rows = await shop().rows(`select 1 from push_offer where payment_id = any($1)`, [
    [one, two],
  ]);
  expect(rows).toEqual([]);
  expect((await shop().fetch(one, mine.id, data)).status).toBe(200);
});

/** A payment of 25 USD, which waits for the tag `safe`, with its transfer in a block that goes away again. */
async function reorganised() {
  const buyer = await shop().buyer();
  const { id, transfer } = await served(buyer, { value: "2500" });
  const hash = await shop().send(buyer, transfer, { nonce: 0 });
  const raw = await shop().node<Hex>("eth_getRawTransactionByHash", [hash]);
  await shop().node("evm_mine");
  await shop().statusIs(id, "processing");
  await shop().node("anvil_reorg", [1, []]);
  await until(
    () => shop().rows<{ state: string }>(`select state from movement where tx_hash = $1`, [hash]),
    ([row]) => row?.state === "orphaned",
  );
  expect((await shop().api().status(id)).body.status).toBe("processing");
  return { buyer, id, hash, raw };
}

// Guarantee: a reorganisation does not lose a payment: it waits, and counts when its transfer is mined again.
test("a reorganisation, and the transfer comes back", async () => {
  const { id, raw, hash } = await withoutBlocks(async () => {
    const found = await reorganised();
    await pushIs(found.hash, "claimed");
    expect((await shop().api().status(found.id)).body.status).toBe("processing");
    return found;
  });
  await shop().node("eth_sendRawTransaction", [raw]);
  expect((await shop().final(id)).body).toMatchObject({
    status: "succeeded",
    info: { txId: hash },
  });
});

// Guarantee: only a nonce used by something else in a final block proves that a removed transfer never comes back.
test("a reorganisation, and the buyer spends the nonce otherwise", async () => {
  const { id, buyer } = await withoutBlocks(reorganised);
  const away = { to: buyer.address, data: "0x", value: "0x1" } as const;
  await shop().send(buyer, away, { nonce: 0 });
  const done = await shop().final(id);
  expect(done.body).toMatchObject({ status: "failed", failureCode: "broadcast_failed" });
});

// The rest moves the chain's clock, so it comes last.
// Guarantee: who was handed a transfer has the grace to send it, whatever the clock says meanwhile.
test("expiry waits for a transfer that was handed out", async () => {
  const buyer = await shop().buyer();
  const expiresAt = inSeconds(60);
  const control = await shop().created({ expiresAt });
  const paid = await served(buyer, { expiresAt });
  const unpaid = await served(buyer, { expiresAt });
  for (const id of [paid.id, unpaid.id, control]) await endsIn(world.db, id);
  expect((await shop().final(control)).body.status).toBe("expired");
  const [row] = await shop().rows<{ late: boolean }>(
    `select clock_timestamp() > expires_at as late from payment where id = $1`,
    [paid.id],
  );
  expect(row?.late).toBe(true);
  for (const { id, option } of [paid, unpaid]) {
    expect((await shop().api().status(id)).body.status).toBe("requires_action");
    expect(code(await shop().fetch(id, option.id))).toEqual([410, "payment_expired"]);
    expect(code(await shop().api().confirm(id, option.id, [random()]))).toEqual([
      200,
      "requires_action",
    ]);
  }
  await shop().send(buyer, paid.transfer);
  expect((await shop().final(paid.id)).body.status).toBe("succeeded");
  expect((await shop().api().status(unpaid.id)).body.status).toBe("requires_action");
  // Past the grace of a minute's lifetime, and still in time for payments made now.
  await shop().node("evm_increaseTime", [400]);
  expect((await shop().final(unpaid.id)).body.status).toBe("expired");
  expect(code(await shop().api().confirm(unpaid.id, unpaid.option.id, [random()]))).toEqual([
    200,
    "expired",
  ]);
  const hash = await shop().send(buyer, unpaid.transfer);
  expect(await shop().exceptionOf(hash)).toMatchObject([{ kind: "late", payment_id: unpaid.id }]);
  expect((await shop().api().status(unpaid.id)).body.status).toBe("expired");
});

// Guarantee: a transfer that a reorganisation put behind its deadline is late money, and its payment ends.
test("a reorganisation, and the transfer comes back too late", async () => {
  const { id, raw, hash } = await withoutBlocks(reorganised);
  await shop().node("evm_increaseTime", [400]);
  await shop().node("eth_sendRawTransaction", [raw]);
  expect(await shop().exceptionOf(hash)).toMatchObject([{ kind: "late", payment_id: id }]);
  expect((await shop().final(id)).body).toMatchObject({
    status: "failed",
    failureCode: "broadcast_failed",
  });
});

// Guarantee: a transfer mined after the grace is money without a payment, and the payment stays open for another try.
test("late", async () => {
  const buyer = await shop().buyer();
  const { id, option, transfer } = await served(buyer);
  await shop().node("evm_increaseTime", [700]);
  const hash = await shop().send(buyer, transfer);
  await shop().api().confirm(id, option.id, [hash]);
  expect(await shop().exceptionOf(hash)).toMatchObject([{ kind: "late", payment_id: id }]);
  await pushIs(hash, "foreign");
  expect((await shop().api().status(id)).body.status).toBe("requires_action");
  // Wallets repeat their confirm while a payment is open.
  expect((await shop().api().confirm(id, option.id, [hash])).status).toBe(200);
  await pushIs(hash, "foreign");
  expect(
    (
      await shop()
        .api()
        .options(id, [`${CHAIN}:${buyer.address}`])
    ).body.options,
  ).not.toEqual([]);
  const cancelled = await shop().cancel(id);
  expect(cancelled.status).toBe(200);
});

// Guarantee: after all of that, books and chain agree in every invariant.
test("invariants", () => expectInvariants(world));
