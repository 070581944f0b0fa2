import type {
  Destination,
  MerchantFilter,
  MerchantReads,
  MerchantRecord,
  MerchantTx,
  Page,
  Position,
} from "#server/ports/merchants.ts";
import type { Database, Query } from "./client.ts";

const COLUMNS = `id, partner_id as "partnerId", environment, name, email, icon_url as "iconUrl", flow,
  fee_bps as "feeBps", fee_fixed_cents as "feeFixedCents", settlement_schedule as "settlementSchedule", status,
  collect_when as "collectWhen", collect_above_cents as "collectAboveCents", prove_ownership as "proveOwnership",
  created_at as "createdAt"`;

/** A time as a whole number, so that a position survives being written down: the driver's dates have milliseconds only. */
export const microsOf = (column: string): string =>
  `(extract(epoch from ${column}) * 1000000)::bigint::text`;

/** The time a parameter of `microsOf`'s form stands for. */
export const timeOf = (parameter: string): string =>
  `('epoch'::timestamptz + ${parameter}::bigint * interval '1 microsecond')`;

/** Cuts the one row too many that says there is a next page; `key` is each row's sort key. */
export function pageOf<Row extends { key: string; id: string }>(
  rows: Row[],
  limit: number,
): Page<Row> {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { rows: shown, next: more ? { key: last.key, id: last.id } : null };
}

/** Reads for the management of merchants. */
export const merchantReads = (db: Database): MerchantReads => ({
  async merchantRecord(id) {
    const [row] = await db.query<MerchantRecord>(`select ${COLUMNS} from merchant where id = $1`, [
      id,
    ]);
    return row ?? null;
  },
  merchantPage: (filter, after, limit) => merchantPage(db, filter, after, limit),
  destinationsOf: (merchantId) =>
    db.query<Destination>(
      `select id, asset, destination from settlement_destination where merchant_id = $1 order by asset`,
      [merchantId],
    ),
});

async function merchantPage(
  db: Database,
  filter: MerchantFilter,
  after: Position | null,
  limit: number,
): ReturnType<MerchantReads["merchantPage"]> {
  const where = `partner_id = $1 and environment = $2 and status <> 'deleted'
    and ($3::text is null or id = $3) and ($4::text is null or status = $4)
    and ($5::text is null or strpos(lower(name), lower($5)) > 0 or strpos(lower(id), lower($5)) > 0)`;
  const values = [
    filter.partnerId,
    filter.environment,
    filter.merchantId,
    filter.status,
    filter.search,
  ];
  const [rows, counted] = await Promise.all([
    db.query<MerchantRecord & { key: string }>(
      `select ${COLUMNS}, ${microsOf("created_at")} as key from merchant where ${where}
         and ($6::text is null or (created_at, id) < (${timeOf("$6")}, $7))
       order by created_at desc, id desc limit $8`,
      [...values, after?.key ?? null, after?.id ?? null, limit + 1],
    ),
    db.query<{ total: number }>(
      `select count(*)::int as total from merchant where ${where}`,
      values,
    ),
  ]);
  return { ...pageOf(rows, limit), total: counted[0]?.total ?? 0 };
}

async function insertDestinations(
  query: Query,
  merchantId: string,
  destinations: Destination[],
): Promise<string[]> {
  const assets = destinations.map(({ asset }) => asset);
  await query(
    `insert into settlement_destination (id, merchant_id, asset, destination)
     select id, $1, asset, destination from jsonb_to_recordset($2) as given (id text, asset text, destination text)
     order by asset on conflict do nothing`,
    [merchantId, JSON.stringify(destinations)],
  );
  const stored = await query<Destination>(
    `select id, asset, destination from settlement_destination where merchant_id = $1 and asset = any($2)`,
    [merchantId, assets],
  );
  const ours = new Set(destinations.map(({ id }) => id));
  return stored.filter(({ id }) => !ours.has(id)).map(({ asset }) => asset);
}

/** The part of a transaction that concerns merchants and their destinations. */
export const merchantTx = (query: Query): MerchantTx => ({
  async lockMerchant(id) {
    // A stronger lock would make every new payment of the merchant wait.
    const [row] = await query<MerchantRecord>(
      `select ${COLUMNS} from merchant where id = $1 for no key update`,
      [id],
    );
    return row ?? null;
  },
  async insertMerchant(m) {
    await query(
      `insert into merchant (id, partner_id, environment, name, email, icon_url, flow, settlement_schedule,
         collect_when, collect_above_cents, prove_ownership)
       values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) on conflict (id) do nothing`,
      [
        m.id,
        m.partnerId,
        m.environment,
        m.name,
        m.email,
        m.iconUrl,
        m.flow,
        m.settlementSchedule,
        m.collectWhen,
        m.collectAboveCents,
        m.proveOwnership,
      ],
    );
    const [row] = await query<MerchantRecord>(`select ${COLUMNS} from merchant where id = $1`, [
      m.id,
    ]);
    if (row === undefined) throw new Error("a merchant was not stored");
    return row;
  },
  async updateMerchant(id, s) {
    await query(
      `update merchant set name = $2, email = $3, icon_url = $4, flow = $5, settlement_schedule = $6,
         collect_when = $7, collect_above_cents = $8, prove_ownership = $9, updated_at = now() where id = $1`,
      [
        id,
        s.name,
        s.email,
        s.iconUrl,
        s.flow,
        s.settlementSchedule,
        s.collectWhen,
        s.collectAboveCents,
        s.proveOwnership,
      ],
    );
  },
  async markMerchantDeleted(id) {
    await query(`update merchant set status = 'deleted', updated_at = now() where id = $1`, [id]);
  },
  insertDestinations: (merchantId, destinations) =>
    insertDestinations(query, merchantId, destinations),
  async destination(merchantId, id) {
    const [row] = await query<Destination>(
      `select id, asset, destination from settlement_destination where merchant_id = $1 and id = $2`,
      [merchantId, id],
    );
    return row ?? null;
  },
  async setDestination(merchantId, id, destination) {
    await query(
      `update settlement_destination set destination = $3 where merchant_id = $1 and id = $2`,
      [merchantId, id, destination],
    );
  },
  async deleteDestination(merchantId, id) {
    const rows = await query(
      `delete from settlement_destination where merchant_id = $1 and id = $2 returning 1`,
      [merchantId, id],
    );
    return rows.length === 1;
  },
});
