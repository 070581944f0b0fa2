import { gzipSync } from "node:zlib";
import type { BrowserContext } from "@playwright/test";
import { build, type Rolldown } from "vite";
import { ROOT } from "#server/sandbox/prepare.ts";

const ORIGIN = "https://wallets.test";

/** The wallet kit as a browser loads it: an entry, and chunks fetched when they are needed. */
export type BuiltKit = {
  url: string;
  /** Serves it to the pages of a context; gives the files they fetched, by name, with their gzipped size. */
  serve(context: BrowserContext): Promise<{ name: string; gzip: number }[]>;
};

/** Bundles the kit for production. */
export async function buildKit(): Promise<BuiltKit> {
  const built = (await build({
    root: ROOT,
    configFile: false,
    logLevel: "error",
    base: "/",
    define: { "process.env.NODE_ENV": '"production"', global: "globalThis" },
    build: {
      write: false,
      target: "es2022",
      modulePreload: { polyfill: false },
      rollupOptions: { input: `${ROOT}/e2e/wallets/kit-page.ts` },
    },
  })) as Rolldown.RolldownOutput;
  const files = new Map(
    built.output.flatMap((one) => (one.type === "chunk" ? [[`/${one.fileName}`, one.code]] : [])),
  );
  const entry = built.output.find((one) => one.type === "chunk" && one.isEntry);
  if (entry === undefined) throw new Error("vite built no entry");
  const page = `<!doctype html><html lang="en"><title>Wallets</title><main><h1>Wallets</h1></main><script type="module" src="/${entry.fileName}"></script>`;
  return {
    url: `${ORIGIN}/`,
    serve: async (context) => {
      const fetched: { name: string; gzip: number }[] = [];
      await context.route(`${ORIGIN}/**`, (route) => {
        const { pathname } = new URL(route.request().url());
        const code = files.get(pathname);
        if (code === undefined)
          return route.fulfill({ contentType: "text/html", body: pathname === "/" ? page : "" });
        fetched.push({ name: pathname, gzip: gzipSync(code).length });
        return route.fulfill({ contentType: "text/javascript", body: code });
      });
      return fetched;
    },
  };
}
