import { eventPayload, NO_STAGES } from "#server/domain/payment/event-payload.ts";
import { newId } from "#server/platform/ids.ts";
import type { IdempotencyClaim, NewPayment, Store, StoredAnswer } from "#server/ports/store.ts";
import type { Database } from "./client.ts";
import { newTermsOf } from "./event-snapshot.ts";
import { storedClaim } from "./stored-claim.ts";
import { isTransient } from "./transaction.ts";

/** How often a create is tried again when the database goes away; each try is decided by the payment's own id. */
const TRIES = 5;

/** The row's own time, which is the database's, in the form events have it. */
const CREATED_AT = `jsonb_build_object('created_at', to_char(now() at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS".000Z"'))`;

/** Payment and outbox row, and with a claim its row too: one statement is one transaction. */
const INSERT_CLAIMED = `
  with claim as (
    insert into idempotency_key (scope, key, fingerprint, status_code, body)
    select $20, $21, $22, $23, $24 on conflict do nothing returning 1),
  made as (
    insert into payment (id, merchant_id, environment, amount_unit, amount_minor, reference_id, success_url, error_url,
      expires_at, flow, settlement_schedule, fee_bps, fee_fixed_minor, destinations, description, metadata,
      collects_data, prove_ownership)
    select $1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9), $10, $11, $12, $13, $14, $15, $16, $18::boolean, $19::boolean
    from claim returning id, merchant_id)
  insert into outbox (event_id, merchant_id, payment_id, topic, sequence, dedupe, payload)
  select $25, merchant_id, id, 'payment.created', 1, 'payment:' || id || ':0', $17::jsonb || ${CREATED_AT} from made returning 1`;
const INSERT = `
  with made as (
    insert into payment (id, merchant_id, environment, amount_unit, amount_minor, reference_id, success_url, error_url,
      expires_at, flow, settlement_schedule, fee_bps, fee_fixed_minor, destinations, description, metadata,
      collects_data, prove_ownership)
    values ($1, $2, $3, $4, $5, $6, $7, $8, to_timestamp($9), $10, $11, $12, $13, $14, $15, $16, $18, $19)
    on conflict (id) do nothing returning id, merchant_id)
  insert into outbox (event_id, merchant_id, payment_id, topic, sequence, dedupe, payload)
  select $20, merchant_id, id, 'payment.created', 1, 'payment:' || id || ':0', $17::jsonb || ${CREATED_AT} from made returning 1`;

function paymentValues(p: NewPayment): unknown[] {
  const payload = eventPayload(newTermsOf(p, Math.floor(Date.now() / 1000)), NO_STAGES, {
    type: "created",
    body: {},
  });
  return [
    p.id,
    p.merchantId,
    p.environment,
    p.unit,
    p.minor.toString(),
    p.referenceId,
    p.successUrl,
    p.errorUrl,
    p.expiresAt,
    p.flow,
    p.settlementSchedule,
    p.feeBps,
    p.feeFixedMinor.toString(),
    JSON.stringify(p.destinations),
    p.description,
    p.metadata === null ? null : JSON.stringify(p.metadata),
    JSON.stringify(payload),
    p.collectsData,
    p.provesOwnership,
  ];
}

async function insertOnce(
  db: Database,
  payment: NewPayment,
  claim: IdempotencyClaim | null,
  answer: StoredAnswer,
): Promise<boolean> {
  const values = paymentValues(payment);
  if (claim === null) {
    await db.pool.query({
      name: "create_payment",
      text: INSERT,
      values: [...values, newId("event")],
    });
    return true;
  }
  const { rowCount } = await db.pool.query({
    name: "create_payment_claimed",
    text: INSERT_CLAIMED,
    values: [
      ...values,
      claim.scope,
      claim.key,
      Buffer.from(claim.fingerprint),
      answer.status,
      answer.body,
      newId("event"),
    ],
  });
  return rowCount === 1;
}

async function resolveClaim(
  db: Database,
  claim: IdempotencyClaim,
  answer: StoredAnswer,
): ReturnType<Store["createPayment"]> {
  const stored = await storedClaim(db.query, claim);
  if (stored === null) throw new Error("the idempotency claim vanished");
  if (!stored.fingerprint.equals(Buffer.from(claim.fingerprint))) return { kind: "conflict" };
  // Our own row: an earlier try did commit and only its answer was lost.
  if (stored.answer?.body === answer.body) return { kind: "created" };
  return { kind: "replay", answer: stored.answer ?? { status: 500, body: "" } };
}

/** `Store.createPayment`: safe to run again after a lost answer, since id and claim decide. */
export async function createPayment(
  db: Database,
  payment: NewPayment,
  claim: IdempotencyClaim | null,
  answer: StoredAnswer,
): ReturnType<Store["createPayment"]> {
  for (let attempt = 1; ; attempt++) {
    try {
      if (await insertOnce(db, payment, claim, answer)) return { kind: "created" };
      break;
    } catch (error) {
      if (attempt === TRIES || !isTransient(error)) throw error;
      await new Promise((resolve) => setTimeout(resolve, 50 * 2 ** attempt));
    }
  }
  return claim === null ? { kind: "created" } : resolveClaim(db, claim, answer);
}
