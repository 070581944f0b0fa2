import { existsSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { join } from "node:path";
import type { Container } from "#server/container.ts";
import { framingOf, pageSecurity } from "#server/http/page-security.ts";
import { expectPage } from "#server/http/page-status.ts";
import { pathOf } from "./match.ts";

/** Next in this process, in production mode. */
export type Pages = {
  show(incoming: IncomingMessage, outgoing: ServerResponse): void;
  close(): Promise<void>;
};

/** Built files are the same for everybody and run nothing by themselves. */
const BUILT = "/_next/static/";

/** Whether `next build` was run in this folder. */
export const pagesAreBuilt = (root: string): boolean => existsSync(join(root, ".next", "BUILD_ID"));

/**
 * Puts a page under a policy of its own. Next gives the nonce in the policy of a *request* to every script and style it writes;
 * what a caller sends under that name never counts.
 */
async function secure(
  parts: Container,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<void> {
  const target = incoming.url ?? "/";
  const query = new URLSearchParams(target.split("?")[1] ?? "");
  const framing = await framingOf(parts, pathOf(target), query);
  const { nonce, policy, headers } = pageSecurity(framing, parts.env.FLORIN_MODE);
  incoming.headers["content-security-policy"] = policy;
  incoming.headers["x-nonce"] = nonce;
  expectPage(nonce, outgoing);
  for (const [name, value] of Object.entries(headers)) outgoing.setHeader(name, value);
}

/** Starts the built pages; the API does not need them. */
export async function openPages(root: string, server: Server, parts: Container): Promise<Pages> {
  // biome-ignore lint/style/noProcessEnv: Next and React read these two names and take them no other way
  Object.assign(process.env, { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" });
  const { default: next } = await import("next");
  const app = next({ dev: false, dir: root, httpServer: server });
  await app.prepare();
  const handle = app.getRequestHandler();
  const show: Pages["show"] = async (incoming, outgoing) => {
    if (incoming.url?.startsWith(BUILT)) {
      outgoing.setHeader("X-Content-Type-Options", "nosniff");
      incoming.headers["content-security-policy"] = "default-src 'none'";
    } else await secure(parts, incoming, outgoing);
    await handle(incoming, outgoing);
  };
  return { show: (incoming, outgoing) => void show(incoming, outgoing), close: () => app.close() };
}
