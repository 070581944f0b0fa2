// `npm start`: a whole local world with one command. Plain JavaScript for any Node from 20 on.
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "./install.mjs";
import { programEnvironment } from "./program-environment.mjs";

const USAGE = `Usage: npm start

Starts a whole local world: PostgreSQL, chains with test tokens, demo merchants, the server and its worker. Ctrl-C stops it.

  PORT=3000             port of the server; 0: one that is free
  HOST=127.0.0.1        address it listens on
  SANDBOX_DIR=.sandbox  folder of the world; another folder and PORT run a second one beside it
  DATABASE_URL=…        an empty PostgreSQL database to use instead of an own one
  LOG_LEVEL=warn        how much the server writes to server.log of the folder

FLORIN_… settings and FAILPOINT of the shell do not reach the sandbox.
`;

const words = process.argv.slice(2);
if (words.includes("--help") || words.includes("-h")) {
  process.stdout.write(USAGE);
  process.exit(0);
}

const root = fileURLToPath(new URL("../..", import.meta.url));
const { PORT = "", SANDBOX_DIR = "", FLORIN_MODE = "" } = process.env;
const mode = FLORIN_MODE.trim();
const folder = resolve(root, SANDBOX_DIR || ".sandbox");

/** Every reason not to begin, in sentences. */
const problems = [
  ...(words.length > 0
    ? [`npm start takes no words: ${words.join(" ")}. See npm start -- --help.`]
    : []),
  ...(mode !== "" && mode !== "sandbox"
    ? [
        `FLORIN_MODE is ${mode}, and npm start runs a sandbox: start a ${mode} server with npm run serve, or the sandbox from a shell without its settings.`,
      ]
    : []),
  ...(/^(\d{1,5})?$/.test(PORT) && Number(PORT) <= 65_535
    ? []
    : [`PORT is ${PORT}: it must be a whole number from 0 to 65535.`]),
  ...(statSync(folder, { throwIfNoEntry: false })?.isDirectory() === false
    ? [`SANDBOX_DIR is ${folder}, which is no folder.`]
    : []),
];
if (problems.length > 0) {
  process.stderr.write(`${problems.join("\n")}\n`);
  process.exit(2);
}

await ensureInstalled(root);
const bin = join(root, "node_modules", ".bin");

/** What a live server in this shell is told is not meant for the sandbox, which makes its own settings. */
const inherited = Object.fromEntries(
  Object.entries(process.env).filter(
    ([name]) => !name.startsWith("FLORIN_") && name !== "FAILPOINT",
  ),
);

let child;

/** Runs one program of the sandbox to its end. It hears of this process's death by the closed channel. */
function run(file) {
  child = spawn(join(bin, "node"), [join(root, "server", "sandbox", file)], {
    cwd: root,
    stdio: ["inherit", "inherit", "inherit", "ipc"],
    env: programEnvironment(root, inherited),
  });
  return new Promise((resolve) =>
    child.on("exit", (code, signal) => resolve(code ?? (signal === null ? 1 : 128))),
  );
}

// A terminal sends Ctrl-C to both, and the other one hears it twice, which changes nothing; whatever ends this process alone must
// reach the other too.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => child?.kill(signal));

// The other program imports what this one generates.
const prepared = await run("prepare.ts");
if (prepared !== 0) process.exit(prepared);
process.exit(await run("main.ts"));
