// The environment of the programs that `npm start` and `npm test` run. Plain JavaScript for any Node from 20 on, as those are.
import { join } from "node:path";

/** `base` with the project's own programs first on the PATH, and with what Node compiled kept for the next process. */
export const programEnvironment = (root, base) => ({
  // Most of what a start does is to compile the same files again, and hundreds of processes start during a test run.
  NODE_COMPILE_CACHE: join(root, ".cache", "compiled"),
  ...base,
  PATH: `${join(root, "node_modules", ".bin")}:${base.PATH}`,
  NEXT_TELEMETRY_DISABLED: "1",
});
