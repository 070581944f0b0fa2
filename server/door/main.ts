import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { fileURLToPath } from "node:url";
import type { Env } from "#server/platform/env.ts";
import { createLog } from "#server/platform/log.ts";
import { originAt } from "#server/platform/setting-checks.ts";
import { createHttpServer, drain } from "./http-server.ts";
import { createDoor } from "./listener.ts";
import { openPages, type Pages, pagesAreBuilt } from "./pages.ts";
import { openChecked, openWorker, readSettings, refuseStart } from "./start-up.ts";
import { stopOnSignal } from "./stop.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

function listen(server: Server, { HOST, PORT }: Env): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(PORT, HOST, () => {
      server.off("error", reject);
      resolve((server.address() as AddressInfo).port);
    });
  });
}

/** The settings with the port the system chose, where addresses were left to follow PORT=0. */
export function withPort(settings: Env, port: number): Env {
  const follow = (address: string) => address.replace(/:0$/, `:${port}`);
  return {
    ...settings,
    PORT: port,
    baseUrl: follow(settings.baseUrl),
    checkoutUrl: follow(settings.checkoutUrl),
    payHost: follow(settings.payHost),
  };
}

async function main(): Promise<void> {
  const settings = readSettings();
  const apiOnly = process.argv.includes("--api-only");
  if (!apiOnly && !pagesAreBuilt(ROOT))
    refuseStart("The pages are not built: run `npm run build` first, or start with --api-only.");
  const log = createLog(settings.LOG_LEVEL);
  let pages: Pages | null = null;
  let isOpen = false;
  const door = createDoor({
    log,
    pages: () => pages?.show ?? null,
    isOpen: () => isOpen,
    maxInFlight: settings.FLORIN_MAX_IN_FLIGHT,
    trustedProxies: settings.FLORIN_TRUSTED_PROXIES,
  });
  const server = createHttpServer(door);
  const port = await listen(server, settings).catch((error: Error) =>
    refuseStart(`Cannot listen on ${settings.HOST}:${settings.PORT}: ${error.message}`),
  );
  const inline = settings.FLORIN_WORKER === "inline";
  const parts = await openChecked(withPort(settings, port), { worker: inline });
  const worker = inline ? await openWorker(parts) : null;
  if (!apiOnly) pages = await openPages(ROOT, server, parts);
  parts.state.phase = "serving";
  isOpen = true;

  stopOnSignal(
    async () => {
      parts.state.phase = "stopping";
      parts.wakeup.shut();
      await Promise.all([drain(server), worker?.stop()]);
      if (worker === null) await parts.queue.stop();
      await pages?.close();
      await parts.close();
    },
    (error) => log.error({ err: error }, "the stop was not clean"),
  );
  process.stdout.write(
    `Florin is listening on ${originAt(settings.HOST, port)} (${settings.FLORIN_MODE}, worker ${settings.FLORIN_WORKER})\n`,
  );
}

await main();
