import { type Plant, rows } from "./plants.ts";

const SENT = `kind = 'execute' and intent_id is not null`;
const EXPIRED = `(select id from payment where status = 'expired' order by created_at limit 1)`;

/** Violations by refunds; the world has one of each kind that ended well. */
export const REFUND_PLANTS: Plant[] = [
  rows(
    "I13",
    "a refund that failed and whose money was not owed to the merchant again",
    `update refund set state = 'failed' where ${SENT}`,
  ),
  rows(
    "I13",
    "a refund that is sent without money set aside",
    `delete from ledger_entry where tx_id in (select id from ledger_tx where reason = 'refund.reserve')`,
    `delete from ledger_tx where reason = 'refund.reserve'`,
    `update ledger_account a set balance = coalesce((select sum(amount) from ledger_entry e where e.account_id = a.id), 0)`,
  ),
  rows(
    "I26",
    "a refund of a payment nobody paid",
    `update refund set payment_id = ${EXPIRED} where kind = 'record'`,
  ),
  rows(
    "I27",
    "refunds of more than arrived",
    `update refund set amount = amount + 1000000000 where kind = 'record'`,
  ),
  rows(
    "I27",
    "a refund to somebody else",
    `update refund set destination = 'eip155:31337:0x' || repeat('9', 40) where kind = 'record'`,
  ),
  rows(
    "I27",
    "a transfer that is to send back more than its refund",
    `update chain_intent set plan = jsonb_set(plan, '{amount}', '"999999999"') where kind = 'refund'`,
  ),
  rows(
    "I27",
    "a settlement that leaves out what was refunded",
    `update settlement set amount = amount + 1 where state = 'final'
       and payment_id = (select payment_id from refund where ${SENT})`,
  ),
  rows(
    "I28",
    "a refund without a transfer",
    `update chain_intent set mined_hash = '0x' || repeat('ab', 32) where kind = 'refund'`,
    `update refund set tx_ref = '0x' || repeat('ab', 32) where ${SENT}`,
  ),
  rows(
    "I28",
    "a transfer whose refund is called failed",
    `update refund set state = 'failed' where ${SENT}`,
  ),
  rows(
    "I28",
    "a merchant's refund that rests on nothing",
    `update refund set tx_ref = '0x' || repeat('ab', 32), ended_at = ended_at - interval '1 hour'
     where log_index is not null`,
  ),
  rows(
    "I28",
    "a merchant's refund of more than was transferred",
    `update refund set amount = amount + 1 where log_index is not null`,
  ),
  rows(
    "I29",
    "a refund that is set aside for an hour",
    `update refund set state = 'pending' where ${SENT}`,
    `update ledger_tx set created_at = now() - interval '1 hour' where reason = 'refund.reserve'`,
  ),
  rows(
    "I30",
    "a refund whose end nobody is told of",
    `delete from outbox where topic = 'refund.succeeded'`,
  ),
];
