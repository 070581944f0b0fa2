import { existsSync } from "node:fs";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import { join } from "node:path";

/** Next in this process, in production mode. */
export type Pages = {
  show(incoming: IncomingMessage, outgoing: ServerResponse): void;
  close(): Promise<void>;
};

/** Whether `next build` was run in this folder. */
export const pagesAreBuilt = (root: string): boolean => existsSync(join(root, ".next", "BUILD_ID"));

/** Starts the built pages; the API does not need them. */
export async function openPages(root: string, server: Server): Promise<Pages> {
  // biome-ignore lint/style/noProcessEnv: Next and React read these two names and take them no other way
  Object.assign(process.env, { NODE_ENV: "production", NEXT_TELEMETRY_DISABLED: "1" });
  const { default: next } = await import("next");
  const app = next({ dev: false, dir: root, httpServer: server });
  await app.prepare();
  const handle = app.getRequestHandler();
  return {
    show: (incoming, outgoing) => void handle(incoming, outgoing),
    close: () => app.close(),
  };
}
