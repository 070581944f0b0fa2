import { type Transfer, transferIn } from "./chain-view.ts";
import { type Check, sqlCheck } from "./check.ts";
import { aboveFinal, type Context, onChains, outOfReach, type Seen } from "./context.ts";
import { together } from "./finding.ts";
import {
  merchantsRefunds,
  REFUND_BASIS,
  REFUND_OVERDUE,
  REFUND_PAYOUTS,
  REFUND_TERMS,
  refundedOf,
} from "./refunds.ts";

/** How long a settlement may take, and how long a transfer in a final block may wait to be recorded. */
const SETTLED_WITHIN_S = 900;

const LIVE = `s.state not in ('reverted', 'superseded')`;

type PayoutRow = {
  intent_id: string;
  state: string;
  destination: string;
  asset: string;
  amount: string;
  tx_ref: string | null;
  mined_hash: string | null;
  mined_block: string | null;
  hashes: string[];
};

const PAYOUTS = `select s.intent_id, s.state, s.destination, s.asset, sum(s.amount)::text as amount, s.tx_ref,
    i.mined_hash, i.mined_block, array(select t.hash from chain_tx t where t.intent_id = i.id) as hashes
  from settlement s join chain_intent i on i.id = s.intent_id where i.chain = $1
  group by s.intent_id, s.state, s.destination, s.asset, s.tx_ref, i.id
  union all ${REFUND_PAYOUTS}`;

/** A settlement that is said to be final: exactly one transfer, and this one. */
function finalProblem(rows: PayoutRow[], transfers: Transfer[]): string | null {
  const [first] = rows;
  if (first === undefined) return null;
  const due = rows.reduce((sum, { amount }) => sum + BigInt(amount), 0n);
  const hashes = new Set(rows.map(({ tx_ref }) => tx_ref));
  const found = transfers.filter(({ txHash }) => hashes.has(txHash));
  const what = `${first.intent_id} is to have paid ${due} of ${first.asset} to ${first.destination}`;
  if (hashes.size !== 1 || rows.some(({ mined_hash, tx_ref }) => mined_hash !== tx_ref))
    return `${what}, and names ${[...hashes].join(", ")}, mined was ${first.mined_hash}`;
  const [only] = found;
  if (found.length !== 1 || only === undefined)
    return `${what}: ${found.length} transfers on chain in ${first.tx_ref}`;
  return only.amount === due && only.to === first.destination && only.asset === first.asset
    ? null
    : `${what}; on chain are ${only.amount} of ${only.asset} to ${only.to}`;
}

/** A chain of any kind, with what transactions of ours moved out of the pool. */
type PaidFrom = {
  chain: string;
  finalized: { number: bigint; time: bigint };
  horizon: bigint;
  /** The first block whose transactions are kept. */
  oldest?: bigint;
  outflows(hashes: string[]): Promise<Transfer[]>;
  blockTime(number: bigint): Promise<bigint>;
};

/** A transfer on chain whose settlement is not final: expected for a moment, and only on its way. */
async function openProblem(
  view: PaidFrom,
  rows: PayoutRow[],
  transfers: Transfer[],
): Promise<string | "waits" | null> {
  const hashes = new Set(rows.flatMap((row) => row.hashes));
  const paid = transfers.find(
    ({ txHash, blockNumber }) => hashes.has(txHash) && blockNumber <= view.horizon,
  );
  const [first] = rows;
  if (paid === undefined || first === undefined) return null;
  const what = `${first.intent_id} is ${first.state}, but ${paid.txHash} paid ${paid.amount} to ${paid.to}`;
  if (rows.some(({ state }) => state !== "sent")) return what;
  const age = view.finalized.time - (await view.blockTime(paid.blockNumber));
  return age > BigInt(SETTLED_WITHIN_S) ? `${what} ${age} s ago` : "waits";
}

async function settledOnChain(context: Context, view: PaidFrom): Promise<Seen> {
  const all = await context.query<PayoutRow>(PAYOUTS, [view.chain]);
  const { oldest = 0n } = view;
  const rows = all.filter(({ mined_block }) => BigInt(mined_block ?? oldest) >= oldest);
  const gone = all.length - rows.length;
  const transfers = await view.outflows(
    rows.flatMap(({ tx_ref, hashes }) => (tx_ref === null ? hashes : [tx_ref, ...hashes])),
  );
  const problems: string[] = [];
  let looked = 0;
  let waiting = 0;
  let above = 0;
  for (const group of Map.groupBy(rows, ({ intent_id }) => intent_id).values()) {
    const final = group.every(({ state }) => state === "final");
    // Mined above the block that was final when the run began: the next run sees it.
    if (final && group.some((row) => BigInt(row.mined_block ?? 0) > view.finalized.number)) {
      above++;
      continue;
    }
    looked++;
    const problem = final
      ? finalProblem(group, transfers)
      : await openProblem(view, group, transfers);
    if (problem === "waits") waiting++;
    else if (problem !== null) problems.push(problem);
  }
  const notes = waiting > 0 ? [`${waiting} about to be recorded`] : [];
  return {
    looked,
    problems,
    notes: [...notes, ...aboveFinal(above)],
    unchecked: outOfReach(gone, oldest),
  };
}

/** The net part of a capture, by the terms the payment was made with. */
const NET = `c.received - least(c.received,
  div(c.received * p.fee_bps, 10000) + div(c.received * p.fee_fixed_minor, p.amount_minor))`;

const awayOf = (context: Context): string[] =>
  context.unseen.filter(({ failed }) => failed).map(({ chain }) => chain);

const OVERDUE = [
  (context: Context) => ({
    text: `select format('settlement %s of %s is %s since %s', s.id, s.payment_id, s.state, s.created_at)
      from settlement s where s.state in ('pending', 'sent') and split_part(s.asset, '/', 1) <> all ($1)
        and clock_timestamp() - greatest(s.created_at, (select max(r.ended_at) from refund r where r.payment_id = s.payment_id))
          > make_interval(secs => $2 + case s.schedule when 'batched' then $3 else 0 end)
        and not exists (select 1 from refund r where r.payment_id = s.payment_id and r.state = 'pending')
        and not (s.state = 'pending' and exists (select 1 from settlement_hold h where h.asset in (s.asset, '*')))`,
    values: [awayOf(context), SETTLED_WITHIN_S, context.batchS],
  }),
  () => ({
    text: `select format('%s succeeded at %s; capture %s is final and has no settlement', p.id, e.at, c.id)
      from payment p join capture c on c.payment_id = p.id and c.status = 'finalized'
      join payment_event e on e.payment_id = p.id and e.to_s = 'succeeded'
      where p.status = 'succeeded' and p.flow = 'intermediary'
        and ${NET} > ${refundedOf("p.id")}
        and clock_timestamp() - greatest(e.at, c.created_at) > make_interval(secs => $1)
        and not exists (select 1 from settlement s where s.payment_id = p.id and ${LIVE})`,
    values: [SETTLED_WITHIN_S],
  }),
  (context: Context) => ({
    text: `select format('capture %s of %s is in a final block since %s and not final', c.id, c.payment_id, c.created_at)
      from capture c join chain_cursor k on k.chain = c.chain and c.block_number <= k.finalized_number
      where c.status = 'confirmed' and c.chain <> all ($1)
        and clock_timestamp() - c.created_at > make_interval(secs => $2)
        and to_timestamp(k.finalized_time) > c.created_at + make_interval(secs => $2)`,
    values: [awayOf(context), SETTLED_WITHIN_S],
  }),
  (context: Context) => ({ text: REFUND_OVERDUE, values: [awayOf(context), SETTLED_WITHIN_S] }),
];

/** I26 to I29: money that goes out. */
export const SETTLEMENT_CHECKS: Check[] = [
  sqlCheck({
    id: "I26",
    title: "one live settlement per payment, of a final capture",
    counted: ["live settlements", `select 1 from settlement s where ${LIVE}`],
    problems: [
      `select format('%s has %s live settlements', s.payment_id, count(*)) from settlement s where ${LIVE}
       group by s.payment_id having count(*) > 1`,
      `select format('settlement %s: %s is %s', s.id, p.id, p.status)
       from settlement s join payment p on p.id = s.payment_id where ${LIVE} and p.status <> 'succeeded'`,
      `select format('settlement %s of %s: capture %s is %s', s.id, s.payment_id, s.capture_id,
         coalesce(c.status, 'not one of its payment'))
       from settlement s left join capture c on c.id = s.capture_id and c.payment_id = s.payment_id
       where ${LIVE} and c.status is distinct from 'finalized'`,
      `select format('settlement %s: %s is paid directly', s.id, p.id)
       from settlement s join payment p on p.id = s.payment_id where p.flow = 'direct'`,
      ...REFUND_BASIS,
    ],
  }),
  sqlCheck({
    id: "I27",
    title: "settlements go where the payment says; amount and fee are what arrived",
    counted: ["settlements", "select 1 from settlement"],
    problems: [
      `select format('settlement %s of %s goes to %s, the payment says %s', s.id, p.id, s.destination, p.destinations ->> s.asset)
       from settlement s join payment p on p.id = s.payment_id
       where s.destination is distinct from split_part(p.destinations ->> s.asset, ':', 3) or s.merchant_id <> p.merchant_id`,
      `select format('settlement %s of %s: %s, fee %s and refunds %s of %s, where %s of %s arrived', s.id, s.payment_id,
         s.amount, s.fee, ${refundedOf("s.payment_id")}, s.asset, c.received, c.asset)
       from settlement s join capture c on c.id = s.capture_id
       where s.asset <> c.asset or case when ${LIVE} then s.amount + s.fee + ${refundedOf("s.payment_id")} <> c.received
         else s.amount + s.fee > c.received end`,
      ...REFUND_TERMS,
      `select format('%s is to pay %s of %s to %s, its settlements come to %s', i.id, i.plan ->> 'amount',
         i.plan ->> 'asset', i.plan ->> 'to', sum(s.amount))
       from chain_intent i left join settlement s on s.intent_id = i.id where i.kind = 'settlement'
       group by i.id having coalesce(sum(s.amount), 0) is distinct from (i.plan ->> 'amount')::numeric
         or bool_or(s.destination is distinct from i.plan ->> 'to') or bool_or(s.asset is distinct from i.plan ->> 'asset')`,
    ],
  }),
  {
    id: "I28",
    title: "a settlement is final exactly when its transfer is on chain",
    run: async (context) =>
      together([
        await onChains(context, "payouts", {
          evm: (view) => settledOnChain(context, view),
          solana: (view) => settledOnChain(context, view),
        }),
        await onChains(context, "merchants' refunds", {
          evm: (view) => merchantsRefunds(context, view, transferIn),
          solana: (view) =>
            merchantsRefunds(
              context,
              view,
              ({ transfers }, logIndex) =>
                transfers.find((one) => one.logIndex === logIndex) ?? null,
            ),
        }),
      ]),
  },
  sqlCheck({
    id: "I29",
    title: `what is final is settled or blocked within ${SETTLED_WITHIN_S / 60} minutes`,
    counted: ["final captures", "select 1 from capture where status = 'finalized'"],
    problems: OVERDUE,
    remark: `select case when count(*) > 0 then count(*) || ' settlements blocked or on hold' end as remark
      from settlement s where s.state = 'blocked' or (s.state = 'pending'
        and exists (select 1 from settlement_hold h where h.asset in (s.asset, '*')))`,
  }),
];
