import pg from "pg";
import type { Log } from "#server/platform/log.ts";

/** A named lease; one process in the whole installation has it. */
export type Lease = {
  /**
   * Tries to take the lease, or tells whether it is still held: by what the database said within the last second, or, where there is
   * `doubt`, by what it says now.
   */
  held(doubt: boolean): Promise<boolean>;
};

/** Every lease of one process, held by one database connection and gone with it. */
export type Leases = {
  lease(name: string): Lease;
  release(): Promise<void>;
};

/** How long an answer of the connection stands for every lease it holds. */
const TRUSTED_MS = 1_000;

/** Longest wait for an answer of the database before its leases count as lost. */
const ANSWER_WITHIN_MS = 5_000;

/** A process that was silent for so many milliseconds has lost its leases. */
const SILENT_FOR_MS = 10_000;

/** How often a process with leases says that it lives, whatever its loops do; one that stands still does not. */
const PULSE_MS = 3_000;

/** Connects; `lost` is called whenever the connection fails. */
async function openConnection(url: string, lost: () => void): Promise<pg.Client> {
  const connection = new pg.Client({
    connectionString: url,
    application_name: "florin-lease",
    connectionTimeoutMillis: 5_000,
    query_timeout: ANSWER_WITHIN_MS,
    keepAlive: true,
  });
  connection.on("error", lost);
  await connection.connect();
  // A process that stands still keeps its connection: the database ends it, and others can work.
  await connection.query(`set idle_session_timeout = ${SILENT_FOR_MS}`);
  return connection;
}

/** A connection answers one question at a time; `forget` lets the next connection not wait for what the last one still owes. */
function createTurns() {
  let asked: Promise<unknown> = Promise.resolve();
  return {
    next<T>(ask: () => Promise<T>): Promise<T> {
      const answer = asked.then(ask, ask);
      asked = answer;
      return answer;
    },
    forget() {
      asked = Promise.resolve();
    },
  };
}

/** Leases as session advisory locks: a process that dies, or loses its connection, loses them at once. */
export function createLeases(url: string, log: Log): Leases {
  let client: Promise<pg.Client> | null = null;
  let answering: Promise<unknown> | null = null;
  let answeredAt = Number.NEGATIVE_INFINITY;
  const locked = new Set<string>();
  const turns = createTurns();
  const drop = () => {
    locked.clear();
    turns.forget();
    const lost = client;
    client = null;
    lost
      ?.then((connection) => connection.end())
      .catch((error: Error) => log.debug({ err: error }, "lease connection"));
  };
  const connect = (): Promise<pg.Client> => {
    // A late word from a connection that was given up must not drop its successor.
    const opening: Promise<pg.Client> = openConnection(url, () => {
      if (client === opening) drop();
    });
    return opening;
  };
  /** One question serves every lease that asks while it is open. */
  const answers = (connection: pg.Client) => {
    const askedAt = performance.now();
    answering ??= turns
      .next(() => connection.query("select 1"))
      .then(() => {
        answeredAt = askedAt;
      })
      .finally(() => {
        answering = null;
      });
    return answering;
  };
  const pulse = setInterval(() => {
    // Whoever asks for a lease next finds out what came of it.
    if (locked.size > 0) client?.then(answers).catch(() => undefined);
  }, PULSE_MS).unref();
  const held = async (name: string, doubt: boolean): Promise<boolean> => {
    const isTrusted = !doubt && performance.now() - answeredAt < TRUSTED_MS;
    if (isTrusted && locked.has(name)) return true;
    client ??= connect();
    const used = client;
    try {
      const connection = await used;
      if (locked.has(name)) {
        await answers(connection);
        return locked.has(name);
      }
      const { rows } = await turns.next(() =>
        connection.query<{ ok: boolean }>(
          "select pg_try_advisory_lock(hashtextextended($1, 0)) as ok",
          [`florin:${name}`],
        ),
      );
      const ok = rows[0]?.ok === true && client === used;
      if (ok) locked.add(name);
      return ok;
    } catch (error) {
      log.warn({ lease: name, err: error }, "lease lost");
      if (client === used) drop();
      return false;
    }
  };
  return {
    lease: (name) => ({ held: (doubt) => held(name, doubt) }),
    async release() {
      clearInterval(pulse);
      const connection = client;
      client = null;
      locked.clear();
      await connection?.then((open) => open.end()).catch(() => undefined);
    },
  };
}
