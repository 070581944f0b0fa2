import { hash } from "node:crypto";
import type { Query } from "./client.ts";

/** What an operator decides of a merchant's pages; what is left out stays, null takes it away. */
export type BrandChange = {
  name?: string;
  accent?: string | null;
  icon?: { type: string; bytes: Uint8Array } | null;
  frameOrigins?: string[];
};

/** A merchant's brand as it is then. */
export type BrandRow = {
  name: string;
  accent: string | null;
  iconType: string | null;
  iconBytes: number | null;
  frameOrigins: string[];
};

/** Changes how a merchant's pages look; null: no such merchant. */
export async function changeBrand(
  query: Query,
  merchantId: string,
  change: BrandChange,
): Promise<BrandRow | null> {
  const { name, accent, icon, frameOrigins } = change;
  const [merchant] = await query(
    `update merchant set name = coalesce($2, name), updated_at = now() where id = $1 and status <> 'deleted' returning id`,
    [merchantId, name ?? null],
  );
  if (merchant === undefined) return null;
  await query(`insert into merchant_brand (merchant_id) values ($1) on conflict do nothing`, [
    merchantId,
  ]);
  const bytes = icon == null ? null : Buffer.from(icon.bytes);
  const digest = bytes === null ? null : hash("sha256", bytes, "hex");
  const [row] = await query<BrandRow>(
    `update merchant_brand b set updated_at = now(),
       accent = case when $2 then $3 else accent end,
       icon = case when $4 then $5 else icon end,
       icon_type = case when $4 then $6 else icon_type end,
       icon_digest = case when $4 then $7 else icon_digest end,
       frame_origins = coalesce($8, frame_origins)
     from merchant m where b.merchant_id = $1 and m.id = b.merchant_id
     returning m.name, b.accent, b.icon_type as "iconType", octet_length(b.icon) as "iconBytes",
       b.frame_origins as "frameOrigins"`,
    [
      merchantId,
      accent !== undefined,
      accent ?? null,
      icon !== undefined,
      bytes,
      icon?.type ?? null,
      digest,
      frameOrigins ?? null,
    ],
  );
  return row ?? null;
}
