import type pg from "pg";

/** Work that only a Solana chain which is gone could bring to its end. */
const UNFINISHED = `
  select exists (select 1 from payment p join payment_option o on o.id = p.option_id
      where p.status = 'processing' and o.chain like 'solana:%')
    or exists (select 1 from chain_intent where chain like 'solana:%' and state in ('signed', 'broadcast', 'mined'))
    or exists (select 1 from capture where chain like 'solana:%' and status = 'confirmed')
    or exists (select 1 from settlement where asset like 'solana:%' and state in ('pending', 'sent'))
    or exists (select 1 from refund where asset like 'solana:%' and state = 'pending') as left`;

/**
 * Why a database cannot go on without the Solana chain it last worked with: that chain ended with its process. Null: nothing was
 * left to do there.
 */
export async function unfinishedOnSolana(client: pg.Client): Promise<string | null> {
  const made = await client.query<{ ok: boolean }>(
    "select to_regclass('public.served_tx') is not null as ok",
  );
  if (!made.rows[0]?.ok) return null;
  const found = await client.query<{ left: boolean }>(UNFINISHED);
  return found.rows[0]?.left === true
    ? "the Solana chain ended with payments or settlements unfinished on it"
    : null;
}
