import { createServer, type RequestListener, type Server, type ServerOptions } from "node:http";
import { answerClientError } from "./client-error.ts";

/** How long callers may take. */
export const PATIENCE = {
  /** A request's head, and all of it, must have arrived after this. */
  headersTimeout: 10_000,
  requestTimeout: 15_000,
  /** How often that is looked at. */
  connectionsCheckingInterval: 2_000,
  /** Longer than proxies keep idle connections, so that none is closed while a request is on its way. */
  keepAliveTimeout: 75_000,
} as const satisfies ServerOptions;

/** Calls still being worked on after this are cut off by a stop. */
const DRAIN_MS = 6_000;

/**
 * Node's HTTP server as the front door uses it: whoever is too slow, or speaks no HTTP, is answered as everybody else. Nothing here
 * speaks another protocol, so an offer to change it is not taken: the request is answered as if it had none.
 */
export function createHttpServer(
  door: RequestListener,
  patience: ServerOptions = PATIENCE,
): Server {
  const server = createServer(
    { ...patience, requireHostHeader: false, shouldUpgradeCallback: () => false },
    door,
  );
  server.on("clientError", answerClientError);
  // Left to Node, what it cannot fulfil would be refused without a word.
  server.on("checkExpectation", door);
  return server;
}

/** Stops taking connections, and waits for the answers under way; what is left after `DRAIN_MS` is cut off. */
export async function drain(server: Server): Promise<void> {
  const ended = new Promise<void>((resolve) => server.close(() => resolve()));
  const idle = setInterval(() => server.closeIdleConnections(), 50);
  const cut = setTimeout(() => server.closeAllConnections(), DRAIN_MS);
  await ended;
  clearInterval(idle);
  clearTimeout(cut);
}
