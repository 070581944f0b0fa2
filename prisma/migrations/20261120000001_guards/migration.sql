-- Guards that the schema language cannot express. A start refuses to serve unless they are all here.

-- The state graph as data: the foreign key is the guard.
insert into payment_transition values
  ('requires_action','processing'),('requires_action','expired'),('requires_action','cancelled'),
  ('requires_action','failed'),('processing','succeeded'),('processing','failed');
alter table payment_event add constraint payment_event_edge
  foreign key (from_s, to_s) references payment_transition (from_s, to_s);

alter table payment add constraint payment_amount_positive check (amount_minor > 0);
alter table payment add constraint payment_environment check (environment in ('test','live'));
alter table payment add constraint payment_flow check (flow in ('intermediary','direct'));
alter table payment add constraint payment_failure check (failure_code is null or status = 'failed');
alter table payment_option add constraint payment_option_amount check (amount_minor > 0);
alter table attempt add constraint attempt_state check (state in ('live','ended'));
alter table capture add constraint capture_status check (status in ('confirmed','finalized','orphaned'));
alter table capture add constraint capture_received check (received > 0);
alter table movement add constraint movement_state
  check (state in ('seen','credited','exception','topup','ignored','orphaned'));
alter table exception_record add constraint exception_state check (state in ('open','resolved'));
alter table chain_intent add constraint chain_intent_kind check (kind in ('capture','settlement','refund','fill'));
alter table chain_intent add constraint chain_intent_state
  check (state in ('signed','broadcast','mined','final','reverted','superseded'));
alter table chain_tx add constraint chain_tx_role check (role in ('main','fill'));
alter table settlement add constraint settlement_state
  check (state in ('pending','sent','final','blocked','reverted','superseded'));
alter table settlement add constraint settlement_amounts check (amount >= 0 and fee >= 0);
alter table signer_nonce add constraint signer_nonce_next check (next >= base and base >= 0);
alter table ledger_entry add constraint ledger_entry_amount check (amount <> 0);
alter table ledger_account add constraint ledger_account_kind check (kind in
  ('intermediary','merchant_payable','fee_income','gas_expense','network','suspense','direct_received','direct_delivered','operator'));
alter table idempotency_key add constraint idempotency_key_format check (key ~ '^[\x20-\x7e]{1,255}$');
alter table idempotency_key add constraint idempotency_fingerprint check (octet_length(fingerprint) = 32);

-- Once only.
create unique index one_live_attempt on attempt (payment_id) where state = 'live';
create unique index one_capture on capture (payment_id) where status <> 'orphaned';
create unique index one_claim on capture (chain, tx_ref, log_index) where status <> 'orphaned';
create unique index one_live_settlement on settlement (payment_id) where state not in ('reverted','superseded');
create unique index one_live_capture_intent on chain_intent (attempt_id)
  where kind = 'capture' and state not in ('reverted','superseded');
create index movement_unjudged on movement (chain, id) where state = 'seen';
create index payment_open on payment (expires_at) where status = 'requires_action';
create index outbox_undone on outbox (id) where done_at is null;
create index settlement_pending on settlement (created_at) where state = 'pending';

-- A status changes only together with its event row at the new version, and never out of a final status.
create function payment_guard() returns trigger language plpgsql as $$ begin
  if new.id <> old.id or new.merchant_id <> old.merchant_id or new.environment <> old.environment
     or new.amount_unit <> old.amount_unit or new.amount_minor <> old.amount_minor
     or new.reference_id <> old.reference_id or new.expires_at <> old.expires_at
     or new.flow <> old.flow or new.fee_bps <> old.fee_bps or new.fee_fixed_minor <> old.fee_fixed_minor
     or new.destinations <> old.destinations then
    raise exception 'payment %: terms never change', old.id using errcode = '23514';
  end if;
  if new.status is distinct from old.status and new.version <> old.version + 1 then
    raise exception 'payment %: a status change needs the next version', old.id using errcode = '23514';
  end if;
  if new.status is not distinct from old.status and new.version <> old.version then
    raise exception 'payment %: a version needs a status change', old.id using errcode = '23514';
  end if;
  return new; end $$;
create trigger payment_guard before update on payment for each row execute function payment_guard();

create function payment_has_event() returns trigger language plpgsql as $$ begin
  if new.status is distinct from old.status and not exists (
    select 1 from payment_event e where e.payment_id = new.id and e.version = new.version
      and e.from_s = old.status and e.to_s = new.status) then
    raise exception 'payment %: % to % without its event', new.id, old.status, new.status using errcode = '23514';
  end if;
  if new.status is distinct from old.status and not exists (
    select 1 from outbox o where o.dedupe = 'payment:' || new.id || ':' || new.version) then
    raise exception 'payment %: version % without its outbox row', new.id, new.version using errcode = '23514';
  end if;
  return null; end $$;
create constraint trigger payment_has_event after update on payment
  deferrable initially deferred for each row execute function payment_has_event();

create function payment_starts_open() returns trigger language plpgsql as $$ begin
  if new.status <> 'requires_action' or new.version <> 0 then
    raise exception 'payment %: starts as requires_action', new.id using errcode = '23514';
  end if; return new; end $$;
create trigger payment_starts_open before insert on payment for each row execute function payment_starts_open();

-- A change wakes the long polls of every process, once its transaction commits.
create function payment_notify() returns trigger language plpgsql as $$ begin
  if new.version is distinct from old.version then
    perform pg_notify('payment', new.id || ' ' || new.version);
  end if; return null; end $$;
create trigger payment_notify after update on payment for each row execute function payment_notify();

-- Ledger: balanced per posting and asset at commit; what is owed and what is held never go below zero.
create function ledger_balanced() returns trigger language plpgsql as $$ begin
  if exists (select 1 from ledger_entry where tx_id = new.tx_id group by asset having sum(amount) <> 0) then
    raise exception 'unbalanced ledger posting %', new.tx_id using errcode = '23514';
  end if; return null; end $$;
create constraint trigger ledger_entry_balanced after insert on ledger_entry
  deferrable initially deferred for each row execute function ledger_balanced();

-- A running balance per account, moved under the account's row lock; the checker compares it with the sum.
create function ledger_move() returns trigger language plpgsql as $$ begin
  update ledger_account set balance = balance + new.amount where id = new.account_id;
  return null; end $$;
create trigger ledger_move after insert on ledger_entry for each row execute function ledger_move();
create function ledger_non_negative() returns trigger language plpgsql as $$ declare a ledger_account; begin
  select * into a from ledger_account where id = new.account_id;
  if (a.kind = 'intermediary' and a.balance < 0) or (a.kind = 'merchant_payable' and a.balance > 0) then
    raise exception 'ledger account % below zero', new.account_id using errcode = '23514';
  end if; return null; end $$;
create constraint trigger ledger_entry_nonneg after insert on ledger_entry
  deferrable initially deferred for each row execute function ledger_non_negative();

-- Append-only tables.
create function forbid_mutation() returns trigger language plpgsql as
  $$ begin raise exception '% is append-only', tg_table_name using errcode = '42501'; end $$;
create trigger ledger_entry_ro before update or delete on ledger_entry for each row execute function forbid_mutation();
create trigger ledger_entry_tr before truncate on ledger_entry for each statement execute function forbid_mutation();
create trigger ledger_tx_ro before update or delete on ledger_tx for each row execute function forbid_mutation();
create trigger ledger_tx_tr before truncate on ledger_tx for each statement execute function forbid_mutation();
create trigger payment_event_ro before update or delete on payment_event for each row execute function forbid_mutation();
create trigger payment_event_tr before truncate on payment_event for each statement execute function forbid_mutation();
create trigger auth_use_ro before update or delete on auth_use for each row execute function forbid_mutation();
create trigger chain_tx_ro before update or delete on chain_tx for each row execute function forbid_mutation();
create trigger payment_option_ro before update on payment_option for each row execute function forbid_mutation();

-- A nonce for an intent: the same id always gets the same nonce; a refused insert takes its increment back.
create function reserve_intent(p_id text, p_kind text, p_payment text, p_attempt text, p_chain text, p_signer text, p_plan jsonb)
returns setof chain_intent language plpgsql as $$ declare n bigint; begin
  -- The lock first: whoever asks for the same intent meanwhile sees it, instead of taking a nonce and failing.
  perform 1 from signer_nonce where chain = p_chain and signer = p_signer for update;
  return query select * from chain_intent where id = p_id;
  if found then return; end if;
  update signer_nonce set next = next + 1 where chain = p_chain and signer = p_signer returning next - 1 into n;
  if n is null then raise exception 'unknown signer %', p_signer; end if;
  return query insert into chain_intent (id, kind, payment_id, attempt_id, chain, signer, nonce, plan)
    values (p_id, p_kind, p_payment, p_attempt, p_chain, p_signer, n, p_plan) returning *;
end $$;

-- A key that is revoked or issued reaches every process at once.
create function credentials_notify() returns trigger language plpgsql as
  $$ begin perform pg_notify('credentials', ''); return null; end $$;
create trigger api_key_notify after insert or delete or update of revoked_at, scopes, merchant_id on api_key for each statement execute function credentials_notify();
create trigger app_notify after insert or update or delete on app for each statement execute function credentials_notify();
create trigger merchant_notify after insert or update or delete on merchant for each statement execute function credentials_notify();
create trigger destination_notify after insert or update or delete on settlement_destination for each statement execute function credentials_notify();
