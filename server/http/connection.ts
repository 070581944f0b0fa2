import type { Hangup } from "#server/ports/wakeup.ts";
import type { Answer } from "./answer.ts";

/** What a front door knows of the connection a request came by; Next's own server tells a handler nothing of it. */
export type Connection = {
  /** Of the socket's other end; undefined once it is gone. */
  readonly address: string | undefined;
  readonly hangup: Hangup;
  /** Returned by a handler whose answer is written by `write` instead. */
  readonly later: Response;
  /** Writes a whole answer; nothing happens when the caller is gone. */
  write(answer: Required<Answer>): void;
};
