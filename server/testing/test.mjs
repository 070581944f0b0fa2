// `npm test`: sets everything up, runs every check and test, and closes with one line over all of it.
// Plain JavaScript for any Node from 20 on, since it runs before dependencies are installed.
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { ensureInstalled } from "../sandbox/install.mjs";
import { programEnvironment } from "../sandbox/program-environment.mjs";

const root = fileURLToPath(new URL("../..", import.meta.url));
const bin = (name) => join(root, "node_modules", ".bin", name);
const reports = join(root, ".cache", "reports");
const long = process.argv.includes("--long");

/** Runs a command with its output shown; resolves to its exit code. Ctrl-C ends the whole run. */
function run(command, args, env = {}) {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      cwd: root,
      stdio: "inherit",
      env: { ...programEnvironment(root, process.env), ...env },
    });
    child.on("exit", (code) => resolve(code ?? 1));
    child.on("error", () => resolve(1));
  });
}

const total = { passed: 0, failed: 0 };

async function check(title, command, args) {
  process.stdout.write(`\n== ${title}\n`);
  const code = await run(command, args);
  if (code === 0) total.passed++;
  else total.failed++;
}

/** Adds up a report; a test that was skipped or never started counts as failed, and so does a run without a report. */
function count(file, code, read) {
  try {
    const { passed, others } = read(JSON.parse(readFileSync(file, "utf8")));
    total.passed += passed;
    total.failed += others;
    if (code !== 0 && others === 0) total.failed++;
    if (passed + others === 0) total.failed++;
  } catch (error) {
    process.stdout.write(`no report from ${file}: ${error}\n`);
    total.failed++;
  }
}

async function vitest(project, extra = []) {
  process.stdout.write(`\n== ${project} tests\n`);
  const file = join(reports, `${project}.json`);
  const code = await run(
    bin("vitest"),
    [
      "run",
      "--project",
      project,
      "--reporter",
      "default",
      "--reporter",
      "json",
      "--outputFile.json",
      file,
      ...extra,
    ],
    long ? { FLORIN_TEST_LONG: "1" } : {},
  );
  count(file, code, (r) => ({
    passed: r.numPassedTests,
    others:
      r.numTotalTests -
      r.numPassedTests +
      r.testResults.filter((t) => t.status !== "passed" && t.assertionResults.length === 0).length,
  }));
}

/** Names of Chromium on a PATH; the one without windows, which is all that tests need, costs a third less time. */
const CHROMIUMS = ["chromium-headless-shell", "chromium", "chromium-browser", "google-chrome"];

/** Runs a command that is only to be over; resolves to whether it went well. */
const succeeds = (command, args, options) =>
  new Promise((resolve) => {
    const child = spawn(command, args, options);
    child.on("exit", (code) => resolve(code === 0));
    child.on("error", () => resolve(false));
  });

/** A Chromium for the browser tests: CHROMIUM_PATH, one on the PATH, or the distribution's package. */
async function chromium() {
  if (process.env.CHROMIUM_PATH) return process.env.CHROMIUM_PATH;
  const find = () =>
    spawnSync("sh", ["-c", CHROMIUMS.map((name) => `command -v ${name}`).join(" || ")], {
      encoding: "utf8",
    }).stdout.trim();
  const found = find();
  if (found !== "") return found;
  if (process.getuid?.() === 0) {
    process.stdout.write("installing Chromium from the distribution's packages…\n");
    const quiet = {
      stdio: ["ignore", "ignore", "inherit"],
      env: { ...process.env, DEBIAN_FRONTEND: "noninteractive" },
    };
    await succeeds("apt-get", ["update", "-qq"], quiet);
    const install = (name) =>
      succeeds("apt-get", ["install", "-y", "-qq", "--no-install-recommends", name], quiet);
    if (!(await install("chromium-headless-shell"))) await install("chromium");
  }
  const installed = find();
  if (installed === "")
    process.stdout.write(
      "Chromium is missing: install your distribution's package (for example `sudo apt-get install chromium`) or set CHROMIUM_PATH.\n",
    );
  return installed;
}

async function browser() {
  process.stdout.write("\n== end-to-end tests\n");
  const path = await browserFound;
  const file = join(reports, "e2e.json");
  if (path === "") {
    total.failed++;
    return;
  }
  const code = await run(bin("playwright"), ["test"], {
    CHROMIUM_PATH: path,
    PLAYWRIGHT_JSON_OUTPUT_NAME: file,
  });
  count(file, code, ({ stats }) => ({
    passed: stats.expected,
    others: stats.unexpected + stats.flaky + stats.skipped,
  }));
}

// A download of its own: it goes on while other things are made ready.
const browserFound = long ? Promise.resolve("") : chromium();
await ensureInstalled(root);
rmSync(reports, { recursive: true, force: true });
mkdirSync(reports, { recursive: true });
if ((await run(bin("node"), ["server/sandbox/prepare.ts"])) !== 0) {
  process.stdout.write("0 passed, 1 failed\n");
  process.exit(1);
}
if (long) {
  await vitest("long");
  await vitest("integration", ["server/testing/fuzz.int.test.ts"]);
} else {
  // None of these needs another, and each of them leaves cores idle.
  await Promise.all([
    vitest("unit"),
    check("format and lint", bin("biome"), ["check", "--error-on-warnings", "."]),
    check("types", bin("tsc"), ["--noEmit"]),
    check("import rules", bin("depcruise"), ["app", "components", "server", "prisma", "e2e"]),
  ]);
  await vitest("integration");
  await browser();
}
process.stdout.write(`\n${total.passed} passed, ${total.failed} failed\n`);
process.exit(total.failed === 0 ? 0 : 1);
