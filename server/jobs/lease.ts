import pg from "pg";
import type { Log } from "#server/platform/log.ts";

/** Holds a named lease while its own database connection lives; one process in the whole installation has it. */
export type Lease = {
  /** Tries to take the lease, or tells whether it is still held. */
  held(): Promise<boolean>;
  release(): Promise<void>;
};

/** A lease as a session advisory lock: a process that dies, or loses its connection, loses it at once. */
export function createLease(url: string, name: string, log: Log): Lease {
  let client: pg.Client | null = null;
  let locked = false;
  const drop = () => {
    locked = false;
    client?.end().catch((error: Error) => log.debug({ err: error }, "lease connection"));
    client = null;
  };
  const connect = async () => {
    const fresh = new pg.Client({
      connectionString: url,
      application_name: "florin-lease",
      connectionTimeoutMillis: 5_000,
      keepAlive: true,
    });
    fresh.on("error", drop);
    await fresh.connect();
    client = fresh;
    return fresh;
  };
  return {
    async held() {
      try {
        const connection = client ?? (await connect());
        if (locked) {
          await connection.query("select 1");
          return locked;
        }
        const { rows } = await connection.query<{ ok: boolean }>(
          "select pg_try_advisory_lock(hashtextextended($1, 0)) as ok",
          [`florin:${name}`],
        );
        locked = rows[0]?.ok ?? false;
        return locked;
      } catch (error) {
        log.warn({ lease: name, err: error }, "lease lost");
        drop();
        return false;
      }
    },
    async release() {
      const connection = client;
      client = null;
      locked = false;
      await connection?.end();
    },
  };
}
