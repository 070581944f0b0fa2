import { PrismaPg } from "@prisma/adapter-pg";
import pg from "pg";
import { PrismaClient } from "./generated/client.ts";

/** One statement with its values; rows come back as PostgreSQL's driver gives them (int8 and numeric as text). */
export type Query = <Row = Record<string, unknown>>(
  text: string,
  values?: unknown[],
) => Promise<Row[]>;

/** A process's connections: one pool, shared by the Prisma client and by hand-written SQL. */
export type Database = {
  url: string;
  pool: pg.Pool;
  prisma: PrismaClient;
  query: Query;
  close(): Promise<void>;
};

/** Longest time one statement may take; a money transaction has many short ones. */
const STATEMENT_TIMEOUT_MS = 15_000;

/** Opens the connections lazily; `max` bounds them. */
export function createDatabase(url: string, { max = 20 }: { max?: number } = {}): Database {
  const pool = new pg.Pool({
    connectionString: url,
    max,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    connectionTimeoutMillis: 10_000,
    idle_in_transaction_session_timeout: 30_000,
    application_name: "florin",
  });
  // An idle connection that the server closes is replaced on next use; without a listener it would end the process.
  pool.on("error", () => undefined);
  const prisma = new PrismaClient({ adapter: new PrismaPg(pool) });
  const query: Query = async <Row>(text: string, values: unknown[] = []) =>
    (await pool.query(text, values)).rows as Row[];
  let closed: Promise<void> | undefined;
  const close = () => {
    closed ??= prisma.$disconnect().then(() => (pool.ended ? undefined : pool.end()));
    return closed;
  };
  return { url, pool, prisma, query, close };
}
