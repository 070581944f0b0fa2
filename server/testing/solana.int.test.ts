import { AccountRole, address } from "@solana/kit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { LIGHTHOUSE } from "#server/chains/solana/compare.ts";
import { encodeWire } from "#server/chains/solana/message.ts";
import { signWith } from "#server/sandbox/solana-world.ts";
import { until } from "./api.ts";
import { fieldClient } from "./field-client.ts";
import { messageOf, rewrite, type SolanaBuyer, signTransaction, solanaShop } from "./solana.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const SOL = 1_000_000_000n;

let world: TestWorld;
let server: TestServer;
const shop = () => solanaShop(world, () => server);

beforeAll(async () => {
  world = await createTestWorld({ solana: { slotMs: 100 } });
  server = await world.startServer();
  await shop().installGuards();
});
afterAll(() => world?.stop());

const settled = (id: string) =>
  until(
    () => shop().details(id),
    ({ body }) => body.settlement?.successful?.txId !== undefined,
  );

// Guarantee: a buyer without SOL pays with tokens, and the merchant is paid out once, less the fee.
test("a payment with an SPL token succeeds and is settled", async () => {
  const { created, newBuyer, paySolana, final, tokens, lamports } = shop();
  const buyer = await newBuyer();
  const id = await created();
  const { option, fetched, done } = await paySolana(id, buyer, "USDC");
  expect(fetched.body.actions).toHaveLength(1);
  expect(option.actions.map(({ type }) => type)).toEqual(["build"]);
  expect([done.status, done.body.status]).toEqual([200, "processing"]);
  expect((await final(id)).body.status).toBe("succeeded");
  expect(await tokens(buyer.address)).toBe(100_000_000n - 12_500_000n);
  expect(await lamports(buyer.address)).toBe(0n);
  await settled(id);
  const merchant = world.demo.merchants[0]?.solanaDestination ?? "";
  expect(await tokens(merchant)).toBe(12_450_000n);
});

// Guarantee: native coin is paid by a transaction of ours too, at its price, and settled.
test("a payment with SOL succeeds and is settled", async () => {
  const { created, newBuyer, paySolana, final, lamports } = shop();
  const buyer = await newBuyer({ lamports: SOL });
  const id = await created({ value: "1500" });
  await paySolana(id, buyer, "SOL");
  expect((await final(id)).body.status).toBe("succeeded");
  // 15 USD at 150 USD, and not one lamport of fees.
  expect(await lamports(buyer.address)).toBe(SOL - 100_000_000n);
  await settled(id);
  const merchant = world.demo.merchants[0]?.solanaDestination ?? "";
  expect(await lamports(merchant)).toBe(99_600_000n);
});

// Guarantee: in the direct flow the merchant gets the whole amount from the buyer, in an account made on the way.
test.for(["USDC", "SOL"] as const)("%s goes straight to the merchant", async (symbol) => {
  const { created, newBuyer, paySolana, final, tokens, lamports } = shop();
  const merchant = world.demo.merchants[1]?.solanaDestination ?? "";
  const before = { tokens: await tokens(merchant), lamports: await lamports(merchant) };
  const buyer = await newBuyer({ usdc: 50_000_000n, lamports: SOL });
  const id = await created({ flow: "direct", value: "3000" });
  await paySolana(id, buyer, symbol);
  expect((await final(id)).body.status).toBe("succeeded");
  if (symbol === "USDC") expect((await tokens(merchant)) - before.tokens).toBe(30_000_000n);
  else expect((await lamports(merchant)) - before.lamports).toBe(200_000_000n);
});

// Guarantee: fetch gives the same transaction again while it can still be taken, also to callers at the same time.
test("fetch can be repeated", async () => {
  const { created, newBuyer, optionOf, fetchIt, standing } = shop();
  const buyer = await newBuyer();
  const id = await created();
  const option = await optionOf(id, buyer, "USDC");
  await standing(async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => fetchIt(id, option)));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
    expect((await fetchIt(id, option, "")).text).toBe(answers[0]?.text);
  });
  expect((await fetchIt(id, option, "forged")).status).toBe(400);
});

/** A guard as wallets insert it; `kind` is the first byte of its data. */
const guard = (buyer: SolanaBuyer, kind = 5) => ({
  programAddress: address(LIGHTHOUSE),
  accounts: [{ address: address(buyer.address), role: AccountRole.READONLY }],
  data: new Uint8Array([kind, 0x31]),
});

// Guarantee: a wallet that protects its user with assertions pays all the same.
test("a wallet that inserts guards", async () => {
  const { created, newBuyer, asked, confirm, final, standing, sent } = shop();
  const buyer = await newBuyer();
  const id = await created();
  await standing(async () => {
    const { option, transaction } = await asked(id, buyer, "USDC");
    const guarded = rewrite(transaction, (instructions) => [
      guard(buyer),
      ...instructions,
      guard(buyer),
    ]);
    const message = messageOf(guarded);
    const signed = encodeWire(message, new Map([[buyer.address, signWith(buyer.key, message)]]));
    const done = await confirm(id, option.id, [signed]);
    expect([done.status, done.text]).toEqual([200, expect.stringContaining("processing")]);
    await sent(id);
  });
  expect((await final(id)).body.status).toBe("succeeded");
});

// Guarantee: nothing but our transaction is co-signed, and a refused one leaves the payment open to be paid.
test("a changed transaction is refused and the payment stays open", async () => {
  const { created, newBuyer, asked, confirm, status, final, standing, sent } = shop();
  const buyer = await newBuyer();
  const other = await newBuyer();
  const id = await created();
  await standing(async () => {
    const { option, transaction } = await asked(id, buyer, "USDC");
    const signed = signTransaction(buyer, transaction);
    const flipped = Buffer.from(signed, "base64");
    flipped[flipped.length - 40] = (flipped[flipped.length - 40] ?? 0) ^ 1;
    const five = rewrite(transaction, (all) => [...Array(5).fill(guard(buyer)), ...all]);
    const memory = rewrite(transaction, (all) => [guard(buyer, 0), ...all]);
    const twice = rewrite(transaction, (all) => [...all, ...all.slice(2, 3)]);
    const foreign = encodeWire(
      messageOf(transaction),
      new Map([[buyer.address, signWith(other.key, messageOf(transaction))]]),
    );
    const resigned = [five, memory, twice].map((one) => signTransaction(buyer, one));
    for (const output of [transaction, flipped.toString("base64"), foreign, ...resigned]) {
      const refused = await confirm(id, option.id, [output]);
      expect([refused.status, refused.body.code]).toEqual([422, "params_validation"]);
    }
    expect((await status(id)).body.status).toBe("requires_action");
    expect((await confirm(id, option.id, [signed])).status).toBe(200);
    await sent(id);
  });
  expect((await final(id)).body.status).toBe("succeeded");
});

// Guarantee: base58 is taken as well as base64, and a confirm that is repeated submits nothing again.
test("a confirm in base58, many times", async () => {
  const { created, newBuyer, asked, confirm, final, tokens, standing, sent } = shop();
  const { toBase58 } = await import("#server/chains/solana/keys.ts");
  const buyer = await newBuyer();
  const id = await created();
  const { option, signed } = await standing(async () => {
    const { option, transaction } = await asked(id, buyer, "USDC");
    const signed = toBase58(
      new Uint8Array(Buffer.from(signTransaction(buyer, transaction), "base64")),
    );
    const answers = await Promise.all([1, 2, 3, 4, 5].map(() => confirm(id, option.id, [signed])));
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200]);
    await sent(id);
    return { option, signed };
  });
  expect((await final(id)).body.status).toBe("succeeded");
  expect((await confirm(id, option.id, [signed])).body.status).toBe("succeeded");
  expect(await tokens(buyer.address)).toBe(87_500_000n);
  const { rows } = await world.db.pool.query(
    `select count(*)::int as n from chain_tx t join chain_intent i on i.id = t.intent_id where i.payment_id = $1`,
    [id],
  );
  expect(rows[0].n).toBe(1);
});

// Guarantee: what cannot be the output of the action ends the payment, as everywhere.
test("a detached signature ends the payment as failed", async () => {
  const { created, newBuyer, asked, confirm, standing } = shop();
  const { toBase58 } = await import("#server/chains/solana/keys.ts");
  const buyer = await newBuyer();
  const id = await created();
  const ended = await standing(async () => {
    const { option, transaction } = await asked(id, buyer, "USDC");
    const detached = toBase58(signWith(buyer.key, messageOf(transaction)));
    return confirm(id, option.id, [detached]);
  });
  expect([ended.status, ended.body.status]).toEqual([200, "failed"]);
});

// Guarantee: an account whose money went elsewhere meanwhile is told so, and can pay later.
test("a buyer who spent the money is refused and may try again", async () => {
  const { created, newBuyer, asked, confirm, final, rpc, chain, standing, sent } = shop();
  const buyer = await newBuyer({ usdc: 20_000_000n });
  const id = await created();
  const set = (amount: number) =>
    rpc("surfnet_setTokenAccount", [buyer.address, chain().memory.mint, { amount }]);
  await standing(async () => {
    const { option, transaction } = await asked(id, buyer, "USDC");
    const signed = signTransaction(buyer, transaction);
    await set(1);
    const refused = await confirm(id, option.id, [signed]);
    expect([refused.status, refused.body.message]).toEqual([
      422,
      "Validation error: insufficient funds for this option",
    ]);
    await set(20_000_000);
    expect((await confirm(id, option.id, [signed])).status).toBe(200);
    await sent(id);
  });
  expect((await final(id)).body.status).toBe("succeeded");
});

// Guarantee: large sums wait for finality, small ones for confirmation.
test("the depth of evidence follows the value", async () => {
  const { created, newBuyer, handIn, final, status, standing, step } = shop();
  const pay = async (value: string) => {
    const buyer = await newBuyer({ usdc: 5_000_000_000n });
    const id = await created({ value });
    const { option } = await handIn(id, buyer, "USDC");
    const { rows } = await world.db.pool.query(`select depth from payment_option where id = $1`, [
      option.id,
    ]);
    return { id, depth: rows[0].depth };
  };
  const large = await standing(async () => {
    const [one, other] = [await pay("99999"), await pay("100000")];
    expect([one.depth, other.depth]).toEqual([{ confirmations: 1 }, { tag: "finalized" }]);
    // Too few blocks for the first of them to be final.
    await step(20);
    expect((await final(one.id)).body.status).toBe("succeeded");
    expect((await status(other.id)).body.status).toBe("processing");
    return other;
  });
  expect((await final(large.id)).body.status).toBe("succeeded");
});

// Guarantee: a wallet that calls as the deployed kit does pays on Solana too, whether it remembers the option or not.
test.for([
  ["USDC", false],
  ["SOL", true],
] as const)("the deployed kit's calls pay in %s", async ([symbol, forget]) => {
  const id = await shop().created();
  const buyer = await shop().newBuyer({ usdc: 100_000_000n, lamports: 5_000_000_000n });
  const wallet = fieldClient({
    appId: world.demo.gateway.appId,
    clientId: "0d6f2a0e-53d4-4b64-9c5c-7a3f0c1de111",
    baseUrl: `${server.baseUrl}/`,
  });
  const link = `${server.baseUrl}/${id}`;
  const option = await until(
    async () =>
      (await wallet.options(link, [`${shop().chain().caip2}:${buyer.address}`])).find(
        ({ amount }) => amount.display.assetSymbol === symbol,
      ),
    (found) => found !== undefined,
  );
  if (option === undefined) throw new Error(`no ${symbol} option`);
  const { confirming } = await shop().standing(async () => {
    const [action, ...more] = await wallet.requiredActions(link, option.id, forget);
    expect([action?.method, more]).toEqual(["solana_signTransaction", []]);
    const [asked] = JSON.parse(action?.params ?? "[]");
    const signed = signTransaction(buyer, asked.transaction);
    const confirming = wallet.confirm(link, option.id, [signed]);
    await Promise.race([confirming, shop().sent(id)]);
    return { confirming };
  });
  expect((await confirming).status).toBe("succeeded");
});
