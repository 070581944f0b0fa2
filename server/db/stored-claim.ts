import type { StoredAnswer } from "#server/ports/store.ts";
import type { Query } from "./client.ts";

/** What stands under an Idempotency-Key; `answer` null: the call that claimed it has none yet. Null: nobody claimed it. */
export async function storedClaim(
  query: Query,
  { scope, key }: { scope: string; key: string },
): Promise<{ fingerprint: Buffer; answer: StoredAnswer | null } | null> {
  const [row] = await query<{
    fingerprint: Buffer;
    status_code: number | null;
    body: string | null;
  }>(`select fingerprint, status_code, body from idempotency_key where scope = $1 and key = $2`, [
    scope,
    key,
  ]);
  if (row === undefined) return null;
  const { fingerprint, status_code: status, body } = row;
  return { fingerprint, answer: status === null || body === null ? null : { status, body } };
}
