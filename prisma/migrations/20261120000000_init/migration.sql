-- CreateSchema
CREATE SCHEMA IF NOT EXISTS "public";

-- CreateTable
CREATE TABLE "chain_cursor" (
    "chain" TEXT NOT NULL,
    "scanned_number" BIGINT NOT NULL,
    "scanned_hash" TEXT NOT NULL,
    "latest_number" BIGINT NOT NULL,
    "safe_number" BIGINT NOT NULL,
    "finalized_number" BIGINT NOT NULL,
    "finalized_time" BIGINT NOT NULL,
    "updated_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "chain_cursor_pkey" PRIMARY KEY ("chain")
);

-- CreateTable
CREATE TABLE "chain_block" (
    "chain" TEXT NOT NULL,
    "number" BIGINT NOT NULL,
    "hash" TEXT NOT NULL,
    "parent" TEXT NOT NULL,
    "time" BIGINT NOT NULL,

    CONSTRAINT "chain_block_pkey" PRIMARY KEY ("chain","number")
);

-- CreateTable
CREATE TABLE "movement" (
    "id" BIGSERIAL NOT NULL,
    "chain" TEXT NOT NULL,
    "block_number" BIGINT NOT NULL,
    "block_hash" TEXT NOT NULL,
    "block_time" BIGINT NOT NULL,
    "tx_hash" TEXT NOT NULL,
    "log_index" INTEGER NOT NULL,
    "asset" TEXT NOT NULL,
    "payer" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "amount_minor" DECIMAL(78,0) NOT NULL,
    "auth_nonce" TEXT,
    "state" TEXT NOT NULL DEFAULT 'seen',
    "payment_id" TEXT,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "movement_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "capture" (
    "id" BIGSERIAL NOT NULL,
    "payment_id" TEXT NOT NULL,
    "option_id" TEXT NOT NULL,
    "movement_id" BIGINT NOT NULL,
    "chain" TEXT NOT NULL,
    "block_number" BIGINT NOT NULL,
    "block_hash" TEXT NOT NULL,
    "tx_ref" TEXT NOT NULL,
    "log_index" INTEGER NOT NULL DEFAULT 0,
    "asset" TEXT NOT NULL,
    "payer" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "received" DECIMAL(78,0) NOT NULL,
    "status" TEXT NOT NULL,
    "ordinal" INTEGER NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "capture_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "exception_record" (
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "merchant_id" TEXT,
    "payment_id" TEXT,
    "chain" TEXT NOT NULL,
    "tx_ref" TEXT NOT NULL,
    "log_index" INTEGER NOT NULL,
    "block_hash" TEXT NOT NULL,
    "asset" TEXT NOT NULL,
    "payer" TEXT NOT NULL,
    "amount_minor" DECIMAL(78,0) NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'open',
    "detail" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "resolved_at" TIMESTAMPTZ,

    CONSTRAINT "exception_record_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "signer_nonce" (
    "chain" TEXT NOT NULL,
    "signer" TEXT NOT NULL,
    "base" BIGINT NOT NULL,
    "next" BIGINT NOT NULL,

    CONSTRAINT "signer_nonce_pkey" PRIMARY KEY ("chain","signer")
);

-- CreateTable
CREATE TABLE "chain_intent" (
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "payment_id" TEXT,
    "attempt_id" TEXT,
    "chain" TEXT NOT NULL,
    "signer" TEXT NOT NULL,
    "nonce" BIGINT NOT NULL,
    "plan" JSONB NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'signed',
    "mined_hash" TEXT,
    "mined_block" BIGINT,
    "mined_block_hash" TEXT,
    "gas_cost" DECIMAL(78,0),
    "broadcast_at" TIMESTAMPTZ,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "chain_intent_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "chain_tx" (
    "hash" TEXT NOT NULL,
    "chain" TEXT NOT NULL,
    "intent_id" TEXT NOT NULL,
    "role" TEXT NOT NULL DEFAULT 'main',
    "raw" BYTEA NOT NULL,
    "max_fee" DECIMAL(78,0) NOT NULL,
    "max_priority_fee" DECIMAL(78,0) NOT NULL,
    "gas" DECIMAL(78,0) NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "chain_tx_pkey" PRIMARY KEY ("chain","hash")
);

-- CreateTable
CREATE TABLE "settlement" (
    "id" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "capture_id" BIGINT NOT NULL,
    "merchant_id" TEXT NOT NULL,
    "asset" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "amount" DECIMAL(78,0) NOT NULL,
    "fee" DECIMAL(78,0) NOT NULL,
    "schedule" TEXT NOT NULL,
    "intent_id" TEXT,
    "state" TEXT NOT NULL DEFAULT 'pending',
    "detail" TEXT,
    "tx_ref" TEXT,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "settled_at" TIMESTAMPTZ,

    CONSTRAINT "settlement_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_account" (
    "id" TEXT NOT NULL,
    "kind" TEXT NOT NULL,
    "asset" TEXT NOT NULL,
    "merchant_id" TEXT,
    "balance" DECIMAL(78,0) NOT NULL DEFAULT 0,

    CONSTRAINT "ledger_account_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_tx" (
    "id" UUID NOT NULL DEFAULT gen_random_uuid(),
    "subject" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "chain_ref" TEXT,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "ledger_tx_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "ledger_entry" (
    "id" BIGSERIAL NOT NULL,
    "tx_id" UUID NOT NULL,
    "account_id" TEXT NOT NULL,
    "asset" TEXT NOT NULL,
    "amount" DECIMAL(78,0) NOT NULL,

    CONSTRAINT "ledger_entry_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "settlement_hold" (
    "asset" TEXT NOT NULL,
    "reason" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "settlement_hold_pkey" PRIMARY KEY ("asset")
);

-- CreateTable
CREATE TABLE "partner" (
    "id" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "api_version" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "partner_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "merchant" (
    "id" TEXT NOT NULL,
    "partner_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "icon_url" TEXT,
    "flow" TEXT NOT NULL,
    "fee_bps" INTEGER NOT NULL DEFAULT 0,
    "fee_fixed_cents" INTEGER NOT NULL DEFAULT 0,
    "settlement_schedule" TEXT NOT NULL DEFAULT 'instant',
    "status" TEXT NOT NULL DEFAULT 'active',
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "merchant_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "settlement_destination" (
    "id" TEXT NOT NULL,
    "merchant_id" TEXT NOT NULL,
    "asset" TEXT NOT NULL,
    "destination" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "settlement_destination_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "api_key" (
    "id" TEXT NOT NULL,
    "partner_id" TEXT NOT NULL,
    "merchant_id" TEXT,
    "environment" TEXT NOT NULL,
    "digest" BYTEA NOT NULL,
    "scopes" TEXT[],
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ,
    "last_used_at" TIMESTAMPTZ,

    CONSTRAINT "api_key_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "app" (
    "id" TEXT NOT NULL,
    "partner_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "name" TEXT NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "revoked_at" TIMESTAMPTZ,

    CONSTRAINT "app_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payment_transition" (
    "from_s" TEXT NOT NULL,
    "to_s" TEXT NOT NULL,

    CONSTRAINT "payment_transition_pkey" PRIMARY KEY ("from_s","to_s")
);

-- CreateTable
CREATE TABLE "payment" (
    "id" TEXT NOT NULL,
    "merchant_id" TEXT NOT NULL,
    "environment" TEXT NOT NULL,
    "status" TEXT NOT NULL DEFAULT 'requires_action',
    "version" INTEGER NOT NULL DEFAULT 0,
    "amount_unit" TEXT NOT NULL,
    "amount_minor" DECIMAL(78,0) NOT NULL,
    "reference_id" TEXT NOT NULL,
    "success_url" TEXT,
    "error_url" TEXT,
    "description" TEXT,
    "metadata" JSONB,
    "expires_at" TIMESTAMPTZ NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "failure_code" TEXT,
    "flow" TEXT NOT NULL,
    "settlement_schedule" TEXT NOT NULL,
    "fee_bps" INTEGER NOT NULL,
    "fee_fixed_minor" DECIMAL(78,0) NOT NULL,
    "destinations" JSONB NOT NULL,
    "option_id" TEXT,

    CONSTRAINT "payment_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "payment_event" (
    "seq" BIGSERIAL NOT NULL,
    "payment_id" TEXT NOT NULL,
    "version" INTEGER NOT NULL,
    "from_s" TEXT NOT NULL,
    "to_s" TEXT NOT NULL,
    "type" TEXT NOT NULL,
    "body" JSONB NOT NULL,
    "at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "payment_event_pkey" PRIMARY KEY ("payment_id","version")
);

-- CreateTable
CREATE TABLE "payment_option" (
    "id" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "account" TEXT NOT NULL,
    "chain" TEXT NOT NULL,
    "asset" TEXT NOT NULL,
    "payer" TEXT NOT NULL,
    "recipient" TEXT NOT NULL,
    "mechanism" TEXT NOT NULL,
    "amount_minor" DECIMAL(78,0) NOT NULL,
    "fingerprint" TEXT NOT NULL,
    "actions" JSONB NOT NULL,
    "authorization" JSONB NOT NULL,
    "auth_nonce" TEXT NOT NULL,
    "auth_deadline" TIMESTAMPTZ NOT NULL,
    "auth_digest" TEXT NOT NULL,
    "quote" JSONB,
    "usd_micros" DECIMAL(78,0),
    "depth" JSONB NOT NULL,
    "expires_at" TIMESTAMPTZ,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "payment_option_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "attempt" (
    "id" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "option_id" TEXT NOT NULL,
    "results_digest" TEXT NOT NULL,
    "signature" TEXT NOT NULL,
    "state" TEXT NOT NULL DEFAULT 'live',
    "reverts" INTEGER NOT NULL DEFAULT 0,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "attempt_pkey" PRIMARY KEY ("id")
);

-- CreateTable
CREATE TABLE "auth_use" (
    "chain" TEXT NOT NULL,
    "token" TEXT NOT NULL,
    "payer" TEXT NOT NULL,
    "nonce" TEXT NOT NULL,
    "payment_id" TEXT NOT NULL,
    "digest" TEXT NOT NULL,

    CONSTRAINT "auth_use_pkey" PRIMARY KEY ("chain","token","payer","nonce")
);

-- CreateTable
CREATE TABLE "idempotency_key" (
    "scope" TEXT NOT NULL,
    "key" TEXT NOT NULL,
    "fingerprint" BYTEA NOT NULL,
    "status_code" INTEGER,
    "body" TEXT,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,

    CONSTRAINT "idempotency_key_pkey" PRIMARY KEY ("scope","key")
);

-- CreateTable
CREATE TABLE "outbox" (
    "id" BIGSERIAL NOT NULL,
    "event_id" TEXT NOT NULL,
    "merchant_id" TEXT NOT NULL,
    "payment_id" TEXT,
    "topic" TEXT NOT NULL,
    "sequence" INTEGER NOT NULL,
    "dedupe" TEXT NOT NULL,
    "payload" JSONB NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    "done_at" TIMESTAMPTZ,

    CONSTRAINT "outbox_pkey" PRIMARY KEY ("id")
);

-- CreateIndex
CREATE INDEX "movement_chain_state_idx" ON "movement"("chain", "state");

-- CreateIndex
CREATE INDEX "movement_chain_block_number_idx" ON "movement"("chain", "block_number");

-- CreateIndex
CREATE INDEX "movement_chain_payer_auth_nonce_idx" ON "movement"("chain", "payer", "auth_nonce");

-- CreateIndex
CREATE UNIQUE INDEX "movement_chain_block_hash_tx_hash_log_index_key" ON "movement"("chain", "block_hash", "tx_hash", "log_index");

-- CreateIndex
CREATE INDEX "capture_chain_status_idx" ON "capture"("chain", "status");

-- CreateIndex
CREATE INDEX "exception_record_payment_id_idx" ON "exception_record"("payment_id");

-- CreateIndex
CREATE UNIQUE INDEX "exception_record_kind_chain_tx_ref_log_index_block_hash_key" ON "exception_record"("kind", "chain", "tx_ref", "log_index", "block_hash");

-- CreateIndex
CREATE INDEX "chain_intent_chain_state_idx" ON "chain_intent"("chain", "state");

-- CreateIndex
CREATE INDEX "chain_intent_payment_id_idx" ON "chain_intent"("payment_id");

-- CreateIndex
CREATE UNIQUE INDEX "chain_intent_chain_signer_nonce_key" ON "chain_intent"("chain", "signer", "nonce");

-- CreateIndex
CREATE INDEX "chain_tx_intent_id_idx" ON "chain_tx"("intent_id");

-- CreateIndex
CREATE INDEX "settlement_state_merchant_id_asset_idx" ON "settlement"("state", "merchant_id", "asset");

-- CreateIndex
CREATE INDEX "settlement_intent_id_idx" ON "settlement"("intent_id");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_account_id_asset_key" ON "ledger_account"("id", "asset");

-- CreateIndex
CREATE UNIQUE INDEX "ledger_tx_reason_subject_key" ON "ledger_tx"("reason", "subject");

-- CreateIndex
CREATE INDEX "ledger_entry_account_id_idx" ON "ledger_entry"("account_id");

-- CreateIndex
CREATE INDEX "ledger_entry_tx_id_idx" ON "ledger_entry"("tx_id");

-- CreateIndex
CREATE UNIQUE INDEX "settlement_destination_merchant_id_asset_key" ON "settlement_destination"("merchant_id", "asset");

-- CreateIndex
CREATE UNIQUE INDEX "api_key_digest_key" ON "api_key"("digest");

-- CreateIndex
CREATE INDEX "payment_status_expires_at_idx" ON "payment"("status", "expires_at");

-- CreateIndex
CREATE INDEX "payment_merchant_id_created_at_idx" ON "payment"("merchant_id", "created_at");

-- CreateIndex
CREATE UNIQUE INDEX "payment_event_seq_key" ON "payment_event"("seq");

-- CreateIndex
CREATE INDEX "payment_option_chain_auth_deadline_idx" ON "payment_option"("chain", "auth_deadline");

-- CreateIndex
CREATE INDEX "payment_option_chain_payer_auth_nonce_idx" ON "payment_option"("chain", "payer", "auth_nonce");

-- CreateIndex
CREATE UNIQUE INDEX "payment_option_payment_id_fingerprint_key" ON "payment_option"("payment_id", "fingerprint");

-- CreateIndex
CREATE INDEX "idempotency_key_created_at_idx" ON "idempotency_key"("created_at");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_event_id_key" ON "outbox"("event_id");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_dedupe_key" ON "outbox"("dedupe");

-- CreateIndex
CREATE INDEX "outbox_merchant_id_id_idx" ON "outbox"("merchant_id", "id");

-- CreateIndex
CREATE UNIQUE INDEX "outbox_payment_id_sequence_key" ON "outbox"("payment_id", "sequence");

-- AddForeignKey
ALTER TABLE "capture" ADD CONSTRAINT "capture_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "chain_tx" ADD CONSTRAINT "chain_tx_intent_id_fkey" FOREIGN KEY ("intent_id") REFERENCES "chain_intent"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "settlement" ADD CONSTRAINT "settlement_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "settlement" ADD CONSTRAINT "settlement_intent_id_fkey" FOREIGN KEY ("intent_id") REFERENCES "chain_intent"("id") ON DELETE SET NULL ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_entry" ADD CONSTRAINT "ledger_entry_tx_id_fkey" FOREIGN KEY ("tx_id") REFERENCES "ledger_tx"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "ledger_entry" ADD CONSTRAINT "ledger_entry_account_id_asset_fkey" FOREIGN KEY ("account_id", "asset") REFERENCES "ledger_account"("id", "asset") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "merchant" ADD CONSTRAINT "merchant_partner_id_fkey" FOREIGN KEY ("partner_id") REFERENCES "partner"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "settlement_destination" ADD CONSTRAINT "settlement_destination_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchant"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "api_key" ADD CONSTRAINT "api_key_partner_id_fkey" FOREIGN KEY ("partner_id") REFERENCES "partner"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "app" ADD CONSTRAINT "app_partner_id_fkey" FOREIGN KEY ("partner_id") REFERENCES "partner"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payment" ADD CONSTRAINT "payment_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchant"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payment_event" ADD CONSTRAINT "payment_event_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "payment_option" ADD CONSTRAINT "payment_option_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "attempt" ADD CONSTRAINT "attempt_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- AddForeignKey
ALTER TABLE "auth_use" ADD CONSTRAINT "auth_use_payment_id_fkey" FOREIGN KEY ("payment_id") REFERENCES "payment"("id") ON DELETE RESTRICT ON UPDATE CASCADE;


