import type { IncomingMessage, ServerResponse } from "node:http";
import { getRequestListener, RequestError } from "@hono/node-server";
import { answerWith } from "#server/http/answer.ts";
import { clientAddress } from "#server/http/client-address.ts";
import type { RouteHandler } from "#server/http/define-route.ts";
import { healthz, readyz } from "#server/http/health.ts";
import {
  brokenAnswer,
  busy,
  hostMissing,
  malformedRequest,
  notReadyYet,
  unknownPath,
  unmetExpectation,
  wrongMethod,
} from "#server/http/not-served.ts";
import { openapi } from "#server/http/openapi.ts";
import type { Log } from "#server/platform/log.ts";
import { HttpConnection } from "./connection.ts";
import { createGate, type Work } from "./gate.ts";
import { createMatcher, decode, pathOf } from "./match.ts";
import { PAGE_ROUTES } from "./page-routes.ts";
import { ROUTES } from "./routes.ts";

type NodeListener = (incoming: IncomingMessage, outgoing: ServerResponse) => void;

/** What a front door is made of; `pages` serves everything outside the API, null: nothing does. */
export type DoorParts = {
  log: Log;
  pages: () => NodeListener | null;
  /** False until the process may serve requests. */
  isOpen: () => boolean;
  /** Most requests worked on or in line at once, held polls not counted; and most bodies on their way. */
  maxInFlight: number;
  /** Proxies whose word for who calls is believed. */
  trustedProxies: number;
};

const OWN_PATHS: Readonly<Record<string, Readonly<Record<string, RouteHandler>>>> = {
  "/healthz": { GET: healthz },
  "/readyz": { GET: readyz },
  "/openapi.json": { GET: openapi },
};

/** A request target as a path with query: proxies may send the absolute form (RFC 9112, 3.2.2). */
function targetOf(incoming: IncomingMessage): string {
  const target = incoming.url ?? "";
  if (target.startsWith("/")) return target;
  const url = URL.parse(target);
  return url === null ? "" : url.pathname + url.search;
}

/** Whom a request is counted under before anything of it was checked. */
function addressOf({ socket, headers }: IncomingMessage, trusted: number): string {
  const forwarded = trusted === 0 ? null : String(headers["x-forwarded-for"] ?? "");
  return clientAddress(socket.remoteAddress, forwarded, trusted) ?? "";
}

/** What Node takes for the wish to be asked for the body, and fulfils by itself. */
const CONTINUE = /(?:^|\W)100-continue(?:$|\W)/i;

/** Whether any path can answer a request. */
function isServable({ headers, httpVersion }: IncomingMessage): boolean {
  if (httpVersion !== "1.1") return true;
  if (headers.host === undefined) return false;
  return headers.expect === undefined || CONTINUE.test(headers.expect);
}

/** Paths that Next has no part in, so that what is unknown below them is refused as the API refuses it. */
const isApi = (path: string): boolean => path === "/v1" || /^\/(v1|api|m)\//.test(path);

/** The API's own answers are written by an adapter that has a cheaper `Response`; the platform's stays for everybody else. */
function adapt(
  answer: (request: Request, target: string, connection: HttpConnection) => Promise<Response>,
  onError: (error: unknown) => Response,
): Work {
  const platform = { Request: globalThis.Request, Response: globalThis.Response };
  const listener = getRequestListener(
    (request, { incoming, outgoing }) =>
      answer(
        request,
        targetOf(incoming as IncomingMessage),
        new HttpConnection(outgoing as ServerResponse),
      ),
    { hostname: "localhost", errorHandler: onError },
  );
  answerWith(globalThis.Response);
  Object.defineProperty(globalThis, "Request", { value: platform.Request });
  Object.defineProperty(globalThis, "Response", { value: platform.Response });
  return listener;
}

/** The process's one HTTP listener: the API by its route table, everything else by the pages. */
export function createDoor(parts: DoorParts): NodeListener {
  const { log, pages, isOpen, maxInFlight, trustedProxies } = parts;
  const match = createMatcher({ ...ROUTES, ...PAGE_ROUTES, ...OWN_PATHS });
  const answer = async (
    request: Request,
    target: string,
    connection: HttpConnection,
  ): Promise<Response> => {
    const path = pathOf(target);
    const found = match(path);
    if (found.kind === "malformed" || !target.startsWith("/")) return malformedRequest(path);
    if (found.kind === "unknown") return unknownPath(path);
    const method = request.method === "HEAD" && !("HEAD" in found.methods) ? "GET" : request.method;
    const handler = Object.hasOwn(found.methods, method) ? found.methods[method] : undefined;
    if (handler === undefined) return wrongMethod(path, Object.keys(found.methods));
    if (!isOpen() && !(path in OWN_PATHS)) return notReadyYet(path);
    return handler(request, { params: Promise.resolve(found.params), connection });
  };
  const onError = (error: unknown) => {
    if (error instanceof RequestError) return malformedRequest("/v1/");
    log.error({ err: error }, "a request was answered by no step");
    return brokenAnswer("/v1/");
  };
  const work = adapt(answer, onError);
  const refuse = adapt(async (_, target) => busy(pathOf(target)), onError);
  const from = (incoming: IncomingMessage) => addressOf(incoming, trustedProxies);
  const gate = createGate({ most: maxInFlight, work, refuse, addressOf: from }, (refused) =>
    log.warn({ refused, maxInFlight }, "more requests came than are worked on at once"),
  );
  const unserved = adapt(
    async ({ headers }, target) =>
      (headers.has("host") ? unmetExpectation : hostMissing)(pathOf(target)),
    onError,
  );
  return (incoming, outgoing) => {
    if (!isServable(incoming)) return void unserved(incoming, outgoing);
    const target = targetOf(incoming);
    const path = pathOf(target);
    const show = isApi(path) || path in OWN_PATHS || !target.startsWith("/") ? null : pages();
    if (show !== null) {
      // No page has an address that cannot be read, and the pages' own server would break on it.
      if (decode(path) === null) incoming.url = "/unreadable";
      show(incoming, outgoing);
    }
    // Whether the process lives and is ready is told however much it has to do.
    else if (path in OWN_PATHS) void work(incoming, outgoing);
    else gate(incoming, outgoing);
  };
}
