import { codesWithDigits } from "#server/domain/money/currencies.ts";
import type { PaymentStatus } from "#server/domain/payment/state.ts";
import type { Page, Position } from "#server/ports/merchants.ts";
import type {
  ListedPayment,
  PaymentFilter,
  PaymentListReads,
  PaymentSort,
  PaymentTotals,
} from "#server/ports/payment-list.ts";
import type { Database } from "./client.ts";
import { microsOf, pageOf, timeOf } from "./merchants.ts";

type Row = {
  key: string;
  id: string;
  status: PaymentStatus;
  merchant_id: string;
  name: string;
  icon_url: string | null;
  reference_id: string;
  amount_unit: string;
  amount_minor: string;
  flow: "intermediary" | "direct";
  fee_bps: number;
  fee_fixed_minor: string;
  created_at: Date;
  updated_at: Date;
  chain: string | null;
  asset: string | null;
  payer: string | null;
  option_amount: string | null;
  tx_ref: string | null;
  received: string | null;
  settled_amount: string | null;
  settled_fee: string | null;
  settled_state: string | null;
  settled_ref: string | null;
  settled_at: Date | null;
};

function settlementOf(row: Row): ListedPayment["settlement"] {
  if (row.settled_amount === null || row.settled_fee === null) return null;
  const final = row.settled_state === "final";
  return {
    amount: BigInt(row.settled_amount),
    fee: BigInt(row.settled_fee),
    txHash: final ? row.settled_ref : null,
    settledAt: final ? row.settled_at : null,
  };
}

function optionOf({ chain, asset, payer, option_amount }: Row): ListedPayment["option"] {
  return chain === null || asset === null || payer === null || option_amount === null
    ? null
    : { chain, asset, payer, amount: BigInt(option_amount) };
}

const toListed = (row: Row): ListedPayment => ({
  id: row.id,
  status: row.status,
  merchant: { id: row.merchant_id, name: row.name, iconUrl: row.icon_url },
  referenceId: row.reference_id,
  unit: row.amount_unit,
  minor: BigInt(row.amount_minor),
  flow: row.flow,
  feeBps: row.fee_bps,
  feeFixedMinor: BigInt(row.fee_fixed_minor),
  createdAt: row.created_at,
  lastUpdatedAt: row.updated_at,
  option: optionOf(row),
  capture:
    row.tx_ref === null || row.received === null
      ? null
      : { txHash: row.tx_ref, received: BigInt(row.received) },
  settlement: settlementOf(row),
});

/** The payments a filter names, each with its option; `$1` to `$9` are the filter's values. */
const MATCHING = `payment p left join payment_option o on o.id = p.option_id
  where p.merchant_id in (select id from merchant where partner_id = $1 and environment = $2)
    and ($3::text[] is null or p.merchant_id = any($3)) and ($4::text[] is null or p.status = any($4))
    and ($5::text is null or p.created_at >= ${timeOf("$5")}) and ($6::text is null or p.created_at < ${timeOf("$6")})
    and ($7::text[] is null or o.chain = any($7)) and ($8::text[] is null or o.asset = any($8))
    and ($9::text is null or strpos(p.reference_id, $9) > 0)`;

const valuesOf = (filter: PaymentFilter): unknown[] => [
  filter.partnerId,
  filter.environment,
  filter.merchantIds,
  filter.statuses,
  filter.from,
  filter.to,
  filter.chains,
  filter.assets,
  filter.reference,
];

const units = (digits: number) =>
  codesWithDigits(digits)
    .map((code) => `'iso4217/${code}'`)
    .join(",");

/** Amounts of all currencies as whole thousandths of a major unit: no currency has more digits. */
const THOUSANDTHS = `(p.amount_minor * case when p.amount_unit in (${units(0)}) then 1000
  when p.amount_unit in (${units(3)}) then 1 else 10 end)`;

const SORTS = {
  date: { column: "p.created_at", written: microsOf("p.created_at"), read: timeOf },
  amount: {
    column: THOUSANDTHS,
    written: `${THOUSANDTHS}::text`,
    read: (parameter: string) => `${parameter}::numeric`,
  },
} as const;

/** A page first, then what is known of its payments: details of all others are never read. */
function pageQuery({ by, dir }: PaymentSort): string {
  const { column, written, read } = SORTS[by];
  const order = `${column} ${dir}, p.id ${dir}`;
  return `with page as (
      select p.*, o.chain, o.asset, o.payer, o.amount_minor as option_amount, ${written} as key from ${MATCHING}
        and ($10::text is null or (${column}, p.id) ${dir === "asc" ? ">" : "<"} (${read("$10")}, $11))
      order by ${order} limit $12)
    select p.*, m.name, m.icon_url, c.tx_ref, c.received, s.amount as settled_amount, s.fee as settled_fee,
      s.state as settled_state, s.tx_ref as settled_ref, s.settled_at,
      greatest(p.created_at, s.settled_at,
        (select max(e.at) from payment_event e where e.payment_id = p.id)) as updated_at
    from page p join merchant m on m.id = p.merchant_id
      left join lateral (select tx_ref, received from capture where payment_id = p.id
        order by (status = 'orphaned'), ordinal desc limit 1) c on true
      left join settlement s on s.payment_id = p.id and s.state not in ('reverted', 'superseded')
    order by ${order}`;
}

async function paymentPage(
  db: Database,
  filter: PaymentFilter,
  sort: PaymentSort,
  after: Position | null,
  limit: number,
): Promise<Page<ListedPayment>> {
  const rows = await db.query<Row>(pageQuery(sort), [
    ...valuesOf(filter),
    after?.key ?? null,
    after?.id ?? null,
    limit + 1,
  ]);
  const page = pageOf(rows, limit);
  return { rows: page.rows.map(toListed), next: page.next };
}

type TotalRow = { unit: string | null; payments: string; revenue: string; customers: string };

async function paymentTotals(db: Database, filter: PaymentFilter): Promise<PaymentTotals> {
  const rows = await db.query<TotalRow>(
    `select p.amount_unit as unit, count(*) as payments,
       coalesce(sum(p.amount_minor) filter (where p.status = 'succeeded'), 0)::text as revenue,
       count(distinct o.payer) filter (where p.status = 'succeeded') as customers
     from ${MATCHING} group by grouping sets ((p.amount_unit), ()) order by p.amount_unit`,
    valuesOf(filter),
  );
  const all = rows.find(({ unit }) => unit === null);
  return {
    revenue: rows.flatMap(({ unit, revenue }) =>
      unit === null || revenue === "0" ? [] : [{ unit, minor: BigInt(revenue) }],
    ),
    payments: Number(all?.payments ?? 0),
    customers: Number(all?.customers ?? 0),
  };
}

/** Lists of payments, and sums over them. */
export const paymentListReads = (db: Database): PaymentListReads => ({
  paymentPage: (filter, sort, after, limit) => paymentPage(db, filter, sort, after, limit),
  paymentTotals: (filter) => paymentTotals(db, filter),
});
