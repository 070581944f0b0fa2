import { keccak256, parseTransaction, toHex } from "viem";
import type { ChainView, Transfer } from "./chain-view.ts";
import { type Check, sqlCheck } from "./check.ts";
import { type Context, onChains, type Seen } from "./context.ts";
import { type Finding, judge } from "./finding.ts";
import { pages } from "./pages.ts";
import { readSolanaTx } from "./solana.ts";

type StoredRow = {
  intent_id: string;
  hash: string;
  role: "main" | "fill";
  raw: Buffer;
  chain: string;
  signer: string;
  nonce: string;
};

/** Transactions of one intent follow each other. */
const STORED = `select t.intent_id, t.hash, t.role, t.raw, i.chain, i.signer, i.nonce
  from chain_tx t join chain_intent i on i.id = t.intent_id order by t.intent_id, t.hash`;

/** A stored transaction: what is wrong with it, or what it does, in one line. */
function readStored(row: StoredRow): { problem: string } | { call: string } {
  const name = `${row.hash} of ${row.intent_id}`;
  if (row.chain.startsWith("solana:")) return readSolanaTx(name, row);
  const raw = toHex(row.raw);
  if (keccak256(raw) !== row.hash)
    return { problem: `${name}: the stored bytes have another hash` };
  const tx = parseTransaction(raw as `0x02${string}`);
  const to = (tx.to ?? "nobody").toLowerCase();
  const { value = 0n, data = "0x" } = tx;
  if (`eip155:${tx.chainId}` !== row.chain)
    return { problem: `${name} is for chain ${tx.chainId}, its intent for ${row.chain}` };
  if (BigInt(tx.nonce ?? 0) !== BigInt(row.nonce))
    return { problem: `${name} has nonce ${tx.nonce ?? 0}, its intent ${row.nonce}` };
  if (row.role === "fill" && (to !== row.signer || value !== 0n || data !== "0x"))
    return { problem: `${name} fills its nonce with ${value} wei and ${data} to ${to}` };
  return { call: `${to} ${value} ${data}` };
}

async function sameCalls(context: Context): Promise<Finding> {
  const problems: string[] = [];
  let looked = 0;
  let intent = "";
  let first: string | null = null;
  for await (const rows of pages<StoredRow>(context.query, STORED)) {
    looked += rows.length;
    for (const row of rows) {
      if (row.intent_id !== intent) first = null;
      intent = row.intent_id;
      const read = readStored(row);
      if ("problem" in read) problems.push(read.problem);
      else if (row.role === "main") {
        first ??= read.call;
        if (first !== read.call)
          problems.push(`${row.intent_id} has two different calls: ${first} and ${read.call}`);
      }
    }
  }
  const [lived] = await context.query(`select 1 from chain_tx where lapses_at is not null limit 1`);
  return judge(
    problems,
    `${looked} stored transactions`,
    lived === undefined ? [] : ["proofs of expiry not checked: they are not stored"],
  );
}

type IntentRow = {
  id: string;
  kind: string;
  signer: string;
  nonce: string;
  plan: { kind: string; asset?: string; to?: string; amount?: string };
  hashes: string[];
};

const INTENTS = `select i.id, i.kind, i.signer, i.nonce, i.plan,
    array(select t.hash from chain_tx t where t.intent_id = i.id and t.chain = i.chain order by t.hash) as hashes
  from chain_intent i where i.chain = $1 order by i.signer, i.nonce`;

/** Where transactions are looked up by hash, on a chain of any kind. */
type Landed = { chain: string; receipts(hashes: string[]): Promise<Map<string, unknown>> };

const readIntents = (context: Context, view: { chain: string }): Promise<IntentRow[]> =>
  context.query<IntentRow>(INTENTS, [view.chain]);

async function minedOnce(context: Context, view: Landed): Promise<Seen> {
  const intents = await readIntents(context, view);
  const receipts = await view.receipts(intents.flatMap(({ hashes }) => hashes));
  const problems = intents.flatMap(({ id, hashes }) => {
    const mined = hashes.filter((hash) => receipts.has(hash));
    return mined.length > 1 ? [`${id} was mined ${mined.length} times: ${mined.join(", ")}`] : [];
  });
  return { looked: intents.length, problems };
}

/** Nonces that are used on chain at `finalized` and by none of our stored transactions. */
async function foreignNonces(
  context: Context,
  view: ChainView,
  intents: IntentRow[],
): Promise<Seen> {
  const signers = await context.query<{ signer: string; base: string }>(
    `select signer, base from signer_nonce where chain = $1`,
    [view.chain],
  );
  const settled = await context.query<{ ref: string }>(
    `select tx_ref as ref from exception_record where kind = 'unknown_outflow' and state = 'resolved' and chain = $1`,
    [view.chain],
  );
  const explained = new Set(settled.map(({ ref }) => ref));
  const byNonce = new Map(intents.map((intent) => [`${intent.signer} ${intent.nonce}`, intent]));
  const receipts = await view.receipts(intents.flatMap(({ hashes }) => hashes));
  const problems: string[] = [];
  let looked = 0;
  for (const { signer, base } of signers) {
    const used = view.counts.get(signer)?.finalized ?? 0n;
    for (let nonce = BigInt(base); nonce < used; nonce++) {
      looked++;
      const intent = byNonce.get(`${signer} ${nonce}`);
      const isOurs = intent?.hashes.some((hash) => receipts.has(hash)) === true;
      if (!isOurs && !explained.has(`${signer}:${nonce}`))
        problems.push(`nonce ${nonce} of ${signer} was used by a transaction that is not stored`);
    }
  }
  return { looked, problems };
}

function outflowProblem(out: Transfer, payout: IntentRow | undefined): string | null {
  const what = `${out.from} paid ${out.amount} of ${out.asset} to ${out.to} in ${out.txHash}`;
  if (payout === undefined) return `${what}, which no intent explains`;
  const planned = `${payout.signer} ${payout.plan.asset} ${payout.plan.to?.toLowerCase()} ${payout.plan.amount}`;
  return planned === `${out.from} ${out.asset} ${out.to} ${out.amount}`
    ? null
    : `${what}, ${payout.id} is to pay ${payout.plan.amount} of ${payout.plan.asset} to ${payout.plan.to}`;
}

async function everythingIntended(context: Context, view: ChainView): Promise<Seen> {
  const intents = await readIntents(context, view);
  const nonces = await foreignNonces(context, view, intents);
  const payouts = new Map(
    intents
      .filter(({ kind }) => kind === "settlement" || kind === "refund")
      .flatMap((intent) => intent.hashes.map((hash) => [hash, intent] as const)),
  );
  const { intermediaries } = view.scope;
  // What a relayer or spender moves into the pool is a top-up, which is booked as an arrival.
  const outflows = (await view.outflows()).filter(
    ({ from, to }) => intermediaries.includes(from) || !intermediaries.includes(to),
  );
  const seen = new Set<string>();
  const problems = outflows.flatMap((out) => {
    const problem = outflowProblem(out, payouts.get(out.txHash));
    const again = seen.has(out.txHash) ? `${out.txHash} moved money out more than once` : null;
    seen.add(out.txHash);
    return [problem, again].filter((one) => one !== null);
  });
  return {
    looked: nonces.looked,
    problems: [...nonces.problems, ...problems],
    notes: [
      `${outflows.length} token transfers from block ${view.scope.from} to ${view.finalized.number}`,
    ],
  };
}

async function nonceBehind(context: Context, view: ChainView): Promise<Seen> {
  const rows = await context.query<{ signer: string; next: string }>(
    `select signer, next from signer_nonce where chain = $1`,
    [view.chain],
  );
  const problems = rows.flatMap(({ signer, next }) => {
    const used = view.counts.get(signer)?.latest ?? 0n;
    return used > BigInt(next)
      ? [`${signer} has sent ${used} transactions, the next nonce is ${next}`]
      : [];
  });
  return { looked: rows.length, problems };
}

/** I20 to I25: what our keys sign and send. */
export const INTENT_CHECKS: Check[] = [
  sqlCheck({
    id: "I20",
    title: "nonces are unique and without gaps",
    counted: ["signers", "select 1 from signer_nonce"],
    problems: [
      `select format('%s on %s: %s nonces from %s to %s, where %s to %s are given out', s.signer, s.chain, count(i.id),
         min(i.nonce), max(i.nonce), s.base, s.next - 1)
       from signer_nonce s left join chain_intent i on i.chain = s.chain and i.signer = s.signer
       group by s.chain, s.signer having count(i.id) <> s.next - s.base
         or min(i.nonce) <> s.base or max(i.nonce) <> s.next - 1`,
      `select format('nonce %s of %s on %s belongs to %s', nonce, signer, chain, string_agg(id, ' and ' order by id))
       from chain_intent group by chain, signer, nonce having count(*) > 1`,
      `select format('%s uses %s, whose nonces are not counted', i.id, i.signer) from chain_intent i
       where not exists (select 1 from signer_nonce s where s.chain = i.chain and s.signer = i.signer)`,
    ],
  }),
  sqlCheck({
    id: "I21",
    title: "transactions are stored before they are sent",
    counted: ["intents", "select 1 from chain_intent"],
    problems: [
      `select format('%s is %s and has no stored transaction', i.id, i.state) from chain_intent i
       where i.state <> 'signed'
         -- What was given up before anything was signed has nothing to store.
         and (i.state <> 'superseded' or i.broadcast_at is not null)
         and not exists (select 1 from chain_tx t where t.intent_id = i.id and t.chain = i.chain)`,
      `select format('%s was sent at %s, its first transaction stored at %s', i.id, i.broadcast_at, min(t.created_at))
       from chain_intent i join chain_tx t on t.intent_id = i.id where i.broadcast_at is not null
       group by i.id having min(t.created_at) > i.broadcast_at`,
    ],
  }),
  { id: "I22", title: "replacements make the same call with the same nonce", run: sameCalls },
  {
    id: "I23",
    title: "at most one transaction of an intent is mined",
    run: (context) =>
      onChains(context, "intents", {
        evm: (view) => minedOnce(context, view),
        solana: (view) => minedOnce(context, view),
      }),
  },
  {
    id: "I24",
    title: "everything our accounts sent has an intent",
    run: (context) =>
      onChains(context, "used nonces", {
        evm: (view) => everythingIntended(context, view),
        solana: "what its keys signed is not listed; I14 compares the balances",
      }),
  },
  {
    id: "I25",
    title: "no key sent more than was given out",
    run: (context) =>
      onChains(context, "signers", {
        evm: (view) => nonceBehind(context, view),
        solana: "its transactions carry no nonces",
      }),
  },
];
