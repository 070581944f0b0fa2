import { type EventSubject, eventPayload } from "#server/domain/payment/event-payload.ts";
import { transition } from "#server/domain/payment/transitions.ts";
import { type EventTopic, TOPIC_OF } from "#server/domain/webhook/topics.ts";
import { newId } from "#server/platform/ids.ts";
import type { ChangeOutcome, Payment, StatusChange, Tx } from "#server/ports/store.ts";
import type { Query } from "./client.ts";
import { stagesOf, termsOf } from "./event-snapshot.ts";
import { type AttemptRow, PAYMENT_COLUMNS, type PaymentRow, toAttempt, toPayment } from "./rows.ts";

type OutboxEntry = {
  payment: Payment;
  topic: EventTopic;
  dedupe: string;
  /** What brought the event about; exceptions and refunds show its body. */
  cause: EventSubject;
};

/** Writes one event for the merchant; the payment's row must be locked, so that sequence numbers have no holes. */
export async function writeOutbox(query: Query, entry: OutboxEntry): Promise<void> {
  const { payment, topic, dedupe, cause } = entry;
  const payload = eventPayload(termsOf(payment), await stagesOf(query, payment.id), cause);
  await query(
    `insert into outbox (event_id, merchant_id, payment_id, topic, sequence, dedupe, payload)
     select $1, $2, $3, $4, coalesce(max(sequence), 0) + 1, $5, $6 from outbox where payment_id = $3`,
    [newId("event"), payment.merchantId, payment.id, topic, dedupe, JSON.stringify(payload)],
  );
}

async function change(
  query: Query,
  payment: Payment,
  { type, body, failureCode, optionId }: StatusChange,
): Promise<ChangeOutcome> {
  const to = transition(payment.status, type);
  if (to === null) return { kind: "refused", payment };
  const version = payment.version + 1;
  // The database's clock has the last word on whether a first confirm came in time.
  const inTime = type === "confirm_accepted" ? "and expires_at > clock_timestamp()" : "";
  const rows = await query<PaymentRow>(
    `update payment set status = $3, version = $4, failure_code = $5, option_id = coalesce($6, option_id)
     where id = $1 and version = $2 ${inTime} returning ${PAYMENT_COLUMNS}`,
    [payment.id, payment.version, to, version, failureCode ?? null, optionId ?? null],
  );
  const row = rows[0];
  if (row === undefined) return { kind: "refused", payment };
  const [event] = await query<{ at: Date }>(
    `insert into payment_event (payment_id, version, from_s, to_s, type, body) values ($1, $2, $3, $4, $5, $6)
     returning at`,
    [payment.id, version, payment.status, to, type, JSON.stringify(body)],
  );
  const after = toPayment(row);
  await writeOutbox(query, {
    payment: after,
    topic: TOPIC_OF[to],
    dedupe: `payment:${payment.id}:${version}`,
    cause: { type, body },
  });
  return { kind: "applied", payment: after, at: event?.at ?? new Date() };
}

/** The part of a transaction that concerns payments, attempts and authorizations. */
export const paymentTx = (
  query: Query,
): Pick<
  Tx,
  | "lockPayment"
  | "change"
  | "insertAttempt"
  | "claimAuthorization"
  | "liveAttempt"
  | "endAttempt"
  | "countRevert"
> => ({
  async lockPayment(id) {
    const rows = await query<PaymentRow>(
      `select ${PAYMENT_COLUMNS} from payment where id = $1 for update`,
      [id],
    );
    return rows[0] === undefined ? null : toPayment(rows[0]);
  },
  change: (payment, event) => change(query, payment, event),
  async insertAttempt({ id, paymentId, optionId, resultsDigest, signature, proof, lapsesAt }) {
    await query(
      `insert into attempt (id, payment_id, option_id, results_digest, signature, proof, lapses_at)
       values ($1, $2, $3, $4, $5, $6, $7)`,
      [id, paymentId, optionId, resultsDigest, signature, proof, lapsesAt],
    );
  },
  async claimAuthorization({ chain, authorization, paymentId, digest }) {
    if (authorization.mechanism === "native") return true;
    const { token, payer, nonce } = authorization;
    const rows = await query<{ payment_id: string }>(
      `with claimed as (
         insert into auth_use (chain, token, payer, nonce, payment_id, digest) values ($1, $2, $3, $4, $5, $6)
         on conflict do nothing returning payment_id)
       select payment_id from claimed union all
       select payment_id from auth_use where chain = $1 and token = $2 and payer = $3 and nonce = $4`,
      [chain, token, payer, nonce, paymentId, digest],
    );
    return rows.every((row) => row.payment_id === paymentId);
  },
  async liveAttempt(paymentId) {
    const rows = await query<AttemptRow>(
      `select * from attempt where payment_id = $1 and state = 'live'`,
      [paymentId],
    );
    return rows[0] === undefined ? null : toAttempt(rows[0]);
  },
  async endAttempt(id) {
    await query(`update attempt set state = 'ended' where id = $1`, [id]);
  },
  async countRevert(attemptId) {
    const rows = await query<{ reverts: number }>(
      `update attempt set reverts = reverts + 1 where id = $1 returning reverts`,
      [attemptId],
    );
    return rows[0]?.reverts ?? 0;
  },
});
