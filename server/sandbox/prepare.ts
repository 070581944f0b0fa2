import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { compileContracts } from "./compile.ts";
import { endsWithParent } from "./process.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STAMPS = join(ROOT, ".cache", "stamps");

/** Folders and files whose change makes a new production build necessary. */
const BUILD_INPUTS = [
  "app",
  "components",
  "server",
  "public",
  "next.config.mjs",
  "package-lock.json",
  "tsconfig.json",
];

function hashOf(paths: string[]): string {
  const sum = createHash("sha256");
  const visit = (path: string) => {
    const full = join(ROOT, path);
    if (!existsSync(full)) return;
    if (path.includes("db/generated") || path.endsWith(".test.ts")) return;
    const found = readdirSync(full, { withFileTypes: true });
    for (const entry of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const child = join(path, entry.name);
      if (entry.isDirectory()) visit(child);
      else sum.update(child).update(readFileSync(join(ROOT, child)));
    }
  };
  for (const path of paths) {
    if (/\.\w+$/.test(path)) {
      if (existsSync(join(ROOT, path))) sum.update(path).update(readFileSync(join(ROOT, path)));
    } else visit(path);
  }
  return sum.digest("hex");
}

/** Runs `work` unless it was done for exactly these inputs and its result is still there. */
function once(
  name: string,
  inputs: string[],
  result: string,
  title: string,
  work: () => void,
): void {
  const stamp = join(STAMPS, name);
  const hash = hashOf(inputs);
  if (existsSync(result) && existsSync(stamp) && readFileSync(stamp, "utf8") === hash) return;
  process.stdout.write(`${title}…\n`);
  work();
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(stamp, hash);
}

function run(command: string, args: string[]): void {
  const [program = "", ...words] = [
    ...endsWithParent(),
    join(ROOT, "node_modules", ".bin", command),
    ...args,
  ];
  const done = spawnSync(program, words, {
    cwd: ROOT,
    encoding: "utf8",
  });
  if (done.status !== 0)
    throw new Error(`${command} ${args.join(" ")} failed:\n${done.stdout}${done.stderr}`);
}

/** Generates, compiles and builds what is not up to date. `build` false leaves the web pages out. */
export function prepare({ build }: { build: boolean }): void {
  once(
    "prisma",
    ["prisma/schema"],
    join(ROOT, "server/db/generated/client.ts"),
    "Generating the database client",
    () => run("prisma", ["generate"]),
  );
  if (!existsSync(join(ROOT, ".cache", "contracts")))
    process.stdout.write("Compiling the sandbox contracts (about 20 seconds, once)…\n");
  compileContracts();
  if (!build) return;
  once(
    "next",
    BUILD_INPUTS,
    join(ROOT, ".next", "BUILD_ID"),
    "Building the web pages (about half a minute)",
    () => run("next", ["build"]),
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  prepare({ build: !process.argv.includes("--no-build") });
