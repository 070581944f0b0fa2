import type { Duplex } from "node:stream";
import { NEWEST_STABLE } from "#server/contract/version.ts";
import { newRequestId } from "#server/http/answer.ts";

const STATUS: Record<string, string> = {
  HPE_HEADER_OVERFLOW: "431 Request Header Fields Too Large",
  ERR_HTTP_REQUEST_TIMEOUT: "408 Request Timeout",
};

/** How long a refused caller may take to read why. */
const LINGER_MS = 2_000;

/** Answers bytes that are no HTTP request as every other refusal is answered, and hangs up. */
export function answerClientError(error: Error & { code?: string }, socket: Duplex): void {
  if (error.code === "ECONNRESET" || !socket.writable) {
    socket.destroy();
    return;
  }
  const requestId = newRequestId();
  const code = "invalid_params";
  const message = "The request cannot be read";
  const body = JSON.stringify({
    code,
    message,
    requestId,
    status: "error",
    error: { code, message },
  });
  const head = [
    `HTTP/1.1 ${STATUS[error.code ?? ""] ?? "400 Bad Request"}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff",
    `Request-Id: ${requestId}`,
    `Service-Version: ${NEWEST_STABLE}`,
    `WCP-Version: ${NEWEST_STABLE}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
  // A caller that neither reads nor hangs up does not keep the connection.
  setTimeout(() => socket.destroy(), LINGER_MS).unref();
}
