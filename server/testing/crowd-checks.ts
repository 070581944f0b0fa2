import {
  encodeFunctionData,
  type Hex,
  hexToBigInt,
  parseAbi,
  parseEther,
  toEventSelector,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { rpc } from "#server/sandbox/node-rpc.ts";
import { until } from "./api.ts";
import type { Purchase, Shop, Shopper } from "./crowd.ts";
import type { TestWorld } from "./world.ts";

const BALANCE = parseAbi(["function balanceOf(address) view returns (uint256)"]);
const TRANSFER = toEventSelector("Transfer(address,address,uint256)");
const NOBODY = `0x${"0".repeat(40)}`;
/** What every account of a world was given for gas. */
const GAS_MONEY = parseEther("1000");
const SYMBOLS = ["usdc", "usdt"] as const;

type Moved = { from: string; to: string; value: bigint; tx: string };
/** One token of one chain. */
type Token = { url: string; address: Hex; asset: string };

/** What a purchase must move in units of a token of six decimals, worked out from its price and the shop's terms. */
const gross = ({ cents }: Purchase): bigint => BigInt(cents) * 10_000n;
const net = (purchase: Purchase): bigint =>
  gross(purchase) - (gross(purchase) * purchase.shop.feeBps) / 10_000n;

const sum = (values: bigint[]): bigint => values.reduce((total, value) => total + value, 0n);
const lower = (address: string): string => address.toLowerCase();

const assetOf = (world: TestWorld, { symbol, chain }: Purchase): string =>
  world.asset(symbol === "USDC" ? "usdc" : "usdt", chain);

const intermediaryOf = (world: TestWorld): string =>
  lower(privateKeyToAccount(world.world.memory.intermediaryKey).address);

const tokensOf = (world: TestWorld): Token[] =>
  world.world.chains.flatMap(({ anvil, deployment }, chain) =>
    SYMBOLS.map((symbol) => ({
      url: anvil.rpcUrl,
      address: deployment[symbol],
      asset: world.asset(symbol, chain),
    })),
  );

async function balanceOf({ url, address }: Token, account: string): Promise<bigint> {
  const data = encodeFunctionData({ abi: BALANCE, args: [account as Hex] });
  return BigInt(await rpc<string>(url, "eth_call", [{ to: address, data }, "latest"]));
}

/** Every transfer of a token since the chain began; what its owner issued is not one. */
async function transfersOf({ url, address }: Token): Promise<Moved[]> {
  const logs = await rpc<{ topics: [Hex, Hex, Hex]; data: Hex; transactionHash: string }[]>(
    url,
    "eth_getLogs",
    [{ fromBlock: "0x0", toBlock: "latest", address, topics: [TRANSFER] }],
  );
  const account = (topic: Hex) => `0x${topic.slice(-40)}`;
  return logs
    .map(({ topics, data, transactionHash }) => ({
      from: account(topics[1]),
      to: account(topics[2]),
      value: hexToBigInt(data),
      tx: transactionHash,
    }))
    .filter(({ from }) => from !== NOBODY);
}

/** What buyers hold, by asset and address. */
export type Holdings = Map<string, bigint>;

/** Reads what buyers hold of every token now. */
export async function holdingsOf(world: TestWorld, shoppers: Shopper[]): Promise<Holdings> {
  const held: Holdings = new Map();
  for (const token of tokensOf(world))
    for (const { address } of shoppers)
      held.set(`${token.asset} ${lower(address)}`, await balanceOf(token, address));
  return held;
}

/** Waits until every purchase is paid, settled where it is to be, and every transaction of the service is final. */
export async function allSettled(
  world: TestWorld,
  purchases: Purchase[],
  withinMs: number,
): Promise<void> {
  await until(
    async () => {
      const states = await world.db.query<{ state: string; n: string }>(
        `select p.status || ' ' || coalesce(s.state, p.flow) as state, count(*) as n from payment p
         left join settlement s on s.payment_id = p.id and s.state <> 'superseded'
         where p.id = any($1) group by 1 order by 1`,
        [purchases.map(({ id }) => id)],
      );
      const open = await world.db.query<{ id: string; state: string }>(
        `select id, state from chain_intent where state in ('signed', 'broadcast', 'mined') limit 5`,
      );
      return { states, open };
    },
    ({ states, open }) => {
      const bad = states.find(
        ({ state }) => !/^(requires_action|processing|succeeded) /.test(state),
      );
      if (bad !== undefined) throw new Error(`a payment ended otherwise: ${bad.state}`);
      return (
        open.length === 0 &&
        states.every(({ state }) => ["succeeded final", "succeeded direct"].includes(state))
      );
    },
    withinMs,
  );
}

type Row = {
  id: string;
  shape: Record<string, unknown>;
  paid_by: string;
  settled_by: string | null;
};

/** One of everything in the database, for each purchase. */
async function expectOneOfEach(world: TestWorld, purchases: Purchase[]): Promise<Map<string, Row>> {
  const rows = await world.db.query<Row>(
    `select p.id, json_build_object(
       'status', p.status, 'version', p.version, 'minor', p.amount_minor, 'merchant', p.merchant_id,
       'path', (select string_agg(to_s, ' ' order by version) from payment_event where payment_id = p.id),
       'attempts', (select string_agg(state, ' ') from attempt where payment_id = p.id),
       'authorizations', (select count(*) from auth_use where payment_id = p.id),
       'intents', (select string_agg(state, ' ') from chain_intent where payment_id = p.id),
       'captures', (select string_agg(status || ' ' || received || ' ' || asset, ' ') from capture where payment_id = p.id),
       'settlements', (select string_agg(state || ' ' || amount || ' ' || fee, ' ') from settlement where payment_id = p.id),
       'told', (select string_agg(topic, ' ' order by sequence) from outbox where payment_id = p.id)) as shape,
       (select tx_ref from capture where payment_id = p.id limit 1) as paid_by,
       (select tx_ref from settlement where payment_id = p.id limit 1) as settled_by
     from payment p`,
  );
  const byId = new Map(rows.map((row) => [row.id, row]));
  for (const purchase of purchases) {
    const { shop, cents, id } = purchase;
    const collected = shop.flow === "intermediary";
    const told = "payment.created payment.processing payment.succeeded";
    expect(byId.get(id)?.shape, purchase.key).toEqual({
      status: "succeeded",
      version: 2,
      minor: cents,
      merchant: shop.id,
      path: "processing succeeded",
      attempts: "ended",
      authorizations: 1,
      intents: "final",
      captures: `finalized ${gross(purchase)} ${assetOf(world, purchase)}`,
      settlements: collected ? `final ${net(purchase)} ${gross(purchase) - net(purchase)}` : null,
      told: collected ? `${told} payment.settled` : told,
    });
  }
  return byId;
}

/** Every transfer of a token is one that a purchase explains, with its amount, and none is missing. */
function expectExplained(
  world: TestWorld,
  found: { moved: Moved[]; purchases: Purchase[]; rows: Map<string, Row>; shops: Shop[] },
): void {
  const { moved, purchases, rows, shops } = found;
  const intermediary = intermediaryOf(world);
  const wanted = purchases.map((purchase) => ({
    from: lower(purchase.shopper.address),
    to: purchase.shop.flow === "direct" ? purchase.shop.destination : intermediary,
    value: gross(purchase),
    tx: rows.get(purchase.id)?.paid_by ?? "",
  }));
  const order = (a: Moved, b: Moved) => (a.tx < b.tx ? -1 : 1);
  const inbound = moved.filter(({ from }) => from !== intermediary);
  expect(inbound.toSorted(order)).toEqual(wanted.toSorted(order));
  const outbound = moved.filter(({ from }) => from === intermediary);
  const due: Moved[] = [];
  for (const shop of shops.filter(({ flow }) => flow === "intermediary")) {
    const own = purchases.filter((purchase) => purchase.shop.id === shop.id);
    const byTx = Map.groupBy(own, ({ id }) => rows.get(id)?.settled_by ?? "");
    for (const [tx, paid] of byTx)
      due.push({ from: intermediary, to: shop.destination, value: sum(paid.map(net)), tx });
    if (!shop.batched) expect(byTx.size).toBe(own.length);
  }
  expect(outbound.toSorted(order)).toEqual(due.toSorted(order));
}

/** What is held on chain is what purchases and books say: merchants, buyers, and the intermediary down to its last unit. */
async function expectHeld(
  world: TestWorld,
  token: Token,
  found: { purchases: Purchase[]; shops: Shop[]; before: Holdings },
): Promise<void> {
  const { shops, before } = found;
  const purchases = found.purchases.filter((one) => assetOf(world, one) === token.asset);
  for (const shop of shops) {
    const own = purchases.filter((purchase) => purchase.shop.id === shop.id);
    expect(await balanceOf(token, shop.destination)).toBe(sum(own.map(net)));
    const [settled] = await world.db.query<{ total: string }>(
      `select coalesce(sum(amount), 0) as total from settlement where merchant_id = $1 and asset = $2`,
      [shop.id, token.asset],
    );
    if (shop.flow === "intermediary") expect(BigInt(settled?.total ?? 0)).toBe(sum(own.map(net)));
  }
  for (const [name, held] of before) {
    const [asset, address = ""] = name.split(" ");
    if (asset !== token.asset) continue;
    const spent = purchases.filter(({ shopper }) => lower(shopper.address) === address);
    expect(await balanceOf(token, address)).toBe(held - sum(spent.map(gross)));
  }
  const books = await world.db.query<{ kind: string; total: string }>(
    `select a.kind, coalesce(sum(e.amount), 0) as total from ledger_account a
     left join ledger_entry e on e.account_id = a.id where a.asset = $1 group by 1`,
    [token.asset],
  );
  const booked = (kind: string) => BigInt(books.find((one) => one.kind === kind)?.total ?? 0);
  const held = await balanceOf(token, intermediaryOf(world));
  const fees = sum(purchases.map((one) => gross(one) - net(one)));
  expect([held, booked("intermediary"), -booked("fee_income")]).toEqual([fees, fees, fees]);
  expect([booked("merchant_payable"), booked("suspense")]).toEqual([0n, 0n]);
}

/** Nonces without a hole on chain and in the database, and gas booked to the last wei. */
async function expectSigners(world: TestWorld): Promise<void> {
  for (const { anvil, caip2 } of world.world.chains) {
    const signers = await world.db.query<{ signer: string; next: string; nonces: string[] }>(
      `select s.signer, s.next - s.base as next, array(select (i.nonce - s.base)::text from chain_intent i
         where i.chain = s.chain and i.signer = s.signer order by i.nonce) as nonces
       from signer_nonce s where s.chain = $1`,
      [caip2],
    );
    expect(signers).toHaveLength(4);
    let spent = 0n;
    for (const { signer, next, nonces } of signers) {
      const used = await rpc<string>(anvil.rpcUrl, "eth_getTransactionCount", [signer, "latest"]);
      expect([signer, BigInt(used)]).toEqual([signer, BigInt(next)]);
      expect(nonces).toEqual(Array.from({ length: Number(next) }, (_, n) => `${n}`));
      spent +=
        GAS_MONEY - BigInt(await rpc<string>(anvil.rpcUrl, "eth_getBalance", [signer, "latest"]));
    }
    const [gas] = await world.db.query<{ total: string }>(
      `select coalesce(sum(e.amount), 0) as total from ledger_entry e join ledger_account a on a.id = e.account_id
       where a.kind = 'gas_expense' and a.asset = $1`,
      [`${caip2}/native`],
    );
    expect(BigInt(gas?.total ?? 0)).toBe(spent);
  }
}

/**
 * Compares everything that was bought with the database and, unit by unit, with the chains: each purchase was paid once and
 * settled once, nothing else moved, and there is no payment, exception or stopped asset besides.
 */
export async function expectPaidOnce(
  world: TestWorld,
  found: { purchases: Purchase[]; shops: Shop[]; before: Holdings },
): Promise<void> {
  const { purchases, shops } = found;
  expect(new Set(purchases.map(({ id }) => id)).size).toBe(purchases.length);
  const rows = await expectOneOfEach(world, purchases);
  expect(rows.size).toBe(purchases.length);
  for (const token of tokensOf(world)) {
    const own = purchases.filter((one) => assetOf(world, one) === token.asset);
    expectExplained(world, { moved: await transfersOf(token), purchases: own, rows, shops });
    await expectHeld(world, token, found);
  }
  await expectSigners(world);
  expect(await world.db.query(`select kind, detail from exception_record`)).toEqual([]);
  expect(await world.db.query(`select asset, reason from settlement_hold`)).toEqual([]);
}
