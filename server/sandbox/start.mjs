// `npm start`: a whole local world with one command. Plain JavaScript for any Node from 20 on.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./install.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
await ensureInstalled(root);
const bin = join(root, "node_modules", ".bin");
const child = spawn(
  join(bin, "node"),
  [join(root, "server", "sandbox", "main.ts"), ...process.argv.slice(2)],
  {
    cwd: root,
    stdio: "inherit",
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, NEXT_TELEMETRY_DISABLED: "1" },
  },
);
// A terminal sends Ctrl-C to both; anything else that ends this process must reach the other too.
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
process.on("SIGINT", () => undefined);
child.on("exit", (code, signal) => process.exit(code ?? (signal === null ? 1 : 128)));
