import type { Moved } from "./chain-view.ts";
import { aboveFinal, type Context, type Seen } from "./context.ts";

/** Whether a refund's money was set aside and not put back, for a row `r` of refunds. */
const FUNDED = `(exists (select 1 from ledger_tx t where t.reason = 'refund.reserve' and t.subject = r.id)
  and not exists (select 1 from ledger_tx t where t.reason = 'refund.release' and t.subject = r.id))`;

/** What refunds took of the settlement of a payment `$payment`, in minor units. */
export const refundedOf = (payment: string): string =>
  `coalesce((select sum(r.amount) from refund r where r.payment_id = ${payment} and ${FUNDED}), 0)`;

/** What refunds took out of the pool, as rows of asset and amount. */
export const REFUNDED_ROWS = `select asset, -amount from refund where state = 'succeeded' and intent_id is not null`;

const HELD = `(r.state = 'pending' and (r.intent_id is not null or ${FUNDED}))`;
const GONE = `(r.state = 'succeeded' and r.intent_id is not null)`;

/** I13: what the ledger says of each refund is what its state says. */
export const REFUND_BOOKS = [
  `select format('refund %s is %s: of %s the ledger has %s taken, %s set aside and %s sent', r.id, r.state, r.amount,
     b.taken, b.aside, b.sent)
   from refund r cross join lateral (
     select coalesce(sum(e.amount) filter (where a.kind = 'merchant_payable' and a.merchant_id = r.merchant_id), 0) as taken,
       coalesce(-sum(e.amount) filter (where a.kind = 'suspense'), 0) as aside,
       coalesce(-sum(e.amount) filter (where a.kind = 'intermediary'), 0) as sent
     from ledger_tx t join ledger_entry e on e.tx_id = t.id and e.asset = r.asset join ledger_account a on a.id = e.account_id
     where t.subject = r.id and t.reason in ('refund.reserve', 'refund', 'refund.release')) b
   where b.taken <> case when ${HELD} or ${GONE} then r.amount else 0 end
     or b.aside <> case when ${HELD} then r.amount else 0 end
     or b.sent <> case when ${GONE} then r.amount else 0 end`,
];

/** I26: what a refund is of. */
export const REFUND_BASIS = [
  `select format('refund %s: %s is %s', r.id, p.id, p.status) from refund r join payment p on p.id = r.payment_id
   where p.status <> 'succeeded' or p.merchant_id <> r.merchant_id or p.environment <> r.environment`,
  `select format('refund %s takes money of %s, whose capture is not final', r.id, r.payment_id) from refund r
   where (r.state = 'awaiting_merchant' or ${FUNDED}) and not exists (
     select 1 from capture c where c.payment_id = r.payment_id and c.status = 'finalized')`,
  `select format('refund %s of a direct payment is sent from the pool', r.id) from refund r
   join payment p on p.id = r.payment_id and p.flow = 'direct' where r.intent_id is not null or ${FUNDED}`,
];

/** I27: how much goes back, and to whom. */
export const REFUND_TERMS = [
  `select format('%s: refunds come to %s, received were %s', c.payment_id, sum(r.amount), c.received)
   from refund r join capture c on c.payment_id = r.payment_id and c.status <> 'orphaned'
   where r.state <> 'failed' group by c.id having sum(r.amount) > c.received`,
  `select format('refund %s of %s: %s of %s to %s, paid was %s by %s', r.id, r.payment_id, r.amount, r.asset,
     r.destination, c.asset, c.payer)
   from refund r join capture c on c.payment_id = r.payment_id and c.status <> 'orphaned'
   where r.state <> 'failed' and (r.asset <> c.asset or r.destination <> c.chain || ':' || c.payer)`,
  `select format('%s is to pay %s of %s to %s, its refund is %s of %s to %s', i.id, i.plan ->> 'amount',
     i.plan ->> 'asset', i.plan ->> 'to', r.amount, r.asset, r.destination)
   from chain_intent i left join refund r on r.intent_id = i.id where i.kind = 'refund' and (r.id is null
     or r.amount <> (i.plan ->> 'amount')::numeric or r.asset <> i.plan ->> 'asset'
     or split_part(r.destination, ':', 3) <> i.plan ->> 'to' or r.payment_id is distinct from i.payment_id)`,
  `select format('%s log %s ends refunds %s', tx_ref, log_index, string_agg(id, ' and ' order by id)) from refund
   where log_index is not null group by split_part(asset, '/', 1), tx_ref, log_index having count(*) > 1`,
];

/** I29: refunds whose money is set aside longer than `$2` seconds, on chains that are not in `$1`. */
export const REFUND_OVERDUE = `select format('refund %s of %s is set aside since %s', r.id, r.payment_id, t.created_at)
  from refund r join ledger_tx t on t.reason = 'refund.reserve' and t.subject = r.id
  where r.state = 'pending' and split_part(r.asset, '/', 1) <> all ($1)
    and clock_timestamp() - t.created_at > make_interval(secs => $2)
    and not exists (select 1 from settlement_hold h where h.asset in (r.asset, '*'))`;

/** I30: every refund is told of when it begins and when it ends, once. */
export const REFUND_EVENTS = [
  `select format('refund %s is %s and has %s events, %s of them of its end', r.id, r.state, count(o.id),
     count(o.id) filter (where o.topic = 'refund.' || r.state))
   from refund r left join outbox o on o.payment_id = r.payment_id and o.dedupe like 'refund:' || r.id || ':%'
   group by r.id having count(o.id) filter (where o.topic = 'refund.created') <> 1
     or count(o.id) <> case when r.state in ('succeeded', 'failed') then 2 else 1 end
     or count(o.id) filter (where o.topic = 'refund.' || r.state) <> case when r.state in ('succeeded', 'failed') then 1 else 0 end`,
];

/** I28: refunds as payouts, in the words of settlements. */
export const REFUND_PAYOUTS = `select r.intent_id,
    case r.state when 'succeeded' then 'final' when 'failed' then 'blocked' else 'sent' end,
    split_part(r.destination, ':', 3), r.asset, r.amount::text, r.tx_ref, i.mined_hash, i.mined_block,
    array(select t.hash from chain_tx t where t.intent_id = i.id)
  from refund r join chain_intent i on i.id = r.intent_id where i.chain = $1`;

type MerchantRow = {
  id: string;
  asset: string;
  amount: string;
  sender: string;
  recipient: string;
  tx_ref: string;
  log_index: number;
  ended: string;
};

function merchantProblem(row: MerchantRow, moved: Moved | null): string | null {
  const what = `refund ${row.id} rests on log ${row.log_index} of ${row.tx_ref}`;
  if (moved === null) return `${what}, which is no transfer`;
  const due = [row.asset, row.sender, row.recipient, BigInt(row.amount)].join(" ");
  const found = [moved.asset, moved.from, moved.to, moved.amount].join(" ");
  return due === found ? null : `${what}: due was ${due}, on chain is ${found}`;
}

/** I28: what merchants' own wallets sent back is on chain as it was due. */
export async function merchantsRefunds<Receipt extends { success: boolean }>(
  context: Context,
  view: {
    chain: string;
    finalized: { time: bigint };
    receipts(hashes: string[]): Promise<Map<string, Receipt>>;
  },
  find: (receipt: Receipt, logIndex: number, chain: string) => Moved | null,
): Promise<Seen> {
  const all = await context.query<MerchantRow>(
    `select r.id, r.asset, r.amount::text as amount, split_part(p.destinations ->> r.asset, ':', 3) as sender,
       split_part(r.destination, ':', 3) as recipient, r.tx_ref, r.log_index,
       floor(extract(epoch from coalesce(r.ended_at, r.created_at)))::text as ended
     from refund r join payment p on p.id = r.payment_id
     where r.log_index is not null and split_part(r.asset, '/', 1) = $1 order by r.id`,
    [view.chain],
  );
  const receipts = await view.receipts(all.map(({ tx_ref }) => tx_ref));
  // Its block was final when it ended, and a node whose final block is older may not have it yet.
  const rows = all.filter(
    ({ tx_ref, ended }) => receipts.has(tx_ref) || BigInt(ended) < view.finalized.time,
  );
  const problems = rows.map((row) => {
    const receipt = receipts.get(row.tx_ref);
    const moved = receipt?.success ? find(receipt, row.log_index, view.chain) : null;
    return merchantProblem(row, moved);
  });
  return {
    looked: rows.length,
    problems: problems.filter((problem) => problem !== null),
    notes: aboveFinal(all.length - rows.length),
  };
}
