import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { endsWithParent } from "./process.ts";

export const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const STAMPS = join(ROOT, ".cache", "stamps");

/** Folder of the server's entries, each one file with what they share: they load in a third of the time. */
export const SERVER_FOLDER = join(ROOT, ".cache", "server");

/** The file that starts the front door, or the worker alone. */
export const serverEntry = (entry: "main" | "worker"): string =>
  join(SERVER_FOLDER, `${entry}.mjs`);

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
    if (/^server\/(db\/generated|testing|bench)$/.test(path)) return;
    const found = readdirSync(full, { withFileTypes: true });
    for (const entry of found.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const child = join(path, entry.name);
      if (entry.isDirectory()) visit(child);
      else if (!entry.name.endsWith(".test.ts"))
        sum.update(child).update(readFileSync(join(ROOT, child)));
    }
  };
  for (const path of paths) {
    if (/\.\w+$/.test(path)) {
      if (existsSync(join(ROOT, path))) sum.update(path).update(readFileSync(join(ROOT, path)));
    } else visit(path);
  }
  return sum.digest("hex");
}

/** One thing to make: a program that makes `result` out of `inputs`. */
type Step = {
  name: string;
  inputs: string[];
  result: string;
  title: string;
  command: string;
  args: string[];
};

const CLIENT: Step = {
  name: "prisma",
  inputs: ["prisma/schema"],
  result: "server/db/generated/client.ts",
  title: "Generating the database client",
  command: "prisma",
  args: ["generate"],
};
const CONTRACTS: Step = {
  name: "contracts",
  inputs: ["server/sandbox/contracts", "server/sandbox/compile.ts", "package-lock.json"],
  result: ".cache/contracts",
  title: "Compiling the sandbox contracts (about 10 seconds, once)",
  command: "node",
  args: ["server/sandbox/compile.ts"],
};
const SERVER: Step = {
  name: "server",
  inputs: ["app", "server", "package-lock.json"],
  result: ".cache/server/main.mjs",
  title: "Bundling the server",
  command: "node",
  args: ["server/sandbox/bundle.ts"],
};
const PAGES: Step = {
  name: "next",
  inputs: BUILD_INPUTS,
  result: ".next/BUILD_ID",
  title: "Building the web pages (about half a minute)",
  command: "next",
  args: ["build"],
};

function run(command: string, args: string[]): Promise<void> {
  const [program = "", ...words] = [
    ...endsWithParent(),
    join(ROOT, "node_modules", ".bin", command),
    ...args,
  ];
  return new Promise((resolve, reject) => {
    const child = spawn(program, words, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
    let output = "";
    for (const stream of [child.stdout, child.stderr])
      stream.on("data", (text) => {
        output += text;
      });
    child.once("error", reject);
    child.once("close", (code) => {
      if (code === 0) resolve();
      else reject(new Error(`${command} ${args.join(" ")} failed:\n${output}`));
    });
  });
}

/** Runs a step unless it was done for exactly these inputs and its result is still there. */
async function once({ name, inputs, result, title, command, args }: Step): Promise<void> {
  const stamp = join(STAMPS, name);
  const hash = hashOf(inputs);
  const made = existsSync(join(ROOT, result)) && existsSync(stamp);
  if (made && readFileSync(stamp, "utf8") === hash) return;
  process.stdout.write(`${title}…\n`);
  await run(command, args);
  mkdirSync(STAMPS, { recursive: true });
  writeFileSync(stamp, hash);
}

/** Generates, compiles and builds what is not up to date, side by side. `build` false leaves the web pages out. */
export async function prepare({ build }: { build: boolean }): Promise<void> {
  await once(CLIENT);
  await Promise.all([CONTRACTS, SERVER, ...(build ? [PAGES] : [])].map(once));
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  await prepare({ build: !process.argv.includes("--no-build") });
