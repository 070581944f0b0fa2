/**
 * Mined reverts that transactions for the payer of option `o` have cost on its chain within a day. One whose payment succeeded all the
 * same was sent by somebody else first: no fault of the payer.
 */
export const PAYER_REVERTS = `(
  select coalesce(sum(t.reverts), 0)::int from attempt t
  join payment_option w on w.id = t.option_id join payment q on q.id = t.payment_id
  where t.reverts > 0 and t.created_at > clock_timestamp() - interval '1 day' and q.status <> 'succeeded'
    and w.chain = o.chain and w.payer = o.payer)`;
