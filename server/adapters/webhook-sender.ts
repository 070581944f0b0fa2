import http from "node:http";
import https from "node:https";
import type { LookupFunction, Socket } from "node:net";
import { RequestFilteringHttpAgent, RequestFilteringHttpsAgent } from "request-filtering-agent";
import type { WebhookAnswer, WebhookRequest, WebhookSender } from "#server/ports/webhook-sender.ts";

const CONNECT_MS = 5_000;
const TOTAL_MS = 15_000;
const MAX_BODY = 16 * 1024;
const MAX_HEADERS = 16 * 1024;
/** Longest header value that is kept. */
const MAX_HEADER = 512;
const MAX_KEPT_HEADERS = 40;

/** Lets the local world's receivers run on this machine; everybody else must be on the public internet. */
const THIS_MACHINE = ["127.0.0.1", "::1"];

export type WebhookSenderOptions = {
  /** Whether receivers may be on this machine. */
  loopback: boolean;
  /** Resolves names, in place of the system; what it answers is checked all the same. */
  lookup?: LookupFunction;
  connectMs?: number;
  totalMs?: number;
};

/** Header values and bodies come from strangers: what PostgreSQL cannot store becomes a replacement character. */
const storable = (text: string): string => text.toWellFormed().replaceAll("\0", "\u{fffd}");

function keptHeaders(headers: http.IncomingHttpHeaders): Record<string, string> {
  const entries = Object.entries(headers).slice(0, MAX_KEPT_HEADERS);
  return Object.fromEntries(
    entries.map(([name, value]) => [name, storable(String(value).slice(0, MAX_HEADER))]),
  );
}

const wordsOf = (error: unknown): string =>
  storable(error instanceof Error ? error.message || error.name : String(error)).slice(0, 500);

/** Reads an answer up to `MAX_BODY`; what is longer is cut off, what breaks off before its end is an error. */
async function readAnswer(response: http.IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= MAX_BODY) break;
  }
  return storable(Buffer.concat(chunks).subarray(0, MAX_BODY).toString("utf8"));
}

/** Ends a request that does not connect, or does not end, in time; what it returns says why, once it did. */
function setDeadlines(request: http.ClientRequest, connectMs: number, totalMs: number) {
  const missed: { why: string | null } = { why: null };
  const fail = (message: string) => () => {
    missed.why = message;
    request.destroy(new Error(message));
  };
  const total = setTimeout(fail(`no complete answer within ${totalMs / 1000} s`), totalMs);
  const connect = setTimeout(fail(`no connection within ${connectMs / 1000} s`), connectMs);
  const connected = () => clearTimeout(connect);
  request.once("socket", (socket: Socket) => {
    socket.once("encrypted" in socket ? "secureConnect" : "connect", connected);
  });
  request.once("close", () => {
    clearTimeout(total);
    clearTimeout(connect);
  });
  return missed;
}

/** A sender that checks every address at the moment it connects, so that no name can be pointed inside afterwards. */
export function createWebhookSender(options: WebhookSenderOptions): WebhookSender {
  const { loopback, lookup, connectMs = CONNECT_MS, totalMs = TOTAL_MS } = options;
  const filter = loopback ? { allowIPAddressList: THIS_MACHINE } : {};
  // A connection for each attempt: one that is kept alive would not be checked again.
  const agents = {
    "http:": new RequestFilteringHttpAgent({ keepAlive: false, ...filter }),
    "https:": new RequestFilteringHttpsAgent({ keepAlive: false, ...filter }),
  };
  const open = ({ url, headers, body }: WebhookRequest, signal: AbortSignal) => {
    const target = new URL(url);
    const secure = target.protocol === "https:";
    if (!secure && !loopback) throw new Error("receivers must be reached by https");
    return (secure ? https : http).request(target, {
      method: "POST",
      agent: agents[secure ? "https:" : "http:"],
      headers: { ...headers, "content-length": `${Buffer.byteLength(body)}` },
      maxHeaderSize: MAX_HEADERS,
      signal,
      ...(lookup === undefined ? {} : { lookup }),
    });
  };
  const send = async (request: WebhookRequest, signal: AbortSignal): Promise<WebhookAnswer> => {
    const startedAt = performance.now();
    const answer: WebhookAnswer = {
      status: null,
      headers: null,
      body: null,
      error: null,
      durationMs: 0,
    };
    let missed: { why: string | null } | null = null;
    try {
      const sent = open(request, signal);
      missed = setDeadlines(sent, connectMs, totalMs);
      const response = await new Promise<http.IncomingMessage>((resolve, reject) => {
        sent.once("response", resolve);
        sent.on("error", reject);
        sent.end(request.body);
      });
      answer.status = response.statusCode ?? null;
      answer.headers = keptHeaders(response.headers);
      answer.body = await readAnswer(response);
      sent.destroy();
    } catch (error) {
      answer.error = missed?.why ?? wordsOf(error);
    }
    answer.durationMs = Math.round(performance.now() - startedAt);
    return answer;
  };
  return { send };
}
