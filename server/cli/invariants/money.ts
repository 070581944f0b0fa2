import { currencyOfUnit } from "#server/domain/money/currencies.ts";
import type { ChainView, Token } from "./chain-view.ts";
import { type Check, type Statement, sqlCheck } from "./check.ts";
import { type Context, onChains, type Seen } from "./context.ts";
import { GUARD_CHECK } from "./guards.ts";
import { REFUND_BOOKS, REFUNDED_ROWS } from "./refunds.ts";
import { solanaBalances } from "./solana.ts";
import { readSums } from "./sums.ts";

/** Accounts over which money of an asset is spread once it is pooled: together they are always zero. */
const POOLED = `('intermediary', 'merchant_payable', 'fee_income', 'suspense', 'operator')`;
const DIRECT = `('direct_received', 'direct_delivered')`;

/** What the rows about payments say that the intermediary received and paid out, by asset. */
const FROM_ROWS = `
  select c.asset, c.received as amount from capture c join payment p on p.id = c.payment_id and p.flow = 'intermediary'
    where c.status <> 'orphaned' or not exists (
      select 1 from ledger_tx t where t.subject = c.payment_id and t.reason = 'capture#' || c.ordinal || '.reversal')
  union all
  select m.asset, m.amount_minor from movement m
    join signer_nonce s on s.chain = m.chain and s.signer = m.recipient where m.state in ('exception', 'topup')
  union all
  select asset, -amount from settlement where state = 'final'
  union all
  ${REFUNDED_ROWS}`;

/** Price arithmetic in whole numbers: `div` of numerics has no rounding. */
const ceiling = (a: string, b: string) => `div(${a} + ${b} - 1, ${b})`;
const ten = (exponent: string) => `('1' || repeat('0', ${exponent}))::numeric`;

/** Options with the decimals of their token and the digits of their currency. */
const QUOTED = `select o.*, coalesce((o.quote ->> 'priced')::boolean, o.expires_at is not null) as priced, p.amount_minor as due, t.value::int as decimals, u.value::int as digits,
    (o.quote ->> 'fiatUsdE8')::numeric as fiat_price, (o.quote ->> 'tokenUsdE8')::numeric as token_price
  from payment_option o join payment p on p.id = o.payment_id
  join jsonb_each_text($1::jsonb) t on t.key = o.asset
  join jsonb_each_text($2::jsonb) u on u.key = p.amount_unit`;

const AT_PAR = ceiling(`q.due * ${ten("q.decimals")}`, ten("q.digits"));
const AT_PRICE = ceiling(
  `q.due * q.fiat_price * ${ten("q.decimals")}`,
  `(${ten("q.digits")} * q.token_price)`,
);

/** Digits of the currencies in use, by unit. */
const digitsOf = async (context: Context): Promise<Record<string, number>> => {
  const rows = await context.query<{ unit: string }>(
    `select distinct amount_unit as unit from payment`,
  );
  return Object.fromEntries(
    rows.flatMap(({ unit }) => {
      const currency = currencyOfUnit(unit);
      return currency === null ? [] : [[unit, currency.digits]];
    }),
  );
};

const quoteChecks = (values: unknown[]): Statement[] => [
  {
    text: `select format('option %s of %s asks for %s, %s is due at par', q.id, q.payment_id, q.amount_minor, ${AT_PAR})
        from (${QUOTED}) q where not q.priced and q.amount_minor <> ${AT_PAR}`,
    values,
  },
  {
    text: `select format('option %s of %s asks for %s, %s is due at %s / %s', q.id, q.payment_id, q.amount_minor,
          ${AT_PRICE}, q.fiat_price, q.token_price)
        from (${QUOTED}) q where q.priced and q.amount_minor is distinct from ${AT_PRICE}`,
    values,
  },
];

/** Options whose token's decimals nobody tells here. */
const UNKNOWN = `select o.asset, count(*) as options from payment_option o
  where not exists (select 1 from jsonb_each_text($1::jsonb) t where t.key = o.asset) group by o.asset order by o.asset`;

/** The options that could not be looked at, in words; a quote cannot be judged without the decimals of its token. */
async function unknownQuotes(context: Context, decimals: string): Promise<string> {
  const rows = await context.query<{ asset: string; options: string }>(UNKNOWN, [decimals]);
  return rows
    .map(
      ({ asset, options }) => `${options} options in ${asset}, which this registry does not know`,
    )
    .join("; ");
}

/** The lines of each capture's posting, turned into what they stand for. */
const SPLIT = `select c.payment_id, c.ordinal, c.received, p.flow, p.fee_bps, p.fee_fixed_minor, p.amount_minor as due,
    coalesce(sum(e.amount) filter (where a.kind = 'intermediary'), 0) as held,
    coalesce(-sum(e.amount) filter (where a.kind = 'merchant_payable' and a.merchant_id = p.merchant_id), 0) as net,
    coalesce(-sum(e.amount) filter (where a.kind = 'fee_income'), 0) as fee,
    coalesce(sum(e.amount) filter (where a.kind = 'direct_received'), 0) as passed
  from capture c join payment p on p.id = c.payment_id
  left join ledger_tx t on t.subject = c.payment_id and t.reason = 'capture#' || c.ordinal
  left join ledger_entry e on e.tx_id = t.id and e.asset = c.asset left join ledger_account a on a.id = e.account_id
  group by c.id, p.id`;

const FEE = `least(s.received, div(s.received * s.fee_bps, 10000) + div(s.received * s.fee_fixed_minor, s.due))`;

const SPLIT_PROBLEMS = [
  `select format('%s: capture %s of %s is posted as %s for the merchant and %s as fee', s.payment_id, s.ordinal,
     s.received, s.net, s.fee) from (${SPLIT}) s
   where s.flow = 'intermediary' and (s.held <> s.received or s.net + s.fee <> s.received or s.fee <> ${FEE})`,
  `select format('%s: direct capture %s of %s is posted as %s', s.payment_id, s.ordinal, s.received, s.passed)
   from (${SPLIT}) s where s.flow = 'direct' and (s.passed <> s.received or s.held <> 0 or s.fee <> 0)`,
];

const QUOTE_CHECK: Check = {
  id: "I15",
  title: "quotes are rounded up from their prices; net and fee are what arrived",
  async run(context) {
    const decimals = JSON.stringify(Object.fromEntries(context.decimals));
    const quotes = quoteChecks([decimals, JSON.stringify(await digitsOf(context))]);
    const known = await sqlCheck({
      id: "I15",
      title: "",
      counted: ["options", "select 1 from payment_option"],
      problems: [...quotes.map((problem) => () => problem), ...SPLIT_PROBLEMS],
    }).run(context);
    const unknown = await unknownQuotes(context, decimals);
    return known.outcome === "ok" && unknown !== ""
      ? { outcome: "not_checked", note: `${unknown}; ${known.note}`, failed: false }
      : known;
  },
};

const total = (amounts: { amount: bigint }[]): bigint =>
  amounts.reduce((sum, { amount }) => sum + amount, 0n);

/** What the transactions of the intermediary have cost up to the block that balances are read at. */
async function gasOf(context: Context, view: ChainView): Promise<bigint> {
  const [row] = await context.query<{ gas: string }>(
    `select coalesce(sum(gas_cost), 0)::text as gas from chain_intent
     where chain = $1 and signer = any($2) and mined_block <= $3`,
    [view.chain, view.scope.intermediaries, view.finalized.number.toString()],
  );
  return BigInt(row?.gas ?? 0);
}

/** An asset that the registry does not know: what arrived is not read, but what is held must be enough. */
async function compareOther(context: Context, view: ChainView, token: Token): Promise<string[]> {
  if (!/\/(erc20|slip44):/.test(token.asset))
    return [`${token.asset} is on the books, and of no kind that can be looked at`];
  const { intermediaries } = view.scope;
  const sums = await readSums(context, token.asset, view.finalized.number, intermediaries);
  const books = sums.ledger - sums.inAbove + sums.outAbove - sums.leaving;
  let held = token.address === "" ? await gasOf(context, view) : 0n;
  for (const account of intermediaries) held += await view.balance(token, account);
  return held < books
    ? [
        `${token.asset}: the chain holds ${held} at block ${view.finalized.number}, the books say ${books}`,
      ]
    : [];
}

async function compareBalance(context: Context, view: ChainView, token: Token): Promise<Seen> {
  const { intermediaries } = view.scope;
  const sums = await readSums(context, token.asset, view.horizon, intermediaries);
  const unpaid = await context.query<{ hash: string }>(
    `select t.hash from chain_tx t join settlement s on s.intent_id = t.intent_id
     where s.asset = $1 and s.state <> 'final'
     union all select t.hash from chain_tx t join refund r on r.intent_id = t.intent_id
     where r.asset = $1 and r.state <> 'succeeded'`,
    [token.asset],
  );
  const unbooked = new Set(unpaid.map(({ hash }) => hash));
  const ofToken = <T extends { asset: string }>(all: T[]) =>
    all.filter(({ asset }) => asset === token.asset);
  const ins = ofToken(await view.arrivals());
  const outs = ofToken(await view.outflows()).filter(({ from }) => intermediaries.includes(from));
  const isCoin = token.asset === view.native;
  // Native coin pays for its own transactions: what they cost is missing on chain and is no payout.
  const gas = isCoin ? await gasOf(context, view) : 0n;
  const below = ({ blockNumber }: { blockNumber: bigint }) => blockNumber <= view.horizon;
  const above = (one: { blockNumber: bigint }) => !below(one);
  const outUnbooked = total(outs.filter((out) => below(out) && unbooked.has(out.txHash)));
  const books = sums.ledger - sums.inAbove + sums.inUnbooked + sums.outAbove - outUnbooked;
  let now = 0n;
  for (const account of intermediaries) now += await view.balance(token, account);
  const held = now + gas - total(ins.filter(above)) + total(outs.filter(above));
  const moved = total(ins.filter(below)) - total(outs.filter(below));
  const problems: string[] = [];
  if (held < books)
    problems.push(
      `${token.asset}: the chain holds ${held} at block ${view.horizon}, the books say ${books}`,
    );
  if (moved !== books && !(isCoin && view.nativeFrom > view.scope.from))
    problems.push(
      `${token.asset}: transfers up to block ${view.horizon} come to ${moved}, the books to ${books}`,
    );
  const before = held - moved;
  const notes =
    before === 0n ? [] : [`${before} of ${token.asset} from before block ${view.scope.from}`];
  return { looked: 1, problems, notes };
}

async function compareBalances(context: Context, view: ChainView): Promise<Seen> {
  if (view.scope.intermediaries.length === 0) return { looked: 0, problems: [] };
  const seen = [];
  const coin = view.native === null ? [] : [{ asset: view.native, address: "" }];
  for (const token of [...view.tokens, ...coin])
    seen.push(await compareBalance(context, view, token));
  for (const token of view.others)
    seen.push({
      problems: await compareOther(context, view, token),
      notes: [
        `${token.asset} is not in this registry: its balance is a lower bound, and its arrivals are not read`,
      ],
    });
  return {
    looked: seen.length,
    problems: seen.flatMap(({ problems }) => problems),
    notes: seen.flatMap(({ notes }) => notes ?? []),
  };
}

/** I12 to I16: the books. */
export const MONEY_CHECKS: Check[] = [
  sqlCheck({
    id: "I12",
    title: "postings balance, nothing is overdrawn",
    counted: ["postings", "select 1 from ledger_tx"],
    problems: [
      `select format('posting %s (%s of %s) is off by %s in %s', t.id, t.reason, t.subject, sum(e.amount), e.asset)
       from ledger_entry e join ledger_tx t on t.id = e.tx_id group by t.id, e.asset having sum(e.amount) <> 0`,
      `select format('account %s is overdrawn by %s', a.id, abs(sum(e.amount)))
       from ledger_entry e join ledger_account a on a.id = e.account_id group by a.id, a.kind
       having (a.kind = 'intermediary' and sum(e.amount) < 0) or (a.kind = 'merchant_payable' and sum(e.amount) > 0)`,
      `select format('account %s says %s, its entries %s', a.id, a.balance, coalesce(sum(e.amount), 0))
       from ledger_account a left join ledger_entry e on e.account_id = a.id
       group by a.id having a.balance <> coalesce(sum(e.amount), 0)`,
    ],
  }),
  sqlCheck({
    id: "I13",
    title: "what is held is owed, earned or in suspense",
    counted: ["assets", "select distinct asset from ledger_account where kind = 'intermediary'"],
    problems: [
      `select format('%s: pooled accounts are off by %s', a.asset, sum(e.amount)) from ledger_entry e
       join ledger_account a on a.id = e.account_id where a.kind in ${POOLED} group by a.asset having sum(e.amount) <> 0`,
      `select format('%s: direct accounts are off by %s', a.asset, sum(e.amount)) from ledger_entry e
       join ledger_account a on a.id = e.account_id where a.kind in ${DIRECT} group by a.asset having sum(e.amount) <> 0`,
      `select format('posting %s (%s of %s) touches the pool and a direct account', t.id, t.reason, t.subject)
       from ledger_tx t join ledger_entry e on e.tx_id = t.id join ledger_account a on a.id = e.account_id
       group by t.id having bool_or(a.kind in ${DIRECT}) and bool_or(a.kind in ${POOLED})`,
      `select format('%s: the ledger holds %s, captures, other arrivals, settlements and refunds come to %s',
         coalesce(l.asset, r.asset), coalesce(l.amount, 0), coalesce(r.amount, 0))
       from (select a.asset, sum(e.amount) as amount from ledger_entry e join ledger_account a on a.id = e.account_id
         where a.kind = 'intermediary' group by a.asset) l
       full join (select asset, sum(amount) as amount from (${FROM_ROWS}) f group by asset) r on r.asset = l.asset
       where coalesce(l.amount, 0) <> coalesce(r.amount, 0)`,
      ...REFUND_BOOKS,
    ],
  }),
  {
    id: "I14",
    title: "the intermediary holds on chain what the books say",
    run: (context) =>
      onChains(context, "balances", {
        evm: (view) => compareBalances(context, view),
        solana: (view) => solanaBalances(context, view),
      }),
  },
  QUOTE_CHECK,
  GUARD_CHECK,
];
