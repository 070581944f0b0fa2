import {
  type ChainReceipt,
  type ChainView,
  type Moved,
  type Transfer,
  transferIn,
} from "./chain-view.ts";
import { type Check, sqlCheck } from "./check.ts";
import { aboveFinal, type Context, onChains, type Seen, shownBy } from "./context.ts";
import type { SentTx } from "./native-view.ts";
import type { SolanaView } from "./solana-view.ts";

/** How long, by the chain's own clock, an arrival in a final block may wait to be judged. */
const JUDGED_WITHIN_S = 900n;

type CaptureRow = {
  id: string;
  payment_id: string;
  tx_ref: string;
  log_index: number;
  block_number: string;
  block_hash: string;
  asset: string;
  payer: string;
  recipient: string;
  received: string;
};

/** Where a transaction is; without a hash its block's number alone names it. */
type Placed = { success: boolean; blockNumber: bigint; blockHash?: string };

/** The transfer that a booked capture names; null: there is none. */
function transferOf(
  chain: string,
  row: CaptureRow,
  receipt: ChainReceipt | undefined,
  sent: SentTx | undefined,
): Moved | null {
  if (row.log_index === -1)
    return sent === undefined
      ? null
      : { asset: row.asset, from: sent.from, to: sent.to, amount: sent.value };
  return receipt === undefined ? null : transferIn(receipt, row.log_index, chain);
}

/** What a booked capture says that its receipt does not; null: it is on chain as booked. */
function captureProblem(
  row: CaptureRow,
  receipt: Placed | undefined,
  found: Moved | null,
): string | null {
  const name = `capture ${row.id} of ${row.payment_id}`;
  if (receipt === undefined) return `${name}: no receipt of ${row.tx_ref}`;
  if (!receipt.success) return `${name}: ${row.tx_ref} reverted`;
  const { blockNumber, blockHash = row.block_hash } = receipt;
  if (blockHash !== row.block_hash || blockNumber !== BigInt(row.block_number))
    return `${name}: ${row.tx_ref} is in block ${receipt.blockNumber}, booked from ${row.block_number} (${row.block_hash})`;
  if (found === null) return `${name}: log ${row.log_index} of ${row.tx_ref} is no transfer`;
  const booked = [row.asset, row.payer, row.recipient];
  const real = [found.asset, found.from, found.to];
  if (booked.join() !== real.join())
    return `${name}: booked as ${booked.join(" ")}, on chain ${real.join(" ")}`;
  if (found.amount !== BigInt(row.received))
    return `${name}: booked ${row.received}, on chain ${found.amount}`;
  return null;
}

const readCaptures = (
  context: Context,
  { chain, horizon }: { chain: string; horizon: bigint },
): Promise<CaptureRow[]> =>
  context.query<CaptureRow>(
    `select * from capture where chain = $1 and status <> 'orphaned' and (status = 'finalized' or block_number <= $2)
     order by id`,
    [chain, horizon.toString()],
  );

async function capturesOnChain(context: Context, view: ChainView): Promise<Seen> {
  const all = await readCaptures(context, view);
  const rows = all.filter(({ block_number }) => BigInt(block_number) <= view.finalized.number);
  const receipts = await view.receipts(rows.map(({ tx_ref }) => tx_ref));
  const sent = await view.transactions(
    rows.flatMap(({ tx_ref, log_index }) => (log_index === -1 ? [tx_ref] : [])),
  );
  const problems = rows.map((row) => {
    const receipt = receipts.get(row.tx_ref);
    return captureProblem(row, receipt, transferOf(view.chain, row, receipt, sent.get(row.tx_ref)));
  });
  return {
    looked: rows.length,
    problems: problems.filter((problem) => problem !== null),
    notes: aboveFinal(all.length - rows.length),
  };
}

async function capturesOnSolana(context: Context, view: SolanaView): Promise<Seen> {
  const all = await readCaptures(context, view);
  const { rows, ...said } = shownBy(view, all, ({ block_number }) => block_number);
  const txs = await view.receipts(rows.map(({ tx_ref }) => tx_ref));
  const problems = rows.map((row) => {
    const tx = txs.get(row.tx_ref);
    const found = tx?.transfers.find(({ logIndex }) => logIndex === row.log_index) ?? null;
    const placed = tx && { success: tx.success, blockNumber: tx.blockNumber };
    return captureProblem(row, placed, found);
  });
  return { looked: rows.length, problems: problems.filter((problem) => problem !== null), ...said };
}

/** Where one arrival is booked, as rows of the database say. */
type Booked = {
  key: string;
  amount: string;
  place: "capture" | "exception" | "topup" | "waiting";
};

const keyOf = (t: Transfer): string => `${t.txHash} ${t.logIndex} ${t.blockHash} ${t.asset}`;

const BOOKED = `
  select tx_ref || ' ' || log_index || ' ' || block_hash || ' ' || asset as key, received::text as amount,
    'capture' as place from capture where chain = $1 and status <> 'orphaned'
  union all
  select tx_ref || ' ' || log_index || ' ' || block_hash || ' ' || asset, amount_minor::text, 'exception'
    from exception_record x where chain = $1 and kind not in ('orphaned', 'unknown_outflow')
    -- What came with a payment in excess is told beside the capture that holds all of it.
    and not (x.kind = 'over' and exists (select 1 from capture c where c.chain = x.chain and c.tx_ref = x.tx_ref
      and c.log_index = x.log_index and c.payment_id = x.payment_id and c.received > x.amount_minor))
  union all
  select tx_hash || ' ' || log_index || ' ' || block_hash || ' ' || asset, amount_minor::text,
    case state when 'topup' then 'topup' else 'waiting' end
    from movement where chain = $1 and state in ('topup', 'seen')`;

async function arrivalProblem(
  view: ChainView,
  transfer: Transfer,
  places: Booked[],
): Promise<string | "waits" | null> {
  const what = `${transfer.amount} of ${transfer.asset} in ${transfer.txHash} (log ${transfer.logIndex})`;
  const booked = places.filter(({ place }) => place !== "waiting");
  if (booked.length > 1)
    return `${what} is booked ${booked.length} times: ${booked.map(({ place }) => place).join(", ")}`;
  const [only] = booked;
  if (only !== undefined)
    return BigInt(only.amount) === transfer.amount
      ? null
      : `${what} is booked as ${only.place} of ${only.amount}`;
  if (places.length === 0) return `${what} is booked nowhere`;
  const age = view.finalized.time - (await view.blockTime(transfer.blockNumber));
  return age > JUDGED_WITHIN_S ? `${what} was read ${age} s ago and is not judged` : "waits";
}

/** What arrived above the blocks that the service has read: a problem once it has waited longer than a judgement may. */
async function unreadProblem(view: ChainView, transfer: Transfer): Promise<string | null> {
  const age = view.finalized.time - (await view.blockTime(transfer.blockNumber));
  return age > JUDGED_WITHIN_S
    ? `${transfer.amount} of ${transfer.asset} in ${transfer.txHash} (log ${transfer.logIndex}) arrived ${age} s ago, and nothing is read above block ${view.horizon}`
    : null;
}

async function arrivalsBooked(context: Context, view: ChainView): Promise<Seen> {
  const all = await view.arrivals();
  const arrivals = all.filter(({ blockNumber }) => blockNumber <= view.horizon);
  const rows = await context.query<Booked>(BOOKED, [view.chain]);
  const places = Map.groupBy(rows, ({ key }) => key);
  const problems: string[] = [];
  for (const transfer of all)
    if (transfer.blockNumber > view.horizon && !places.has(keyOf(transfer))) {
      const problem = await unreadProblem(view, transfer);
      if (problem !== null) problems.push(problem);
    }
  let waiting = 0;
  for (const transfer of arrivals) {
    const problem = await arrivalProblem(view, transfer, places.get(keyOf(transfer)) ?? []);
    if (problem === "waits") waiting++;
    else if (problem !== null) problems.push(problem);
  }
  const notes = [`blocks ${view.scope.from} to ${view.horizon}`];
  if (view.native !== null && view.nativeFrom > view.scope.from)
    notes.push(`native coin from block ${view.nativeFrom} on`);
  if (view.scope.intermediaries.length === 0) notes.push("no offer names an intermediary yet");
  if (waiting > 0) notes.push(`${waiting} about to be judged`);
  return { looked: arrivals.length, problems, notes };
}

/** I8 to I11: money that came in. */
export const CAPTURE_CHECKS: Check[] = [
  sqlCheck({
    id: "I8",
    title: "one capture per payment, one payment per transfer",
    counted: ["captures", "select 1 from capture where status <> 'orphaned'"],
    problems: [
      `select format('%s has %s captures', payment_id, count(*)) from capture where status <> 'orphaned'
       group by payment_id having count(*) > 1`,
      `select format('%s log %s on %s pays %s', tx_ref, log_index, chain, string_agg(payment_id, ' and ' order by payment_id))
       from capture where status <> 'orphaned' group by chain, tx_ref, log_index having count(*) > 1`,
    ],
  }),
  sqlCheck({
    id: "I9",
    title: "what succeeded was paid in full",
    counted: ["succeeded payments", "select 1 from payment where status = 'succeeded'"],
    problems: [
      `select format('%s succeeded without a capture', p.id) from payment p
       where p.status = 'succeeded' and not exists (
         select 1 from capture c where c.payment_id = p.id and c.status <> 'orphaned')
       and not exists (
         select 1 from capture c join exception_record x on x.payment_id = c.payment_id and x.kind = 'orphaned'
           and x.chain = c.chain and x.tx_ref = c.tx_ref and x.block_hash = c.block_hash
         where c.payment_id = p.id and c.status = 'orphaned')`,
      `select format('%s succeeded with %s captures', p.id, count(*)) from payment p
       join capture c on c.payment_id = p.id and c.status <> 'orphaned'
       where p.status = 'succeeded' group by p.id having count(*) > 1`,
      `select format('%s: capture %s received %s of %s, option %s asked for %s of %s', c.payment_id, c.id,
         c.received, c.asset, c.option_id, o.amount_minor, o.asset)
       from capture c left join payment_option o on o.id = c.option_id
       where c.status <> 'orphaned' and (o.id is null or o.payment_id <> c.payment_id or o.chain <> c.chain
         or o.asset <> c.asset or o.payer <> c.payer or o.recipient <> c.recipient or c.received < o.amount_minor)`,
    ],
    remark: `select case when count(*) > 0 then count(*) || ' of them wait for a transfer that a reorganisation removed' end
      as remark from payment p where p.status = 'succeeded'
      and not exists (select 1 from capture c where c.payment_id = p.id and c.status <> 'orphaned')`,
  }),
  {
    id: "I10",
    title: "captures are on chain as booked",
    run: (context) =>
      onChains(context, "captures", {
        evm: (view) => capturesOnChain(context, view),
        solana: (view) => capturesOnSolana(context, view),
      }),
  },
  {
    id: "I11",
    title: "every arrival at the intermediary is a capture, an exception or a top-up",
    run: (context) =>
      onChains(context, "arrivals", {
        evm: (view) => arrivalsBooked(context, view),
        solana: "what arrives there is not read a second time; I14 compares the balances",
      }),
  },
];
