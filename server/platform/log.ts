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

/** A structured logger; one line per request and per job run. */
export const createLog = (level: string): Logger =>
  pino({ level, base: null, redact: { paths: REDACTED, censor: "[redacted]" } });

export type Log = Logger;
