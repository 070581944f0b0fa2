import type { ServerResponse } from "node:http";
import { RESPONSE_ALREADY_SENT } from "@hono/node-server/utils/response";
import type { Answer } from "#server/http/answer.ts";
import type { Connection } from "#server/http/connection.ts";
import type { Hangup } from "#server/ports/wakeup.ts";

/** The connection of one request, and its own hangup: a signal of the platform's costs each held poll a kilobyte. */
export class HttpConnection implements Connection, Hangup {
  readonly #outgoing: ServerResponse;

  constructor(outgoing: ServerResponse) {
    this.#outgoing = outgoing;
  }

  get address(): string | undefined {
    return this.#outgoing.socket?.remoteAddress;
  }

  get hangup(): Hangup {
    return this;
  }

  get later(): Response {
    return RESPONSE_ALREADY_SENT;
  }

  write({ status, body, headers }: Required<Answer>): void {
    const outgoing = this.#outgoing;
    if (this.aborted) return;
    if (body !== "") headers["Content-Length"] = String(Buffer.byteLength(body));
    outgoing.writeHead(status, headers).end(body);
  }

  get aborted(): boolean {
    return this.#outgoing.closed || this.#outgoing.destroyed;
  }

  addEventListener(_: "abort", call: () => void): void {
    this.#outgoing.on("close", call);
  }

  removeEventListener(_: "abort", call: () => void): void {
    this.#outgoing.off("close", call);
  }
}
