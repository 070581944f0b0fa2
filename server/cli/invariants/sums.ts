import type { Context } from "./context.ts";

type Sums = Record<"ledger" | "inAbove" | "inUnbooked" | "outAbove" | "leaving", bigint>;

/** What the books hold of an asset, what of it is booked from above a block or not booked up to it, and what is on its way out. */
const SUMS = `select
  coalesce((select sum(e.amount) from ledger_entry e join ledger_account a on a.id = e.account_id
    where a.kind = 'intermediary' and a.asset = $1), 0)::text as ledger,
  (coalesce((select sum(c.received) from capture c join payment p on p.id = c.payment_id and p.flow = 'intermediary'
    where c.asset = $1 and c.status <> 'orphaned' and c.block_number > $2), 0)
   + coalesce((select sum(m.amount_minor) from movement m where m.asset = $1 and m.recipient = any($3)
    and m.state in ('exception', 'topup') and m.block_number > $2), 0))::text as "inAbove",
  coalesce((select sum(m.amount_minor) from movement m where m.asset = $1 and m.recipient = any($3)
    and m.state in ('seen', 'ignored') and m.block_number <= $2), 0)::text as "inUnbooked",
  (coalesce((select sum(s.amount) from settlement s join chain_intent i on i.id = s.intent_id
    where s.asset = $1 and s.state = 'final' and i.mined_block > $2), 0)
   + coalesce((select sum(r.amount) from refund r join chain_intent i on i.id = r.intent_id
    where r.asset = $1 and r.state = 'succeeded' and i.mined_block > $2), 0))::text as "outAbove",
  (coalesce((select sum(s.amount) from settlement s where s.asset = $1 and s.state = 'sent'), 0)
   + coalesce((select sum(r.amount) from refund r where r.asset = $1 and r.state = 'pending' and r.intent_id is not null), 0))::text as leaving`;

/** The books of an asset around the block `at`, for the accounts that pool money. */
export async function readSums(
  context: Context,
  asset: string,
  at: bigint,
  intermediaries: string[],
): Promise<Sums> {
  const [row] = await context.query<Record<keyof Sums, string>>(SUMS, [
    asset,
    at.toString(),
    intermediaries,
  ]);
  const of = (name: keyof Sums): bigint => BigInt(row?.[name] ?? 0);
  return {
    ledger: of("ledger"),
    inAbove: of("inAbove"),
    inUnbooked: of("inUnbooked"),
    outAbove: of("outAbove"),
    leaving: of("leaving"),
  };
}
