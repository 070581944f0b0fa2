import type { Hangup } from "#server/ports/wakeup.ts";

/** What a front door knows of the connection a request came by; Next's own server tells a handler nothing of it. */
export type Connection = {
  /** Of the socket's other end; undefined once it is gone. */
  readonly address: string | undefined;
  readonly hangup: Hangup;
};
