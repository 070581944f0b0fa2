import { createHmac, hash, randomBytes } from "node:crypto";
import { newId } from "#server/platform/ids.ts";
import type { Log } from "#server/platform/log.ts";
import type { Merchant } from "#server/ports/store.ts";
import type { Query } from "./client.ts";
import type { Listener } from "./listener.ts";

type Environment = "test" | "live";

/** Who a private key belongs to and what it may do; `merchantId` null: every merchant of the partner. */
export type KeyOwner = {
  id: string;
  partnerId: string;
  merchantId: string | null;
  environment: Environment;
  scopes: readonly string[];
  /** API version the partner is pinned to. */
  pin: string;
};

/** A public wallet app. */
export type AppOwner = { id: string; partnerId: string; environment: Environment };

/** Credentials as requests need them; revoked and unknown ones are null alike. */
export type Credentials = {
  key(clear: string): KeyOwner | null | Promise<KeyOwner | null>;
  app(id: string): AppOwner | null | Promise<AppOwner | null>;
  merchant(id: string): Merchant | null | Promise<Merchant | null>;
  /** Whether this key or app id was found good by this process before, and not found bad since. */
  wasGood(clear: string): boolean;
};

/** A revocation is noticed after this long even when its notification is lost. */
const FRESH_MS = 1_000;
/** How often the last use of a key is written down at most. */
const LAST_USE_EVERY_MS = 60_000;
const MAX_CACHED = 10_000;

type Cache<T> = {
  /** What is remembered of `id`, or what `load` finds. */
  get(id: string, load: () => Promise<T | null>): T | null | Promise<T | null>;
  clear(): void;
};

/** Remembers what was found for `freshMs` from the moment it was asked for; what is not found is never remembered. */
function cache<T>(freshMs: number): Cache<T> {
  const known = new Map<string, { value: T; until: number }>();
  const loading = new Map<string, Promise<T | null>>();
  let round = { over: false };
  const read = async (id: string, load: () => Promise<T | null>) => {
    const until = performance.now() + freshMs;
    const asked = round;
    const value = await load();
    if (value === null) known.delete(id);
    else if (!asked.over) {
      if (known.size >= MAX_CACHED) known.clear();
      known.set(id, { value, until });
    }
    return value;
  };
  return {
    get(id, load) {
      const entry = known.get(id);
      if (entry !== undefined && entry.until > performance.now()) return entry.value;
      const running = loading.get(id);
      if (running !== undefined) return running;
      const started = read(id, load).finally(() => {
        if (loading.get(id) === started) loading.delete(id);
      });
      loading.set(id, started);
      return started;
    },
    clear() {
      // What is being read may be older than the change that was announced: nobody may join or keep it.
      round.over = true;
      round = { over: false };
      known.clear();
      loading.clear();
    },
  };
}

/** Other processes write it too: a minute is between two writes, whoever makes them. */
const LAST_USE = `update api_key set last_used_at = now() where id = $1
  and (last_used_at is null or last_used_at < now() - interval '${LAST_USE_EVERY_MS} milliseconds')`;

/** The memory knows keys by a hash: no clear key outlives its request. */
const nameOf = (clear: string): string => hash("sha256", clear, "base64");

/** What is stored of a key: without the pepper a stolen table gives no key. */
export const keyDigest = (pepper: string, clear: string): Buffer =>
  createHmac("sha256", pepper).update(clear).digest();

async function loadKey(query: Query, digest: Buffer): Promise<KeyOwner | null> {
  const [row] = await query<KeyOwner>(
    `select k.id, k.partner_id as "partnerId", k.merchant_id as "merchantId", k.environment, k.scopes,
       p.api_version as pin
     from api_key k join partner p on p.id = k.partner_id where k.digest = $1 and k.revoked_at is null
       and (k.expires_at is null or k.expires_at > now())`,
    [digest],
  );
  return row ?? null;
}

async function loadApp(query: Query, id: string): Promise<AppOwner | null> {
  const [row] = await query<AppOwner>(
    `select id, partner_id as "partnerId", environment from app where id = $1 and revoked_at is null`,
    [id],
  );
  return row ?? null;
}

async function loadMerchant(query: Query, id: string): Promise<Merchant | null> {
  const [row] = await query<Merchant>(
    `select m.id, m.partner_id as "partnerId", m.environment, m.name, m.icon_url as "iconUrl", m.flow,
       m.fee_bps as "feeBps", m.fee_fixed_cents as "feeFixedCents",
       m.settlement_schedule as "settlementSchedule", m.status, m.collect_when as "collectWhen",
       m.collect_above_cents as "collectAboveCents", m.prove_ownership as "proveOwnership",
       coalesce((select jsonb_object_agg(d.asset, d.destination) from settlement_destination d
         where d.merchant_id = m.id), '{}') as destinations
     from merchant m where m.id = $1`,
    [id],
  );
  return row ?? null;
}

/** Lookups by digest and id, remembered for `freshMs` and forgotten at once when the database says that something changed. */
export function createCredentials(
  query: Query,
  pepper: string,
  listener: Listener,
  log: Log,
  freshMs = FRESH_MS,
): Credentials {
  const keys = cache<KeyOwner>(freshMs);
  const apps = cache<AppOwner>(freshMs);
  const merchants = cache<Merchant>(freshMs);
  const forget = () => {
    keys.clear();
    apps.clear();
    merchants.clear();
  };
  listener.on("credentials", forget);
  listener.onConnect(forget);

  /** Good credentials by name, with when the last use was written down (apps have none). */
  const good = new Map<string, number>();
  const remember = (name: string, writtenAt: number) => {
    if (good.size >= MAX_CACHED) good.clear();
    good.set(name, writtenAt);
  };
  const recordUse = (name: string, owner: KeyOwner | null): KeyOwner | null => {
    if (owner === null) {
      good.delete(name);
      return null;
    }
    const at = performance.now();
    if (at - (good.get(name) ?? Number.NEGATIVE_INFINITY) < LAST_USE_EVERY_MS) return owner;
    remember(name, at);
    query(LAST_USE, [owner.id]).catch((error) =>
      log.warn({ err: error, keyId: owner.id }, "the last use of a key was not written down"),
    );
    return owner;
  };
  const recordApp = (owner: AppOwner | null, id: string): AppOwner | null => {
    if (owner === null) good.delete(id);
    else if (!good.has(id)) remember(id, 0);
    return owner;
  };

  return {
    key(clear) {
      const name = nameOf(clear);
      const found = keys.get(name, () => loadKey(query, keyDigest(pepper, clear)));
      return found instanceof Promise
        ? found.then((owner) => recordUse(name, owner))
        : recordUse(name, found);
    },
    app(id) {
      const found = apps.get(id, () => loadApp(query, id));
      return found instanceof Promise
        ? found.then((owner) => recordApp(owner, id))
        : recordApp(found, id);
    },
    merchant: (id) => merchants.get(id, () => loadMerchant(query, id)),
    wasGood: (clear) => good.has(clear) || good.has(nameOf(clear)),
  };
}

/**
 * Makes a private key and returns it in clear, once: only its digest is stored. A key with the `merchant` scope is
 * `sk_…`, any other `gk_…`. `merchantId` null: every merchant of the partner.
 */
export async function issueKey(
  query: Query,
  pepper: string,
  owner: {
    partnerId: string;
    merchantId: string | null;
    environment: Environment;
    scopes: readonly ("merchant" | "gateway")[];
    /** What people call it. */
    name?: string | null;
  },
): Promise<{ id: string; key: string }> {
  const id = newId("key");
  const kind = owner.scopes.includes("merchant") ? "sk" : "gk";
  const key = `${kind}_${owner.environment}_${randomBytes(32).toString("base64url")}`;
  await query(
    `insert into api_key (id, partner_id, merchant_id, environment, digest, scopes, name)
     values ($1, $2, $3, $4, $5, $6, $7)`,
    [
      id,
      owner.partnerId,
      owner.merchantId,
      owner.environment,
      keyDigest(pepper, key),
      owner.scopes,
      owner.name ?? null,
    ],
  );
  return { id, key };
}

/** Ends a key for good; every process notices at once. */
export async function revokeKey(query: Query, id: string): Promise<void> {
  await query(`update api_key set revoked_at = now() where id = $1 and revoked_at is null`, [id]);
}

/** Registers a public wallet app and returns its id, which is all a wallet sends beside its Client-Id. */
export async function registerApp(
  query: Query,
  app: { partnerId: string; environment: Environment; name: string },
): Promise<string> {
  const id = `app_${app.environment}_${randomBytes(32).toString("base64url")}`;
  await query(`insert into app (id, partner_id, environment, name) values ($1, $2, $3, $4)`, [
    id,
    app.partnerId,
    app.environment,
    app.name,
  ]);
  return id;
}
