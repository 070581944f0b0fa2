-- AlterTable
ALTER TABLE "chain_tx" ADD COLUMN     "lapses_at" BIGINT,
ADD COLUMN     "replaces" TEXT NOT NULL DEFAULT '';
-- AlterTable
ALTER TABLE "attempt" ADD COLUMN     "lapses_at" BIGINT;
-- CreateTable
CREATE TABLE "served_tx" (
    "option_id" TEXT NOT NULL,
    "blockhash" TEXT NOT NULL,
    "message" TEXT NOT NULL,
    "lapses_at" BIGINT NOT NULL,
    "created_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "served_tx_pkey" PRIMARY KEY ("option_id","blockhash")
);
-- AddForeignKey
ALTER TABLE "served_tx" ADD CONSTRAINT "served_tx_option_id_fkey" FOREIGN KEY ("option_id") REFERENCES "payment_option"("id") ON DELETE RESTRICT ON UPDATE CASCADE;

-- A transaction without a nonce has one successor at most, so two workers cannot both replace a lapsed one.
create unique index one_successor on chain_tx (intent_id, replaces) where lapses_at is not null;
create trigger served_tx_ro before update or delete on served_tx for each row execute function forbid_mutation();
