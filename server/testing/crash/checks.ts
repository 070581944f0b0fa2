import { privateKeyToAccount } from "viem/accounts";
import { expect } from "vitest";
import { openContext } from "#server/cli/invariants/open.ts";
import { exitCodeOf, inWords, runChecks } from "#server/cli/invariants/run.ts";
import { readSettings } from "#server/cli/invariants/settings.ts";
import { lower, type Stage } from "./stage.ts";

type Balances = { buyer: bigint; intermediary: bigint; destination: bigint };

const BALANCE_OF = "0x70a08231";

/** What an account holds of a token now. */
export async function balanceOf(stage: Stage, token: string, address: string): Promise<bigint> {
  const data = `${BALANCE_OF}${lower(address).slice(2).padStart(64, "0")}`;
  return BigInt(await stage.rpc<string>("eth_call", [{ to: token, data }, "latest"]));
}

/** The account that receives buyers' money. */
export const intermediaryOf = (stage: Stage): string =>
  lower(privateKeyToAccount(stage.test.world.memory.intermediaryKey).address);

/** The merchant that is paid through the intermediary. */
export function merchantOf(stage: Stage): { id: string; destination: string; apiKey: string } {
  const found = stage.test.demo.merchants.find(({ flow }) => flow === "intermediary");
  if (found === undefined) throw new Error("no merchant");
  return found;
}

/** What buyer, intermediary and merchant hold of a token. */
export async function balances(
  stage: Stage,
  symbol: "usdc" | "usdt",
  buyer: string,
): Promise<Balances> {
  const token = stage.deployment[symbol];
  const [held, intermediary, destination] = await Promise.all([
    balanceOf(stage, token, buyer),
    balanceOf(stage, token, intermediaryOf(stage)),
    balanceOf(stage, token, merchantOf(stage).destination),
  ]);
  return { buyer: held, intermediary, destination };
}

/** Waits until nothing of a payment is under way: final, settled, every transaction of its chain final. */
export async function settled(stage: Stage, id: string): Promise<void> {
  await stage.mineUntil(
    () =>
      stage.rows<{ status: string; settlement: string | null; open: string }>(
        `select p.status, (select state from settlement s where s.payment_id = p.id and s.state not in ('superseded', 'reverted')) as settlement,
           (select count(*) from chain_intent where state in ('signed', 'broadcast', 'mined')
              or (state = 'reverted' and gas_cost is null)) as open
         from payment p where p.id = $1`,
        [id],
      ),
    ([row]) => row?.status === "succeeded" && row.settlement === "final" && row.open === "0",
    `payment ${id} settled and every transaction final`,
  );
}

/** The payment succeeded once and was settled once, in the words of the database. */
export async function expectOnce(stage: Stage, id: string): Promise<void> {
  const [row] = await stage.rows(
    `select status, version,
       (select string_agg(to_s, ' ' order by version) from payment_event where payment_id = p.id) as path,
       (select count(*) from capture where payment_id = p.id and status = 'finalized') as captures,
       (select count(*) from capture where payment_id = p.id and status = 'confirmed') as unfinished,
       (select string_agg(state, ' ') from settlement where payment_id = p.id and state <> 'superseded') as settlements,
       (select string_agg(state, ' ') from attempt where payment_id = p.id) as attempts,
       (select count(*) from auth_use where payment_id = p.id) as authorizations
     from payment p where id = $1`,
    [id],
  );
  expect(row).toEqual({
    status: "succeeded",
    version: 2,
    path: "processing succeeded",
    captures: "1",
    unfinished: "0",
    settlements: "final",
    attempts: row?.attempts === null ? null : "ended",
    authorizations: "1",
  });
  const told = await stage.rows<{ topic: string; sequence: number }>(
    `select topic, sequence from outbox where payment_id = $1 and topic <> 'payment.exception' order by sequence`,
    [id],
  );
  expect(told.map(({ topic }) => topic)).toEqual([
    "payment.created",
    "payment.processing",
    "payment.succeeded",
    "payment.settled",
  ]);
}

/** Every nonce a signer used on chain belongs to exactly one intent, without holes; every sent transaction was stored. */
export async function expectNonces(stage: Stage): Promise<void> {
  const signers = await stage.rows<{ signer: string; base: string; next: string; n: string }>(
    `select s.signer, s.base, s.next, (select count(*) from chain_intent i
       where i.chain = s.chain and i.signer = s.signer and i.nonce >= s.base and i.nonce < s.next) as n
     from signer_nonce s where s.chain = $1`,
    [stage.caip2],
  );
  expect(signers.length).toBeGreaterThan(2);
  for (const { signer, base, next, n } of signers) {
    const onChain = await stage.rpc<string>("eth_getTransactionCount", [signer, "latest"]);
    expect({ signer, used: BigInt(onChain), intents: BigInt(n) }).toEqual({
      signer,
      used: BigInt(next),
      intents: BigInt(next) - BigInt(base),
    });
  }
  const bare = await stage.rows(
    `select id from chain_intent i where state in ('broadcast', 'mined', 'final')
       and not exists (select 1 from chain_tx t where t.intent_id = i.id)`,
  );
  expect(bare).toEqual([]);
}

/** The ledger is balanced, and holds for the intermediary exactly what the chain shows. */
export async function expectBooks(stage: Stage): Promise<void> {
  const wrong = await stage.rows(
    `select e.tx_id from ledger_entry e group by e.tx_id, e.asset having sum(e.amount) <> 0`,
  );
  expect(wrong).toEqual([]);
  for (const symbol of ["usdc", "usdt"] as const) {
    const books = await stage.rows<{ sum: string }>(
      `select coalesce(sum(e.amount), 0) as sum from ledger_entry e join ledger_account a on a.id = e.account_id
       where a.kind = 'intermediary' and a.asset = $1`,
      [stage.test.asset(symbol)],
    );
    const held = await balanceOf(stage, stage.deployment[symbol], intermediaryOf(stage));
    expect({ symbol, held }).toEqual({ symbol, held: BigInt(books[0]?.sum ?? 0) });
  }
}

/** Every invariant that database and chains can show, as `npm run invariants` checks them, on nodes that nothing disturbs. */
export async function expectInvariants(stage: Stage): Promise<void> {
  const { context, close } = await openContext(readSettings(stage.test.world.serverEnv));
  try {
    const wrong: string[] = [];
    const lines = await runChecks(context, (line) => {
      if (line.outcome === "violated" || (line.outcome === "not_checked" && line.failed))
        wrong.push(inWords(line));
    });
    expect(wrong).toEqual([]);
    expect(exitCodeOf(lines)).toBe(0);
  } finally {
    await close();
  }
}
