import { newId } from "#server/platform/ids.ts";
import type { Capture, Payment, PaymentOption, Settlement, Store } from "#server/ports/store.ts";
import { batchedRead } from "./batched-read.ts";
import type { Database } from "./client.ts";
import { PAYER_REVERTS } from "./payer-reverts.ts";
import {
  type AttemptRow,
  type CaptureRow,
  type OptionRow,
  PAYMENT_COLUMNS,
  type PaymentRow,
  type SettlementRow,
  toAttempt,
  toCapture,
  toOption,
  toPayment,
  toSettlement,
} from "./rows.ts";
import { storedClaim } from "./stored-claim.ts";
import { inTransaction } from "./transaction.ts";

async function saveOptions(
  db: Database,
  options: Omit<PaymentOption, "id">[],
): Promise<PaymentOption[]> {
  if (options.length === 0) return [];
  const rows = options.map((o) => ({
    id: newId("option"),
    payment_id: o.paymentId,
    account: o.account,
    chain: o.chain,
    asset: o.asset,
    payer: o.payer,
    recipient: o.recipient,
    mechanism: o.mechanism,
    amount_minor: o.amount.toString(),
    fingerprint: o.fingerprint,
    actions: o.actions,
    authorization: o.authorization,
    auth_nonce: o.authorization.nonce,
    auth_deadline: new Date(o.authorization.deadline * 1000),
    auth_digest: o.digest,
    quote: o.quote,
    usd_micros: o.usdMicros?.toString() ?? null,
    depth: o.depth,
    expires_at: o.expiresAt === null ? null : new Date(o.expiresAt * 1000),
    created_at: new Date(),
  }));
  // Two calls that make the same offer at once end with one row and one id.
  const stored = await db.query<OptionRow>(
    `with made as (
       insert into payment_option select * from jsonb_populate_recordset(null::payment_option, $1)
       on conflict (payment_id, fingerprint) do nothing returning *)
     select * from made union all
     select o.* from payment_option o where o.payment_id = $2 and o.fingerprint = any($3)`,
    [JSON.stringify(rows), options[0]?.paymentId, options.map((o) => o.fingerprint)],
  );
  const missing = options.some((o) => !stored.some((row) => row.fingerprint === o.fingerprint));
  const all = missing
    ? await db.query<OptionRow>(`select * from payment_option where payment_id = $1`, [
        options[0]?.paymentId,
      ])
    : stored;
  return options.map((o) => {
    const row = all.find(({ fingerprint }) => fingerprint === o.fingerprint);
    if (row === undefined) throw new Error("an option was not stored");
    return { ...toOption(row), account: o.account };
  });
}

/** Reads that endpoints make. */
export const paymentReads = (
  db: Database,
): Pick<
  Store,
  | "payment"
  | "option"
  | "capture"
  | "settlement"
  | "optionsOf"
  | "saveOptions"
  | "liveAttempt"
  | "payerReverts"
  | "storedAnswer"
  | "storeAnswer"
  | "forgetAnswers"
> => {
  const payment = batchedRead<PaymentRow, Payment>(
    db,
    {
      name: "payment",
      text: `select ${PAYMENT_COLUMNS} from payment where id = any($1)`,
      key: "id",
    },
    toPayment,
  );
  const option = batchedRead<OptionRow, PaymentOption>(
    db,
    { name: "option", text: "select * from payment_option where id = any($1)", key: "id" },
    toOption,
  );
  const capture = batchedRead<CaptureRow, Capture>(
    db,
    {
      name: "capture",
      text: `select distinct on (payment_id) * from capture where payment_id = any($1)
             order by payment_id, (status = 'orphaned'), ordinal desc`,
      key: "payment_id",
    },
    toCapture,
  );
  const settlement = batchedRead<SettlementRow, Settlement>(
    db,
    {
      name: "settlement",
      text: `select * from settlement
             where payment_id = any($1) and state not in ('reverted', 'superseded')`,
      key: "payment_id",
    },
    toSettlement,
  );
  return {
    payment,
    option,
    capture,
    settlement,
    async optionsOf(paymentId, payers) {
      const rows = await db.query<OptionRow>(
        `select * from payment_option where payment_id = $1 and payer = any($2) order by created_at desc`,
        [paymentId, payers],
      );
      return rows.map(toOption);
    },
    saveOptions: (options) => saveOptions(db, options),
    async liveAttempt(paymentId) {
      const rows = await db.query<AttemptRow>(
        `select * from attempt where payment_id = $1 and state = 'live'`,
        [paymentId],
      );
      return rows[0] === undefined ? null : toAttempt(rows[0]);
    },
    async payerReverts(chain, payer) {
      const rows = await db.query<{ reverts: number }>(
        `select ${PAYER_REVERTS} as reverts from (select $1::text as chain, $2::text as payer) o`,
        [chain, payer],
      );
      return rows[0]?.reverts ?? 0;
    },
    storedAnswer: (scope, key) => storedClaim(db.query, { scope, key }),
    async forgetAnswers(days) {
      const rows = await db.query(
        `delete from idempotency_key where created_at < clock_timestamp() - make_interval(days => $1) returning 1`,
        [days],
      );
      return rows.length;
    },
    async storeAnswer(claim, answer) {
      await inTransaction(db.pool, (query) =>
        query(
          `insert into idempotency_key (scope, key, fingerprint, status_code, body) values ($1, $2, $3, $4, $5)
         on conflict do nothing`,
          [claim.scope, claim.key, Buffer.from(claim.fingerprint), answer.status, answer.body],
        ),
      );
    },
  };
};
