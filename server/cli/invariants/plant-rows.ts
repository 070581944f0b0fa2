import { type Plant, rows } from "./plants.ts";

const paid = (flow: "intermediary" | "direct"): string =>
  `(select id from payment where status = 'succeeded' and flow = '${flow}' order by created_at limit 1)`;
const PAID = paid("intermediary");
const EXPIRED = `(select id from payment where status = 'expired' order by created_at limit 1)`;
const FINAL_SETTLEMENT = `(select id from settlement where state = 'final' order by created_at limit 1)`;
const SETTLING_INTENT = `(select intent_id from settlement where state = 'final' order by created_at limit 1)`;

/** A copy of a row with other values in some columns. */
const copy = (table: string, where: string, change: string): string =>
  `insert into ${table} select (jsonb_populate_record(r, ${change})).* from ${table} r where ${where} limit 1`;

const OPEN_PAYMENT = copy(
  "payment",
  `id = ${PAID}`,
  `jsonb_build_object('id', 'pay_planted', 'status', 'requires_action', 'version', 0, 'option_id', null,
    'created_at', now() - interval '3 hours', 'expires_at', date_trunc('second', now()) - interval '2 hours')`,
);
const ITS_CREATION = `insert into outbox (event_id, merchant_id, payment_id, topic, sequence, dedupe, payload)
  select 'evt_planted', merchant_id, id, 'payment.created', 1, 'payment:' || id || ':0', jsonb_build_object(
    'payment_id', id, 'merchant_id', merchant_id, 'live', false, 'reference_id', reference_id, 'status', status,
    'amount', jsonb_build_object('unit', amount_unit, 'value', amount_minor::text),
    'expires_at', expires_at) from payment where id = 'pay_planted'`;

const posting = (reason: string, ...lines: [account: string, amount: string][]): string[] => [
  `insert into ledger_tx (id, subject, reason) values ('00000000-0000-4000-8000-000000000001', 'planted', '${reason}')`,
  ...lines.map(
    ([account, amount]) => `insert into ledger_entry (tx_id, account_id, asset, amount)
      select '00000000-0000-4000-8000-000000000001', id, asset, ${amount} from ledger_account
      where ${account} order by id limit 1`,
  ),
];
const MOVE_BALANCES = `update ledger_account a set balance = coalesce(
  (select sum(amount) from ledger_entry e where e.account_id = a.id), 0)`;
const POOL = `asset = (select min(asset) from ledger_account where kind = 'suspense')`;

const STATE: Plant[] = [
  rows(
    "I1",
    "a status that no event brought about",
    `update payment set status = 'processing' where id = ${EXPIRED}`,
  ),
  rows(
    "I1",
    "a version that no event has",
    `update payment set version = version + 1 where id = ${EXPIRED}`,
  ),
  rows(
    "I2",
    "a second event that starts where the first did not end",
    `update payment_event set to_s = 'expired' where version = 1 and payment_id = ${PAID}`,
  ),
  rows(
    "I2",
    "a leap from waiting to paid",
    `delete from payment_event where version = 1 and payment_id = ${PAID}`,
    `update payment_event set version = 1, from_s = 'requires_action' where payment_id = ${PAID}`,
    `update payment set version = 1 where id = ${PAID}`,
  ),
  rows(
    "I3",
    "a payment that failed after it had succeeded",
    `insert into payment_event (payment_id, version, from_s, to_s, type, body)
     select id, version + 1, 'succeeded', 'failed', 'authorization_expired', '{}' from payment where id = ${PAID}`,
    `update payment set status = 'failed', version = version + 1 where id = ${PAID}`,
  ),
  rows(
    "I6",
    "a failure code on a payment that succeeded",
    `alter table payment drop constraint payment_failure`,
    `update payment set failure_code = 'internal_error' where id = ${PAID}`,
  ),
  rows("I6", "a success with nothing to show", `delete from capture where payment_id = ${PAID}`),
  rows(
    "I6",
    "money shown for a payment that expired",
    `update capture set payment_id = ${EXPIRED} where payment_id = ${PAID}`,
  ),
  rows(
    "I6",
    "a settlement shown as done while its transfer is on its way",
    `update chain_intent set state = 'broadcast', mined_hash = null where id = ${SETTLING_INTENT}`,
  ),
  rows(
    "I7",
    "another amount",
    `update payment set amount_minor = amount_minor + 1 where id = ${EXPIRED}`,
  ),
  rows(
    "I7",
    "a later expiry",
    `update payment set expires_at = expires_at + interval '1 s' where id = ${PAID}`,
  ),
  rows("I7", "another reference", `update payment set reference_id = 'order-2' where id = ${PAID}`),
  rows(
    "I7",
    "another merchant",
    `update payment set merchant_id = 'mer_other' where id = ${EXPIRED}`,
  ),
  rows(
    "I7",
    "a direct payment with another destination than the one that was served",
    `update payment set destinations = replace(destinations::text, ':0x', ':0xff')::jsonb where id = ${paid("direct")}`,
  ),
  rows(
    "I7",
    "an offer that pays an account nobody of us holds",
    `update payment_option set recipient = '0x' || repeat('9', 40) where payment_id = ${EXPIRED}`,
  ),
];

const CAPTURES: Plant[] = [
  rows(
    "I8",
    "a payment with two captures",
    `drop index one_capture`,
    copy(
      "capture",
      `payment_id = ${PAID}`,
      `jsonb_build_object('id', 900001, 'log_index', 77, 'ordinal', 2)`,
    ),
  ),
  rows(
    "I8",
    "a transfer that pays two payments",
    `drop index one_claim`,
    copy(
      "capture",
      `payment_id = ${PAID}`,
      `jsonb_build_object('id', 900001, 'payment_id', 'pay_planted')`,
    ),
  ),
  rows("I9", "a success without a capture", `delete from capture where payment_id = ${PAID}`),
  rows(
    "I9",
    "a capture of less than was asked for",
    `update capture set received = received - 1 where payment_id = ${PAID}`,
  ),
  rows(
    "I9",
    "a success whose capture was orphaned and that nobody was told about",
    `update capture set status = 'orphaned' where payment_id = ${PAID}`,
  ),
  rows(
    "I10",
    "a capture whose transaction is not on chain",
    `update capture set tx_ref = '0x' || repeat('ab', 32) where payment_id = ${PAID}`,
  ),
  rows(
    "I10",
    "a capture booked from another block",
    `update capture set block_hash = '0x' || repeat('cd', 32) where payment_id = ${PAID}`,
  ),
  rows(
    "I10",
    "a capture of another token",
    `update capture set asset = replace(asset, right(asset, 4), 'beef') where payment_id = ${PAID}`,
  ),
  rows(
    "I10",
    "a capture that went to somebody else",
    `update capture set recipient = '0x' || repeat('7', 40) where payment_id = ${PAID}`,
  ),
  rows(
    "I10",
    "a capture of more than arrived",
    `update capture set received = received + 1 where payment_id = ${PAID}`,
  ),
  rows(
    "I11",
    "an arrival that is booked nowhere",
    `delete from exception_record where kind = 'short'`,
    `delete from movement where state = 'exception'`,
  ),
  rows(
    "I11",
    "an arrival that is booked twice",
    `insert into exception_record (id, kind, environment, chain, tx_ref, log_index, block_hash, asset, payer, amount_minor, detail)
     select 'exc_planted', 'double', 'test', chain, tx_ref, log_index, block_hash, asset, payer, received, ''
     from capture where payment_id = ${PAID}`,
  ),
  rows(
    "I11",
    "an exception of another amount than arrived",
    `update exception_record set amount_minor = amount_minor - 1 where kind = 'short'`,
  ),
];

const MONEY: Plant[] = [
  rows(
    "I12",
    "a posting with one side",
    ...posting("planted", [`kind = 'suspense'`, "5"]),
    MOVE_BALANCES,
  ),
  rows(
    "I12",
    "a merchant who was paid more than was owed",
    ...posting(
      "planted",
      [`kind = 'merchant_payable' and ${POOL}`, "5"],
      [`kind = 'suspense' and ${POOL}`, "-5"],
    ),
    MOVE_BALANCES,
  ),
  rows(
    "I12",
    "an intermediary account below zero",
    ...posting(
      "planted",
      [`kind = 'intermediary' and ${POOL}`, "-1000000000"],
      [`kind = 'suspense' and ${POOL}`, "1000000000"],
    ),
    MOVE_BALANCES,
  ),
  rows(
    "I12",
    "a running balance that drifted",
    `update ledger_account set balance = balance + 1 where kind = 'fee_income'`,
  ),
  rows(
    "I13",
    "money that left the pool into an expense",
    `insert into ledger_account (id, kind, asset) select 'planted', 'gas_expense', asset from ledger_account
     where kind = 'suspense' limit 1`,
    ...posting("planted", [`kind = 'suspense' and ${POOL}`, "5"], [`id = 'planted'`, "-5"]),
    MOVE_BALANCES,
  ),
  rows(
    "I13",
    "held money that no arrival explains",
    ...posting(
      "planted",
      [`kind = 'intermediary' and ${POOL}`, "5"],
      [`kind = 'suspense' and ${POOL}`, "-5"],
    ),
    MOVE_BALANCES,
  ),
  rows(
    "I13",
    "a direct payment posted through the pool",
    ...posting(
      "planted",
      [`kind = 'direct_received'`, "5"],
      [`kind = 'direct_delivered'`, "-5"],
      [`kind = 'intermediary'`, "5"],
      [`kind = 'intermediary'`, "-5"],
    ),
    MOVE_BALANCES,
  ),
  rows(
    "I14",
    "books that say more than the account holds",
    ...posting(
      "planted",
      [`kind = 'intermediary' and ${POOL}`, "5"],
      [`kind = 'operator' and ${POOL}`, "-5"],
    ),
    MOVE_BALANCES,
  ),
  rows(
    "I14",
    "books of a token that nobody holds",
    `insert into ledger_account (id, kind, asset)
     values ('planted', 'intermediary', 'eip155:31337/erc20:0x' || repeat('9', 40))`,
    ...posting("planted", [`id = 'planted'`, "5"]),
    MOVE_BALANCES,
  ),
  rows(
    "I14",
    "books of something that is no asset",
    `insert into ledger_account (id, kind, asset) values ('planted', 'intermediary', 'eip155:31337/nothing:1')`,
  ),
  rows(
    "I15",
    "an offer at par for less than is due",
    `update payment_option set amount_minor = amount_minor - 1 where expires_at is null and payment_id = ${EXPIRED}`,
  ),
  rows(
    "I15",
    "a priced offer rounded down",
    `update payment_option set amount_minor = amount_minor - 1 where expires_at is not null`,
  ),
  rows(
    "I15",
    "a fee that was not agreed",
    `update ledger_entry e set amount = e.amount + case a.kind when 'fee_income' then -1 else 1 end
     from ledger_account a, ledger_tx t where a.id = e.account_id and t.id = e.tx_id
       and a.kind in ('fee_income', 'merchant_payable') and t.reason = 'capture#1' and t.subject = ${PAID}`,
  ),
  rows(
    "I16",
    "a guard that looks away",
    `drop trigger ledger_tx_ro on ledger_tx`,
    `create trigger ledger_tx_ro before update or delete on ledger_tx for each row
       when (old.reason <> 'settle') execute function forbid_mutation()`,
  ),
  rows(
    "I16",
    "a guard of one column alone",
    `drop trigger payment_option_ro on payment_option`,
    `create trigger payment_option_ro before update of payer on payment_option for each row execute function forbid_mutation()`,
  ),
  ...[
    "webhook_attempt_ro on webhook_attempt",
    "collected_read_tr on collected_read",
    "served_tx_ro on served_tx",
    "push_offer_ro on push_offer",
    "chain_tx_tr on chain_tx",
    "outbox_kept on outbox",
    "refund_guard on refund",
    "payment_guard on payment",
    "ledger_entry_balanced on ledger_entry",
  ].map((guard) => rows("I16", `that ${guard} was dropped`, `drop trigger ${guard}`)),
  rows("I16", "a disabled guard", `alter table ledger_entry disable trigger ledger_entry_ro`),
  rows("I16", "a guard that was dropped", `drop trigger payment_event_tr on payment_event`),
  rows(
    "I16",
    "a guard without teeth",
    `create or replace function forbid_mutation() returns trigger language plpgsql as $$ begin return null; end $$`,
  ),
];

const AUTHORIZATIONS: Plant[] = [
  rows(
    "I17",
    "a digest of something else than what was served",
    `update payment_option set auth_digest = '0x' || repeat('ef', 32) where payment_id = ${EXPIRED}`,
  ),
  rows(
    "I17",
    "served typed data with another recipient",
    `update payment_option set actions = regexp_replace(actions::text, '(to\\\\":\\\\"0x)....', '\\1dead')::jsonb
     where mechanism = 'eip3009' and payment_id = ${EXPIRED}`,
  ),
  rows(
    "I17",
    "an option whose amount is not the signed one",
    `update payment_option set amount_minor = amount_minor + 1 where payment_id = ${EXPIRED}`,
  ),
  rows(
    "I17",
    "a nonce that another payment claimed",
    `update auth_use set payment_id = ${EXPIRED} where payment_id = ${PAID}`,
  ),
  rows(
    "I17",
    "a nonce in the offers of two payments",
    `update payment_option set payment_id = 'pay_planted'
     where id = (select id from payment_option where payment_id = ${EXPIRED} limit 1)`,
    copy(
      "payment_option",
      `payment_id = 'pay_planted'`,
      `jsonb_build_object('id', 'opt_planted', 'payment_id', ${EXPIRED})`,
    ),
  ),
  rows(
    "I18",
    "two live attempts",
    `drop index one_live_attempt`,
    copy(
      "attempt",
      `payment_id = ${PAID}`,
      `jsonb_build_object('id', 'att_planted', 'state', 'live')`,
    ),
    `update attempt set state = 'live' where payment_id = ${PAID}`,
  ),
  rows(
    "I19",
    "an attempt that came too late",
    `update attempt a set created_at = p.expires_at + interval '1 ms' from payment p
     where p.id = a.payment_id and p.id = ${PAID}`,
  ),
];

const INTENTS: Plant[] = [
  rows(
    "I20",
    "a nonce nobody has",
    `delete from chain_intent where id = (select id from chain_intent where kind = 'capture' order by created_at limit 1)`,
  ),
  rows(
    "I20",
    "a nonce that is counted and not given out",
    `update signer_nonce set next = next + 1`,
  ),
  rows(
    "I20",
    "a nonce that is given out twice",
    `drop index chain_intent_chain_signer_nonce_key`,
    copy(
      "chain_intent",
      `kind = 'capture'`,
      `jsonb_build_object('id', 'planted', 'attempt_id', null)`,
    ),
  ),
  rows(
    "I21",
    "a sent transaction that was not stored",
    `delete from chain_tx where intent_id = ${SETTLING_INTENT}`,
  ),
  rows(
    "I21",
    "a superseded transaction that was sent and not stored",
    `delete from chain_tx where intent_id = ${SETTLING_INTENT}`,
    `update chain_intent set state = 'superseded' where id = ${SETTLING_INTENT}`,
  ),
  rows(
    "I21",
    "a transaction stored after it was sent",
    `update chain_tx t set created_at = i.broadcast_at + interval '1 ms' from chain_intent i
     where i.id = t.intent_id and i.id = ${SETTLING_INTENT}`,
  ),
  rows(
    "I23",
    "an intent with two mined transactions",
    `update chain_tx set intent_id = ${SETTLING_INTENT} where intent_id = (
       select id from chain_intent where kind = 'capture' and state = 'final' and chain = (
         select chain from chain_intent where id = ${SETTLING_INTENT}) limit 1)`,
  ),
];

const SETTLEMENTS: Plant[] = [
  rows(
    "I26",
    "two live settlements of one payment",
    `drop index one_live_settlement`,
    copy(
      "settlement",
      `state = 'final'`,
      `jsonb_build_object('id', 'set_planted', 'state', 'pending', 'intent_id', null)`,
    ),
  ),
  rows(
    "I26",
    "a settlement of a payment that expired",
    `update settlement set payment_id = ${EXPIRED} where id = ${FINAL_SETTLEMENT}`,
  ),
  rows(
    "I26",
    "a settlement of a capture that is not final",
    `update capture set status = 'confirmed' where id = (select capture_id from settlement where id = ${FINAL_SETTLEMENT})`,
  ),
  rows(
    "I27",
    "a settlement to somebody else",
    `update settlement set destination = '0x' || repeat('8', 40) where id = ${FINAL_SETTLEMENT}`,
  ),
  rows(
    "I27",
    "a settlement that loses a unit",
    `update settlement set fee = fee - 1 where id = ${FINAL_SETTLEMENT}`,
  ),
  rows(
    "I27",
    "a transfer that is to pay more than its settlements",
    `update chain_intent set plan = jsonb_set(plan, '{amount}', '"999999999"') where id = ${SETTLING_INTENT}`,
  ),
  rows(
    "I28",
    "a final settlement without a transfer",
    `update settlement set tx_ref = '0x' || repeat('ab', 32) where intent_id = ${SETTLING_INTENT}`,
    `update chain_intent set mined_hash = '0x' || repeat('ab', 32) where id = ${SETTLING_INTENT}`,
  ),
  rows(
    "I28",
    "a transfer whose settlement is called blocked",
    `update settlement set state = 'blocked' where intent_id = ${SETTLING_INTENT}`,
  ),
  rows(
    "I28",
    "a transfer of less than its settlement",
    `update settlement set amount = amount + 1, fee = fee - 1 where id = ${FINAL_SETTLEMENT}`,
  ),
  rows(
    "I29",
    "a settlement that waits for an hour",
    `update settlement set state = 'pending', created_at = now() - interval '1 hour' where schedule = 'instant'`,
  ),
  rows(
    "I29",
    "a final capture that nobody settles",
    `delete from settlement where payment_id = ${PAID}`,
    `update payment_event set at = now() - interval '1 hour' where payment_id = ${PAID}`,
    `update capture set created_at = now() - interval '1 hour' where payment_id = ${PAID}`,
  ),
];

const REST: Plant[] = [
  rows(
    "I30",
    "a change that nobody is told about",
    `delete from outbox where dedupe = 'payment:' || ${PAID} || ':1'`,
  ),
  rows(
    "I30",
    "an outbox row of another transaction",
    `update outbox set created_at = created_at + interval '1 ms' where dedupe = 'payment:' || ${PAID} || ':1'`,
  ),
  rows(
    "I30",
    "a creation that nobody is told about",
    `delete from outbox where dedupe = 'payment:' || ${EXPIRED} || ':0'`,
  ),
  rows(
    "I31",
    "an event for another merchant",
    `update outbox set merchant_id = 'mer_other' where payment_id = ${EXPIRED}`,
  ),
  rows(
    "I32",
    "a hole in the sequence",
    `update outbox set sequence = sequence + 1 where sequence = (select max(sequence) from outbox where payment_id = ${PAID}) and payment_id = ${PAID}`,
  ),
  rows("I34", "a payment that nobody closed", OPEN_PAYMENT, ITS_CREATION),
  rows(
    "I34",
    "a payment that is being processed for ever",
    OPEN_PAYMENT,
    `update payment set status = 'processing', version = 1 where id = 'pay_planted'`,
  ),
  rows(
    "I35",
    "a reserved nonce that nobody uses",
    `select reserve_intent('planted', 'fill', null, null, chain, signer, '{"kind":"fill"}') from signer_nonce limit 1`,
    `update chain_intent set created_at = now() - interval '31 s' where id = 'planted'`,
  ),
  rows(
    "I36",
    "a fingerprint that is none",
    `alter table idempotency_key drop constraint idempotency_fingerprint`,
    `update idempotency_key set fingerprint = '\\x00'`,
  ),
  rows("I36", "a stored server error", `update idempotency_key set status_code = 500`),
  rows("I36", "an answer without its body", `update idempotency_key set body = null`),
  rows("I36", "a body that was cut off", `update idempotency_key set body = left(body, 20)`),
  rows(
    "I36",
    "two keys for one payment",
    copy(
      "idempotency_key",
      "scope like '% /v1/merchant/payment'",
      `jsonb_build_object('key', 'planted')`,
    ),
  ),
  rows(
    "I36",
    "one payment made on both paths",
    copy(
      "idempotency_key",
      "scope like '% /v1/merchant/payment'",
      `jsonb_build_object('scope', replace(r.scope, '/v1/merchant/payment', '/v1/payments'))`,
    ),
  ),
  rows(
    "I36",
    "an answer that names a payment nobody made",
    `update idempotency_key set body = regexp_replace(body, 'pay_....', 'pay_AAAA')`,
  ),
  rows(
    "I38",
    "personal data that outlived its time",
    `insert into collected_field (payment_id, account, name, sealed, delete_after)
     values (${PAID}, 'eip155:1:0x1', 'dob', '\\x00', now() - interval '3 hours')`,
  ),
  rows(
    "I39",
    "gas that was not posted",
    `delete from ledger_entry where tx_id = (select id from ledger_tx where reason = 'gas' order by created_at limit 1)`,
    `delete from ledger_tx where reason = 'gas' and id not in (select tx_id from ledger_entry)`,
  ),
  rows(
    "I39",
    "gas that was posted as less",
    `update ledger_entry set amount = amount - sign(amount) where tx_id = (
       select id from ledger_tx where reason = 'gas' order by created_at limit 1)`,
  ),
];

/** Violations that rows alone make. */
export const ROW_PLANTS: Plant[] = [
  ...STATE,
  ...CAPTURES,
  ...MONEY,
  ...AUTHORIZATIONS,
  ...INTENTS,
  ...SETTLEMENTS,
  ...REST,
];
