import { createMerchantPayment } from "#server/contract/merchant.ts";
import { createPayment } from "#server/contract/payment-lifecycle.ts";
import { AUTHORIZATION_GRACE_S } from "#server/domain/payment/expiry.ts";
import { type Check, findProblems, notChecked, sqlCheck } from "./check.ts";
import { type Context, onChains, type Seen, shownBy } from "./context.ts";
import { type Finding, judge, together } from "./finding.ts";
import { pages } from "./pages.ts";

/** Finality that is assumed of a chain no node tells about: the slowest one that is shipped needs a quarter of an hour. */
const UNKNOWN_FINALITY_S = 1_800;
/** Room for the sweeps that end payments. */
const SWEEP_S = 60;
const ACTED_WITHIN_S = 30;

const finalityOf = (context: Context): string =>
  JSON.stringify(Object.fromEntries(context.chains.map((view) => [view.chain, view.finalityS])));

/** Per payment: the slowest finality of the chains it can be paid on. */
const FINALITY = `coalesce((select max(coalesce(($1::jsonb ->> o.chain)::int, ${UNKNOWN_FINALITY_S}))
  from payment_option o where o.payment_id = p.id and (p.option_id is null or o.id = p.option_id)), 0)`;

const BOUND = `make_interval(secs => ${AUTHORIZATION_GRACE_S + SWEEP_S} + ${FINALITY})`;

type AnswerRow = {
  scope: string;
  name: string;
  fingerprint: Buffer;
  status_code: number | null;
  body: string | null;
};

/** The payment that a stored answer is about. */
const PAYMENT_ID = /"paymentId":"(pay_[0-9A-Z]+)"/;

const CREATES = new Set<string>([createPayment.path, createMerchantPayment.path]);

/** Whether a key was sent to make a payment; a scope ends with the path. */
const isCreation = ({ scope }: AnswerRow): boolean =>
  CREATES.has(scope.slice(scope.lastIndexOf(" ") + 1));

const isJson = (text: string): boolean => {
  try {
    JSON.parse(text);
    return true;
  } catch {
    // That is the question.
    return false;
  }
};

function answerProblem(row: AnswerRow): string | null {
  const what = `key ${row.name}`;
  const { status_code: status, body } = row;
  if (row.fingerprint.length !== 32)
    return `${what}: the fingerprint has ${row.fingerprint.length} bytes`;
  if ((status === null) !== (body === null)) return `${what}: half an answer is stored`;
  if (status === null || body === null) return null;
  if (status < 200 || status >= 500 || status === 429)
    return `${what}: an answer of ${status} is stored`;
  if (!isJson(body)) return `${what}: the stored body is not JSON`;
  return null;
}

async function storedAnswers(context: Context): Promise<Finding> {
  const problems: string[] = [];
  const named: { id: string; name: string; made: boolean }[] = [];
  let looked = 0;
  const text = `select scope, quote_literal(key) || ' of ' || scope as name, fingerprint,
    status_code, body from idempotency_key`;
  for await (const rows of pages<AnswerRow>(context.query, text)) {
    looked += rows.length;
    problems.push(...rows.map(answerProblem).filter((problem) => problem !== null));
    for (const row of rows) {
      const id = row.status_code === 201 ? PAYMENT_ID.exec(row.body ?? "")?.[1] : undefined;
      if (id !== undefined) named.push({ id, name: row.name, made: isCreation(row) });
    }
  }
  const known = await context.query<{ id: string }>(`select id from payment where id = any($1)`, [
    named.map(({ id }) => id),
  ]);
  const ids = new Set(known.map(({ id }) => id));
  for (const { id, name } of named)
    if (!ids.has(id)) problems.push(`key ${name} answers with ${id}, which does not exist`);
  const creations = named.filter(({ made }) => made);
  const twice = Map.groupBy(creations, ({ id }) => id);
  for (const [id, keys] of twice)
    if (keys.length > 1) problems.push(`${id} was made by ${keys.length} keys`);
  return judge(problems, `${looked} keys`);
}

type GasRow = {
  id: string;
  gas_cost: string | null;
  mined_hash: string | null;
  mined_block: string | null;
  posted: string;
};

/**
 * Intents `i` that have a cost: what ended without a transaction of its own, since its nonce was used elsewhere, cost nothing, and what a
 * revert costs is known once it is final.
 */
const HAS_COST = `(i.state = 'final' or (i.state = 'reverted' and i.gas_cost is not null)
  or (i.state = 'superseded' and i.mined_hash is not null))`;

/** What was posted for the gas of each such intent. */
const GAS = `select i.id, i.gas_cost, i.mined_hash, i.mined_block, coalesce((
    select sum(e.amount) from ledger_tx t join ledger_entry e on e.tx_id = t.id
    join ledger_account a on a.id = e.account_id and a.kind = 'gas_expense' and a.asset = i.chain || '/native'
    where t.reason = 'gas' and t.subject = i.id || ':' || i.mined_hash), 0)::text as posted
  from chain_intent i where i.chain = $1 and ${HAS_COST}`;

const GAS_PROBLEMS = [
  `select format('gas of %s is posted, and no such transaction was stored', t.subject)
   from ledger_tx t where t.reason = 'gas' and not exists (
     select 1 from chain_tx k where t.subject = k.intent_id || ':' || k.hash)`,
  `select format('%s ended with %s and posted no gas', i.id, i.mined_hash) from chain_intent i
   where ${HAS_COST} and not exists (
     select 1 from ledger_tx t where t.reason = 'gas' and t.subject = i.id || ':' || i.mined_hash)`,
];

/** A chain of any kind, with what its transactions have cost. */
type Costs = {
  chain: string;
  finalized: { number: bigint; time: bigint };
  /** The first block whose transactions are kept. */
  oldest?: bigint;
  receipts(hashes: string[]): Promise<Map<string, { gasCost: bigint }>>;
};

/** A chain of any kind, with the blocks that its transactions are in. */
type Ends = {
  chain: string;
  finalized: { number: bigint; time: bigint };
  receipts(hashes: string[]): Promise<Map<string, { blockNumber: bigint }>>;
  blockTime(number: bigint): Promise<bigint>;
};

async function gasPaid(context: Context, view: Costs): Promise<Seen> {
  const all = await context.query<GasRow>(GAS, [view.chain]);
  const { finalized, oldest = 0n } = view;
  const { rows: ended, ...said } = shownBy({ finalized, oldest }, all, (row) => row.mined_block);
  const receipts = await view.receipts(ended.flatMap(({ mined_hash }) => mined_hash ?? []));
  const problems = ended.flatMap(({ id, mined_hash, posted, gas_cost }) => {
    const receipt = receipts.get(mined_hash ?? "");
    if (receipt === undefined) return [`${id}: no receipt of ${mined_hash}`];
    return receipt.gasCost === BigInt(posted) && receipt.gasCost === BigInt(gas_cost ?? 0)
      ? []
      : [`${id}: ${mined_hash} cost ${receipt.gasCost}, recorded ${gas_cost}, posted ${posted}`];
  });
  return { looked: ended.length, problems, ...said };
}

async function gas(context: Context): Promise<Finding> {
  const posted = await findProblems(context, GAS_PROBLEMS);
  const inDatabase: Finding =
    posted.problems === 0 ? judge([], "") : { outcome: "violated", ...posted };
  const onChain = await onChains(context, "ended intents", {
    evm: (view) => gasPaid(context, view),
    solana: (view) => gasPaid(context, view),
  });
  return together([
    inDatabase,
    onChain,
    judge([], "", ["budgets not checked: no budget is configured"]),
  ]);
}

/** How long a transaction in a final block may wait for the service to record its end. */
const ENDED_WITHIN_S = 900;

type WaitingRow = { id: string; state: string; hashes: string[] };

/** Old intents that are on their way; a young one may have been sent while a chain's clock was moved. */
const WAITING = `select i.id, i.state, array(select t.hash from chain_tx t where t.intent_id = i.id) as hashes
  from chain_intent i where i.chain = $1 and i.state in ('broadcast', 'mined')
    and clock_timestamp() - i.created_at > make_interval(secs => $2) order by i.id`;

async function endsRecorded(context: Context, view: Ends): Promise<Seen> {
  const rows = await context.query<WaitingRow>(WAITING, [view.chain, ENDED_WITHIN_S]);
  const receipts = await view.receipts(rows.flatMap(({ hashes }) => hashes));
  const problems: string[] = [];
  for (const { id, state, hashes } of rows)
    for (const hash of hashes) {
      const block = receipts.get(hash)?.blockNumber;
      if (block === undefined || block > view.finalized.number) continue;
      const age = view.finalized.time - (await view.blockTime(block));
      if (age > BigInt(ENDED_WITHIN_S))
        problems.push(
          `${id} is ${state}; ${hash} was mined ${age} s ago, in a block that is final`,
        );
    }
  return { looked: rows.length, problems };
}

const UNFINISHED = sqlCheck({
  id: "I35",
  title: "",
  counted: [
    "unfinished intents",
    "select 1 from chain_intent where state in ('signed', 'broadcast', 'mined')",
  ],
  problems: [
    `select format('%s waits to be sent since %s', id, created_at) from chain_intent
     where state = 'signed' and broadcast_at is null
       and clock_timestamp() - created_at > make_interval(secs => ${ACTED_WITHIN_S})`,
  ],
});

async function unfinished(context: Context): Promise<Finding> {
  const look = (view: Ends) => endsRecorded(context, view);
  const ended = await onChains(context, "of them long sent", { evm: look, solana: look });
  return together([await UNFINISHED.run(context), ended]);
}

/** I34 to I40: nothing stands still, nothing is left behind. */
export const HYGIENE_CHECKS: Check[] = [
  sqlCheck({
    id: "I34",
    title: "payments end in time",
    counted: [
      "open payments",
      "select 1 from payment where status in ('requires_action', 'processing')",
    ],
    problems: [
      (context) => ({
        text: `select format('%s is %s, it expired at %s', p.id, p.status, p.expires_at) from payment p
          where p.status in ('requires_action', 'processing') and clock_timestamp() > p.expires_at + ${BOUND}
            and not exists (select 1 from exception_record x where x.payment_id = p.id and x.state = 'open')`,
        values: [finalityOf(context)],
      }),
    ],
  }),
  {
    id: "I35",
    title: `unfinished transactions are sent within ${ACTED_WITHIN_S} seconds, and end within ${ENDED_WITHIN_S / 60} minutes of their final block`,
    run: unfinished,
  },
  { id: "I36", title: "stored answers are whole and name what exists", run: storedAnswers },
  notChecked(
    "I37",
    "no secrets in logs",
    "logs are not read here; a test looks for planted secrets",
  ),
  sqlCheck({
    id: "I38",
    title: "collected data are deleted in time",
    counted: ["fields", "select 1 from collected_field"],
    problems: [
      `select format('%s of %s was to be deleted at %s', name, payment_id, delete_after) from collected_field
       where delete_after < clock_timestamp() - interval '2 hours'`,
    ],
  }),
  { id: "I39", title: "gas is posted as it was paid", run: gas },
  notChecked("I40", "no 5xx in normal operation", "observed in answers, which are not stored"),
];
