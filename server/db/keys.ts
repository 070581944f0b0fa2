import type { Database, Query } from "./client.ts";
import { issueKey } from "./credentials.ts";
import { inTransaction } from "./transaction.ts";

export type Scope = "merchant" | "gateway";

/** Whom a key is for; `merchantId` null: every merchant of the partner. */
export type KeyHolder = {
  partnerId: string;
  merchantId: string | null;
  environment: "test" | "live";
  scopes: readonly Scope[];
};

/** What may be shown of a key: never the key, of which only a digest is stored. */
export type KeyFacts = KeyHolder & {
  id: string;
  name: string | null;
  createdAt: Date;
  expiresAt: Date | null;
  revokedAt: Date | null;
  lastUsedAt: Date | null;
  active: boolean;
};

export type AppFacts = {
  id: string;
  partnerId: string;
  environment: "test" | "live";
  name: string;
  createdAt: Date;
  revokedAt: Date | null;
};

/** A new key in clear, once; or why there is none. */
export type Issued =
  | { kind: "issued"; id: string; key: string }
  | { kind: "unknown" | "inactive" | "too_many" };

/** One to use and one to change over to. */
const MOST_ACTIVE = 2;

const KEY_COLUMNS = `id, partner_id as "partnerId", merchant_id as "merchantId", environment, scopes, name,
  created_at as "createdAt", expires_at as "expiresAt", revoked_at as "revokedAt", last_used_at as "lastUsedAt",
  (revoked_at is null and (expires_at is null or expires_at > now())) as active`;

/** Keys of one partner or of all (null), oldest first. */
export const listKeys = (query: Query, partnerId: string | null): Promise<KeyFacts[]> =>
  query<KeyFacts>(
    `select ${KEY_COLUMNS} from api_key where $1::text is null or partner_id = $1 order by created_at, id`,
    [partnerId],
  );

/** Apps of one partner or of all (null), oldest first. */
export const listApps = (query: Query, partnerId: string | null): Promise<AppFacts[]> =>
  query<AppFacts>(
    `select id, partner_id as "partnerId", environment, name, created_at as "createdAt", revoked_at as "revokedAt"
     from app where $1::text is null or partner_id = $1 order by created_at, id`,
    [partnerId],
  );

/** Locks the partner, so that two issues at once do not both see room for one more. */
async function lockPartner(query: Query, partnerId: string): Promise<boolean> {
  const rows = await query(`select 1 from partner where id = $1 for no key update`, [partnerId]);
  return rows.length === 1;
}

async function hasRoom(query: Query, holder: KeyHolder): Promise<boolean> {
  const [row] = await query<{ active: number }>(
    `select count(*)::int as active from api_key
     where partner_id = $1 and merchant_id is not distinct from $2 and environment = $3
       and scopes @> $4 and scopes <@ $4
       and revoked_at is null and (expires_at is null or expires_at > now())`,
    [holder.partnerId, holder.merchantId, holder.environment, holder.scopes],
  );
  return (row?.active ?? 0) < MOST_ACTIVE;
}

/** Whom keys of a merchant belong to; null: there is no such merchant, or it is deleted. */
export async function holderOfMerchant(
  query: Query,
  merchantId: string,
): Promise<Pick<KeyHolder, "partnerId" | "merchantId" | "environment"> | null> {
  const [row] = await query<Pick<KeyHolder, "partnerId" | "merchantId" | "environment">>(
    `select partner_id as "partnerId", id as "merchantId", environment from merchant
     where id = $1 and status <> 'deleted'`,
    [merchantId],
  );
  return row ?? null;
}

/** Issues a key unless its holder has two active ones of the same scopes. */
export const issueNewKey = (
  db: Database,
  pepper: string,
  holder: KeyHolder & { name: string | null },
): Promise<Issued> =>
  inTransaction(db.pool, async (query) => {
    if (!(await lockPartner(query, holder.partnerId))) return { kind: "unknown" };
    if (!(await hasRoom(query, holder))) return { kind: "too_many" };
    return { kind: "issued", ...(await issueKey(query, pepper, holder)) };
  });

/** Issues a key like an active one, which stops working `keepS` seconds from now, or when it would have anyway. */
export const rotateKey = (
  db: Database,
  pepper: string,
  id: string,
  { keepS, name }: { keepS: number; name: string | null },
): Promise<Issued> =>
  inTransaction(db.pool, async (query) => {
    const read = async () =>
      (await query<KeyFacts>(`select ${KEY_COLUMNS} from api_key where id = $1`, [id]))[0];
    const found = await read();
    if (found === undefined) return { kind: "unknown" };
    await lockPartner(query, found.partnerId);
    const old = await read();
    if (old?.active !== true) return { kind: "inactive" };
    if (!(await hasRoom(query, old))) return { kind: "too_many" };
    await query(
      `update api_key set expires_at = least(expires_at, now() + make_interval(secs => $2)) where id = $1`,
      [id, keepS],
    );
    return {
      kind: "issued",
      ...(await issueKey(query, pepper, { ...old, name: name ?? old.name })),
    };
  });

/** Ends an app for good; false: there is no such active app. */
export async function revokeApp(query: Query, id: string): Promise<boolean> {
  const rows = await query(
    `update app set revoked_at = now() where id = $1 and revoked_at is null returning 1`,
    [id],
  );
  return rows.length === 1;
}
