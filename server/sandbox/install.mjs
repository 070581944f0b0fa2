// Installs what package-lock.json names, once. Plain JavaScript for any Node from 20 on: it runs before there is anything else.
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Brings node_modules in line with the lockfile; throws with a clear message when npm cannot. */
export async function ensureInstalled(root) {
  const stamp = join(root, "node_modules", ".florin-installed");
  const lock = createHash("sha256")
    .update(readFileSync(join(root, "package-lock.json")))
    .digest("hex");
  if (existsSync(stamp) && readFileSync(stamp, "utf8") === lock) return;
  process.stdout.write("Installing dependencies (about a minute the first time)…\n");
  // Not `npm ci`: that refuses a lockfile written where the registry lacks other platforms' optional packages. With a
  // lockfile present and --no-save, `npm install` takes exactly its versions and writes nothing back.
  const args = ["install", "--no-save", "--no-audit", "--no-fund", "--loglevel=error"];
  // What builds and runs the sandbox is among them, also where the shell says NODE_ENV=production or tells npm to omit something.
  args.push("--include=dev", "--include=optional");
  const done = spawnSync("npm", args, { cwd: root, stdio: "inherit" });
  if (done.status !== 0) {
    process.stderr.write(
      "Dependencies could not be installed: see npm's message above. Is the npm registry reachable?\n",
    );
    process.exit(1);
  }
  mkdirSync(join(root, "node_modules"), { recursive: true });
  writeFileSync(stamp, lock);
}
