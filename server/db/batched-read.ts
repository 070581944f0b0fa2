import DataLoader from "dataloader";
import type { Database } from "./client.ts";

/** Most rows one statement is asked for. */
const MAX_BATCH = 500;

/**
 * A read by key that answers every call of one turn of the event loop with one statement. Nothing is remembered: a read
 * begins after it was asked for. `text` takes the keys as `$1` and gives at most one row each; null: no such row.
 */
export function batchedRead<Row extends object, T>(
  db: Database,
  { name, text, key }: { name: string; text: string; key: keyof Row & string },
  to: (row: Row) => T,
): (key: string) => Promise<T | null> {
  const loader = new DataLoader<string, T | null>(
    async (keys) => {
      const { rows } = await db.pool.query<Row>({ name, text, values: [keys] });
      const found = new Map(rows.map((row) => [row[key], to(row)]));
      return keys.map((one) => found.get(one as Row[typeof key]) ?? null);
    },
    { cache: false, maxBatchSize: MAX_BATCH, batchScheduleFn: (run) => setImmediate(run) },
  );
  return (one) => loader.load(one);
}
