import type pg from "pg";
import { PoolCrowded, type Query } from "./client.ts";

/** SQLSTATEs after which the same work may be tried again from its start. */
const RETRYABLE = new Set([
  "40001", // serialization_failure
  "40P01", // deadlock_detected
  "57P01", // admin_shutdown
  "57P02", // crash_shutdown
  "57P03", // cannot_connect_now
  "53300", // too_many_connections
  "08000",
  "08003",
  "08006",
]);
/** SQLSTATEs and classes with which a database lets nobody in: somebody must mend it, or its settings, first. */
const SHUT_OUT = /^(28P01|28000|3D000|55000|08...)$/;
const MAX_TRIES = 8;

/** SQLSTATE of a database's error, or the system's name of what went wrong on the way there. */
export const codeOf = (error: unknown): string | undefined =>
  typeof error === "object" && error !== null && "code" in error && typeof error.code === "string"
    ? error.code
    : undefined;

/** Whether an error means the database went away or asks for another try, rather than refused the work. */
export function isTransient(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== undefined) return RETRYABLE.has(code) || code.startsWith("E");
  return (
    error instanceof Error &&
    /Connection terminated|not queryable|connection timeout/i.test(error.message)
  );
}

/**
 * Whether no connection was to be had: every one is in use and too many wait for one, one was waited for in vain, or the
 * database lets nobody in. Nothing was sent; waiting again would only make the others wait.
 */
export const isCrowded = (error: unknown): boolean =>
  error instanceof PoolCrowded ||
  SHUT_OUT.test(codeOf(error) ?? "") ||
  (error instanceof Error && error.message.includes("timeout exceeded when trying to connect"));

/** Whether a statement took longer than any may: rows are locked or the database is overloaded. At once again it would take as long. */
export const isTooSlow = (error: unknown): boolean => codeOf(error) === "57014";

/** Whether an error is a unique violation, and of which constraint. */
export const uniqueViolation = (error: unknown): string | null =>
  codeOf(error) === "23505" && typeof error === "object" && error !== null && "constraint" in error
    ? String(error.constraint)
    : null;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

async function once<T>(pool: pg.Pool, work: (query: Query) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  let broken: Error | undefined;
  // The pool listens on idle connections only: one that breaks between two statements would end the process.
  const onError = (error: Error) => {
    broken = error;
  };
  client.on("error", onError);
  try {
    const query: Query = async <Row>(text: string, values: unknown[] = []) =>
      (await client.query(text, values)).rows as Row[];
    await client.query("begin");
    const result = await work(query);
    await client.query("commit");
    return result;
  } catch (error) {
    await client.query("rollback").catch(onError);
    throw error;
  } finally {
    client.off("error", onError);
    client.release(broken);
  }
}

/**
 * Runs `work` in one transaction. A lost connection or a serialization failure starts it again, so work must decide by
 * what it reads inside: if an unanswered commit did happen, the second run sees its rows.
 */
export async function inTransaction<T>(
  pool: pg.Pool,
  work: (query: Query) => Promise<T>,
): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await once(pool, work);
    } catch (error) {
      if (attempt === MAX_TRIES || !isTransient(error)) throw error;
      await pause(Math.min(1000, 20 * 2 ** attempt) * (0.5 + Math.random() / 2));
    }
  }
}
