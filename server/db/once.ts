import type { IdempotencyClaim, OnceOutcome, StoredAnswer } from "#server/ports/store.ts";
import type { Database, Query } from "./client.ts";
import { storedClaim } from "./stored-claim.ts";
import { inTransaction } from "./transaction.ts";

/** How long a repetition waits for the call it repeats. */
const WAIT = "5s";
const LOCK_NOT_AVAILABLE = "55P03";

async function claimed(query: Query, claim: IdempotencyClaim): Promise<OnceOutcome | null> {
  await query(`set local lock_timeout = '${WAIT}'`);
  const made = await query(
    `insert into idempotency_key (scope, key, fingerprint) values ($1, $2, $3)
     on conflict do nothing returning 1`,
    [claim.scope, claim.key, Buffer.from(claim.fingerprint)],
  );
  await query("set local lock_timeout = 0");
  if (made.length === 1) return null;
  const earlier = await storedClaim(query, claim);
  if (earlier === null) return { kind: "busy" };
  if (!earlier.fingerprint.equals(Buffer.from(claim.fingerprint))) return { kind: "conflict" };
  return earlier.answer === null ? { kind: "busy" } : { kind: "replay", answer: earlier.answer };
}

/** `Store.once`: claim, work and answer are one transaction, so that a lost one leaves none of them. */
export async function once(
  db: Database,
  claim: IdempotencyClaim | null,
  work: (query: Query) => Promise<StoredAnswer>,
): Promise<OnceOutcome> {
  try {
    return await inTransaction(db.pool, async (query) => {
      const earlier = claim === null ? null : await claimed(query, claim);
      if (earlier !== null) return earlier;
      const answer = await work(query);
      if (claim !== null)
        await query(
          `update idempotency_key set status_code = $3, body = $4 where scope = $1 and key = $2`,
          [claim.scope, claim.key, answer.status, answer.body],
        );
      return { kind: "done", answer };
    });
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === LOCK_NOT_AVAILABLE)
      return { kind: "busy" };
    throw error;
  }
}
