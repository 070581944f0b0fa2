// `npm start`: a whole local world with one command. Plain JavaScript for any Node from 20 on.
import { spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./install.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
await ensureInstalled(root);
const bin = join(root, "node_modules", ".bin");

let child;

/** Runs one program of the sandbox to its end. It hears of this process's death by the closed channel. */
function run(file, args) {
  child = spawn(join(bin, "node"), [join(root, "server", "sandbox", file), ...args], {
    cwd: root,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: { ...process.env, PATH: `${bin}:${process.env.PATH}`, NEXT_TELEMETRY_DISABLED: "1" },
  });
  return new Promise((resolve) =>
    child.on("exit", (code, signal) => resolve(code ?? (signal === null ? 1 : 128))),
  );
}

// A terminal sends Ctrl-C to both; anything else that ends this process must reach the other too.
for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child?.kill(signal));
process.on("SIGINT", () => undefined);

// The other program imports what this one generates.
const prepared = await run("prepare.ts", []);
if (prepared !== 0) process.exit(prepared);
process.exit(await run("main.ts", process.argv.slice(2)));
