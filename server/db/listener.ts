import pg from "pg";
import type { Log } from "#server/platform/log.ts";

/** One connection per process that hears PostgreSQL notifications. */
export type Listener = {
  /** Calls `heard` with the payload of each notification on a channel. */
  on(channel: string, heard: (payload: string) => void): void;
  /** Calls `resumed` after every connection made: what was sent in between is lost. */
  onConnect(resumed: () => void): void;
  close(): Promise<void>;
};

const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 2_000;

/** Starts listening on `channels` and connects again for as long as it is not closed. */
export function createListener(url: string, channels: readonly string[], log: Log): Listener {
  const heard = new Map<string, ((payload: string) => void)[]>();
  const resumed: (() => void)[] = [];
  let client: pg.Client | undefined;
  let retry: NodeJS.Timeout | undefined;
  let retryMs = FIRST_RETRY_MS;
  let closed = false;

  const connect = async () => {
    const next = new pg.Client({
      connectionString: url,
      keepAlive: true,
      connectionTimeoutMillis: 5_000,
      application_name: "florin-listen",
    });
    let lost = false;
    const onLost = (cause?: unknown) => {
      if (lost) return;
      lost = true;
      if (client === next) client = undefined;
      // The socket may be half open still; nothing is owed on it.
      next.end().catch(() => undefined);
      if (closed) return;
      log.warn(
        { err: cause, retryMs },
        "the notification connection is lost and will be made again",
      );
      retry = setTimeout(start, retryMs);
      retryMs = Math.min(LAST_RETRY_MS, retryMs * 2);
    };
    next.on("error", onLost);
    next.on("end", () => onLost());
    next.on("notification", ({ channel, payload }) => {
      for (const call of heard.get(channel) ?? []) call(payload ?? "");
    });
    try {
      await next.connect();
      await next.query(channels.map((name) => `listen ${pg.escapeIdentifier(name)}`).join("; "));
    } catch (error) {
      onLost(error);
      return;
    }
    if (closed) {
      await next.end();
      return;
    }
    client = next;
    retryMs = FIRST_RETRY_MS;
    for (const call of resumed) call();
  };
  const start = () => void connect();
  start();

  return {
    on(channel, call) {
      heard.set(channel, [...(heard.get(channel) ?? []), call]);
    },
    onConnect(call) {
      resumed.push(call);
    },
    async close() {
      closed = true;
      clearTimeout(retry);
      await client?.end();
    },
  };
}
