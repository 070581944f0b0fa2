-- DropIndex
DROP INDEX "payment_merchant_id_created_at_idx";
-- AlterTable
ALTER TABLE "movement" ADD COLUMN     "tag" TEXT;
-- AlterTable
ALTER TABLE "merchant" ADD COLUMN     "collect_above_cents" INTEGER NOT NULL DEFAULT 0,
ADD COLUMN     "collect_when" TEXT NOT NULL DEFAULT 'never',
ADD COLUMN     "email" TEXT,
ADD COLUMN     "event_number" BIGINT NOT NULL DEFAULT 0,
ADD COLUMN     "prove_ownership" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "updated_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP;
-- AlterTable
ALTER TABLE "api_key" ADD COLUMN     "expires_at" TIMESTAMPTZ,
ADD COLUMN     "name" TEXT;
-- AlterTable
ALTER TABLE "payment" ADD COLUMN     "collects_data" BOOLEAN NOT NULL DEFAULT false,
ADD COLUMN     "prove_ownership" BOOLEAN NOT NULL DEFAULT false;
-- AlterTable
ALTER TABLE "attempt" ADD COLUMN     "proof" TEXT;
-- AlterTable
ALTER TABLE "outbox" DROP COLUMN "done_at",
ADD COLUMN     "number" BIGINT,
ADD COLUMN     "numbered_at" TIMESTAMPTZ;
-- CreateTable
CREATE TABLE "collected_field" (
    "payment_id" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "sealed" BYTEA NOT NULL,
    "proven" BOOLEAN NOT NULL DEFAULT false,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "delete_after" TIMESTAMPTZ NOT NULL,
    CONSTRAINT "collected_field_pkey" PRIMARY KEY ("payment_id","account","name")
);
-- CreateTable
CREATE TABLE "collected_read" (
    "id" BIGSERIAL NOT NULL,
    "reader" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "names" TEXT[],
    "reason" TEXT NOT NULL,
    "at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "collected_read_pkey" PRIMARY KEY ("id")
);
-- CreateTable
CREATE TABLE "webhook_endpoint" (
    "id" TEXT NOT NULL,
    "merchant_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "url" TEXT NOT NULL,
    "description" TEXT,
    "topics" TEXT[],
    "secret" BYTEA NOT NULL,
    "old_secret" BYTEA,
    "old_until" TIMESTAMPTZ,
    "state" TEXT NOT NULL DEFAULT 'enabled',
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "webhook_endpoint_pkey" PRIMARY KEY ("id")
);
-- CreateTable
CREATE TABLE "webhook_delivery" (
    "id" TEXT NOT NULL,
    "endpoint_id" TEXT NOT NULL,
    "merchant_id" TEXT NOT NULL,
    "event_id" TEXT NOT NULL,
    "cause" TEXT NOT NULL DEFAULT 'dispatch',
    "state" TEXT NOT NULL DEFAULT 'pending',
    "attempts" INTEGER NOT NULL DEFAULT 0,
    "due_at" TIMESTAMPTZ,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ,
    CONSTRAINT "webhook_delivery_pkey" PRIMARY KEY ("id")
);
-- CreateTable
CREATE TABLE "webhook_attempt" (
    "delivery_id" TEXT NOT NULL,
    "number" INTEGER NOT NULL,
    "at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "duration_ms" INTEGER NOT NULL,
    "request_headers" JSONB NOT NULL,
    "response_status" INTEGER,
    "response_headers" JSONB,
    "response_body" TEXT,
    "error" TEXT,
    CONSTRAINT "webhook_attempt_pkey" PRIMARY KEY ("delivery_id","number")
);
-- CreateTable
CREATE TABLE "rate_count" (
    "bucket" TEXT NOT NULL,
    "window" BIGINT NOT NULL,
    "used" INTEGER NOT NULL,
    "expires_at" TIMESTAMPTZ NOT NULL,
    CONSTRAINT "rate_count_pkey" PRIMARY KEY ("bucket","window")
);
-- CreateTable
CREATE TABLE "push_offer" (
    "option_id" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "chain" TEXT NOT NULL,
    "tag" TEXT NOT NULL,
    "sender" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "value" DECIMAL(78,0) NOT NULL,
    "deadline" TIMESTAMPTZ NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "push_offer_pkey" PRIMARY KEY ("option_id")
);
-- CreateTable
CREATE TABLE "push_tx" (
    "chain" TEXT NOT NULL,
    "hash" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "option_id" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'claimed',
    "nonce" BIGINT,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "updated_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "push_tx_pkey" PRIMARY KEY ("chain","hash","payment_id")
);
-- CreateTable
CREATE TABLE "refund" (
    "id" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "merchant_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "asset" TEXT NOT NULL,
    "amount" DECIMAL(78,0) NOT NULL,
    "destination" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "state" TEXT NOT NULL,
    "reason" TEXT,
    "detail" TEXT,
    "intent_id" TEXT,
    "tx_ref" TEXT,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "ended_at" TIMESTAMPTZ,
    CONSTRAINT "refund_pkey" PRIMARY KEY ("id")
);
CREATE INDEX "collected_field_account_proven_idx" ON "collected_field"("account", "proven");
CREATE INDEX "collected_field_delete_after_idx" ON "collected_field"("delete_after");
CREATE INDEX "collected_read_payment_id_idx" ON "collected_read"("payment_id");
CREATE INDEX "webhook_endpoint_merchant_id_idx" ON "webhook_endpoint"("merchant_id");
CREATE UNIQUE INDEX "webhook_endpoint_id_merchant_id_key" ON "webhook_endpoint"("id", "merchant_id");
CREATE INDEX "webhook_delivery_state_due_at_idx" ON "webhook_delivery"("state", "due_at");
CREATE INDEX "webhook_delivery_merchant_id_created_at_idx" ON "webhook_delivery"("merchant_id", "created_at");
CREATE INDEX "webhook_delivery_event_id_idx" ON "webhook_delivery"("event_id");
CREATE UNIQUE INDEX "webhook_delivery_endpoint_id_event_id_cause_key" ON "webhook_delivery"("endpoint_id", "event_id", "cause");
CREATE INDEX "rate_count_expires_at_idx" ON "rate_count"("expires_at");
CREATE INDEX "push_offer_tag_idx" ON "push_offer"("tag");
CREATE INDEX "push_offer_chain_deadline_idx" ON "push_offer"("chain", "deadline");
CREATE INDEX "push_offer_payment_id_idx" ON "push_offer"("payment_id");
CREATE INDEX "push_tx_payment_id_idx" ON "push_tx"("payment_id");
CREATE INDEX "push_tx_chain_state_idx" ON "push_tx"("chain", "state");
CREATE INDEX "refund_payment_id_idx" ON "refund"("payment_id");
CREATE INDEX "refund_merchant_id_created_at_idx" ON "refund"("merchant_id", "created_at");
CREATE INDEX "refund_state_idx" ON "refund"("state");
CREATE INDEX "refund_intent_id_idx" ON "refund"("intent_id");
CREATE INDEX "movement_tag_idx" ON "movement"("tag");
CREATE INDEX "payment_merchant_id_created_at_id_idx" ON "payment"("merchant_id", "created_at", "id");
CREATE UNIQUE INDEX "outbox_merchant_id_number_key" ON "outbox"("merchant_id", "number");
ALTER TABLE "collected_field" ADD CONSTRAINT "collected_field_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "webhook_endpoint" ADD CONSTRAINT "webhook_endpoint_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchant"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_endpoint_id_merchant_id_fkey" FOREIGN KEY ("endpoint_id", "merchant_id") REFERENCES "webhook_endpoint"("id", "merchant_id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "webhook_delivery" ADD CONSTRAINT "webhook_delivery_event_id_fkey" FOREIGN KEY ("event_id") REFERENCES "outbox"("event_id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "webhook_attempt" ADD CONSTRAINT "webhook_attempt_delivery_id_fkey" FOREIGN KEY ("delivery_id") REFERENCES "webhook_delivery"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "outbox" ADD CONSTRAINT "outbox_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchant"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "push_offer" ADD CONSTRAINT "push_offer_option_id_fkey" FOREIGN KEY ("option_id") REFERENCES "payment_option"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "push_offer" ADD CONSTRAINT "push_offer_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "push_tx" ADD CONSTRAINT "push_tx_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "refund" ADD CONSTRAINT "refund_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "refund" ADD CONSTRAINT "refund_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchant"("id") ON DELETE RESTRICT ON UPDATE CASCADE;
ALTER TABLE "refund" ADD CONSTRAINT "refund_intent_id_fkey" FOREIGN KEY ("intent_id") REFERENCES "chain_intent"("id") ON DELETE SET NULL ON UPDATE CASCADE;

alter table merchant add constraint merchant_status check (status in ('active','inactive','suspended','deleted'));
alter table merchant add constraint merchant_collect_when check (collect_when in ('never','above','always'));
alter table webhook_endpoint add constraint webhook_endpoint_state check (state in ('enabled','disabled','deleted'));
alter table webhook_delivery add constraint webhook_delivery_state
  check (state in ('pending','succeeded','failed') and (state = 'pending') = (due_at is not null));
alter table refund add constraint refund_kind check (kind in ('record','execute'));
alter table refund add constraint refund_state check (state in ('pending','awaiting_merchant','succeeded','failed'));
alter table refund add constraint refund_amount check (amount > 0);
alter table push_tx add constraint push_tx_state check (state in ('claimed','known','mined','foreign','gone'));
alter table push_offer add constraint push_offer_tag check (tag ~ '^0x[0-9a-f]{64}$' and value > 0);
create index outbox_unnumbered on outbox (id) where number is null;
create index webhook_delivery_due on webhook_delivery (due_at) where state = 'pending';
create index push_tx_open on push_tx (chain) where state in ('claimed','known');

create trigger webhook_attempt_ro before update or delete on webhook_attempt for each row execute function forbid_mutation();
create trigger collected_read_ro before update or delete on collected_read for each row execute function forbid_mutation();
create trigger collected_read_tr before truncate on collected_read for each statement execute function forbid_mutation();
create trigger push_offer_ro before update or delete on push_offer for each row execute function forbid_mutation();

-- What an event says, and its number once given, never change.
create function outbox_guard() returns trigger language plpgsql as $$ begin
  if new.event_id <> old.event_id or new.merchant_id <> old.merchant_id or new.payload <> old.payload
     or new.topic <> old.topic or new.sequence <> old.sequence
     or (old.number is not null and new.number is distinct from old.number) then
    raise exception 'event % never changes', old.event_id using errcode = '23514';
  end if; return new; end $$;
create trigger outbox_guard before update on outbox for each row execute function outbox_guard();
create trigger outbox_kept before delete on outbox for each row execute function forbid_mutation();

-- A refund that has ended never changes.
create function refund_guard() returns trigger language plpgsql as $$ begin
  if old.state in ('succeeded','failed') or new.amount <> old.amount or new.asset <> old.asset
     or new.destination <> old.destination or new.payment_id <> old.payment_id then
    raise exception 'refund %: terms and ends never change', old.id using errcode = '23514';
  end if; return new; end $$;
create trigger refund_guard before update on refund for each row execute function refund_guard();
create trigger refund_kept before delete on refund for each row execute function forbid_mutation();

-- Numbering an event is no change that requests must hear of.
drop trigger merchant_notify on merchant;
create trigger merchant_notify after insert or delete or update of partner_id, name, email, icon_url, flow, fee_bps,
  fee_fixed_cents, settlement_schedule, status, collect_when, collect_above_cents, prove_ownership
  on merchant for each statement execute function credentials_notify();
drop trigger api_key_notify on api_key;
create trigger api_key_notify after insert or delete or update of revoked_at, expires_at, scopes, merchant_id
  on api_key for each statement execute function credentials_notify();

create or replace function payment_guard() returns trigger language plpgsql as $$ begin
  if new.id <> old.id or new.merchant_id <> old.merchant_id or new.environment <> old.environment
     or new.amount_unit <> old.amount_unit or new.amount_minor <> old.amount_minor
     or new.reference_id <> old.reference_id or new.expires_at <> old.expires_at
     or new.flow <> old.flow or new.fee_bps <> old.fee_bps or new.fee_fixed_minor <> old.fee_fixed_minor
     or new.destinations <> old.destinations or new.collects_data <> old.collects_data
     or new.prove_ownership <> old.prove_ownership then
    raise exception 'payment %: terms never change', old.id using errcode = '23514';
  end if;
  if new.status is distinct from old.status and new.version <> old.version + 1 then
    raise exception 'payment %: a status change needs the next version', old.id using errcode = '23514';
  end if;
  if new.status is not distinct from old.status and new.version <> old.version then
    raise exception 'payment %: a version needs a status change', old.id using errcode = '23514';
  end if;
  return new; end $$;
