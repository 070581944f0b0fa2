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

/** Thrown at once instead of waiting for a connection behind too many others. */
export class PoolCrowded extends Error {}

type Connected = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: (release?: unknown) => void,
) => void;

/** A pool with a queue of bounded length. */
class BoundedPool extends pg.Pool {
  readonly #waiting: number;

  constructor(config: pg.PoolConfig, waiting: number) {
    super(config);
    this.#waiting = waiting;
  }

  override connect(): Promise<pg.PoolClient>;
  override connect(connected: Connected): void;
  override connect(connected?: Connected): Promise<pg.PoolClient> | undefined {
    const isFull = this.waitingCount >= this.#waiting;
    const crowded = () => new PoolCrowded(`${this.waitingCount} wait for a connection already`);
    if (connected === undefined) return isFull ? Promise.reject(crowded()) : super.connect();
    if (isFull) connected(crowded(), undefined, () => undefined);
    else super.connect(connected);
    return undefined;
  }
}

/** Opens the connections lazily; `max` bounds them, and `waiting` those who wait for one. */
export function createDatabase(
  url: string,
  { max = 20, waiting = 10_000 }: { max?: number; waiting?: number } = {},
): Database {
  const config: pg.PoolConfig = {
    connectionString: url,
    max,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    connectionTimeoutMillis: 10_000,
    idle_in_transaction_session_timeout: 30_000,
    application_name: "florin",
  };
  const pool = new BoundedPool(config, waiting);
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
