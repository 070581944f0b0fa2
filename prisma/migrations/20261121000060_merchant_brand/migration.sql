-- How a merchant's pages look, and who may frame them. The icon's bytes are ours to serve: no page loads anything from elsewhere.
create table "merchant_brand" (
    "merchant_id" TEXT NOT NULL,
    "accent" TEXT,
    "icon" BYTEA,
    "icon_type" TEXT,
    "icon_digest" TEXT,
    "frame_origins" TEXT[] DEFAULT ARRAY[]::TEXT[],
    "updated_at" TIMESTAMPTZ NOT NULL DEFAULT CURRENT_TIMESTAMP,
    CONSTRAINT "merchant_brand_pkey" PRIMARY KEY ("merchant_id"),
    CONSTRAINT "merchant_brand_merchant_id_fkey" FOREIGN KEY ("merchant_id") REFERENCES "merchant"("id") ON DELETE RESTRICT ON UPDATE CASCADE
);
alter table merchant_brand add constraint merchant_brand_accent check (accent ~ '^#[0-9a-f]{6}$');
alter table merchant_brand add constraint merchant_brand_icon check (
  (icon is null) = (icon_type is null) and (icon is null) = (icon_digest is null) and octet_length(icon) <= 65536);
alter table merchant_brand add constraint merchant_brand_icon_type check (icon_type in ('image/png', 'image/webp', 'image/jpeg'));
alter table merchant_brand add constraint merchant_brand_frame_origins check (frame_origins is not null);
