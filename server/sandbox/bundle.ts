import { rolldown } from "rolldown";
import { ROOT, SERVER_FOLDER } from "./prepare.ts";

/** Packages that find files of their own beside themselves, or that Next shares with its own bundles. */
const LEFT_OUT = [/^next(\/|$)/, /^react(-dom)?(\/|$)/, /^pino$/, /^pg-native$/, /^@prisma\//];

const bundle = await rolldown({
  cwd: ROOT,
  input: { main: "server/door/main.ts", worker: "server/door/worker.ts" },
  platform: "node",
  external: LEFT_OUT,
});
await bundle.write({
  dir: SERVER_FOLDER,
  format: "esm",
  entryFileNames: "[name].mjs",
  chunkFileNames: "[name]-[hash].mjs",
  cleanDir: true,
});
await bundle.close();
