import { type Logger, pino } from "pino";

/** Paths that never reach a log, whatever object they are in. */
const REDACTED = [
  "apiKey",
  "signature",
  "raw",
  "privateKey",
  "authorization",
  "databaseUrl",
  "password",
  "collectedData",
].flatMap((name) => [name, `*.${name}`, `*.*.${name}`]);

/** Lines leave together: one write each would cost more than a small request. A process that is killed loses what is not yet written. */
const WRITTEN = { sync: false, minLength: 4096, periodicFlush: 200 };

/** A structured logger; one line per request and per job run. */
export const createLog = (level: string): Logger =>
  pino(
    { level, base: null, redact: { paths: REDACTED, censor: "[redacted]" } },
    pino.destination(WRITTEN),
  );

export type Log = Logger;
