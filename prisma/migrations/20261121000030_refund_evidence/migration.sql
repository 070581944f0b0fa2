-- What completes a refund that the merchant's own wallet sends.
ALTER TABLE "refund" ADD COLUMN "from_block" BIGINT, ADD COLUMN "log_index" INTEGER;

-- One transfer completes one refund, and one intent sends one.
create unique index one_refund_per_transfer on refund (split_part(asset, '/', 1), tx_ref, log_index)
  where log_index is not null;
create unique index one_refund_per_intent on refund (intent_id) where intent_id is not null;
create index refund_open on refund (payment_id) where state = 'pending';
