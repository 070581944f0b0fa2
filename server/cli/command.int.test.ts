import { execFile, spawn } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";

/** The project's own Node, which runs TypeScript; the one on the PATH may be older. */
const NODE = join(import.meta.dirname, "../../node_modules/.bin/node");
/** Nobody listens there. */
const AWAY = "postgresql://florin@127.0.0.1:1/florin";

let dir: string;

beforeAll(() => {
  dir = mkdtempSync(join(tmpdir(), "florin-command-"));
});
afterAll(() => rmSync(dir, { recursive: true, force: true }));

type Ended = { code: number; out: string; err: string };

/** Runs a command in a shell that has these settings and no others. */
function run(words: string[], env: Record<string, string> = {}): Promise<Ended> {
  const [name = "", ...rest] = words;
  // biome-ignore lint/style/noProcessEnv: where Node keeps what it compiled, handed on to save time.
  const { NODE_COMPILE_CACHE = "" } = process.env;
  const settings = {
    NODE_ENV: "test" as const,
    NODE_COMPILE_CACHE,
    PATH: "/usr/bin:/bin",
    SANDBOX_DIR: dir,
    ...env,
  };
  return new Promise((resolve) => {
    execFile(
      NODE,
      [join(import.meta.dirname, `${name}.ts`), ...rest],
      { env: settings, timeout: 60_000 },
      (error, out, err) => resolve({ code: error === null ? 0 : Number(error.code), out, err }),
    );
  });
}

// Guarantee: every command says how it is used, on the usual word and as a success.
test.for([
  ["keys"],
  ["explain"],
  ["invariants"],
  ["settlements"],
  ["collected"],
  ["listen"],
  ["pay"],
  ["merchant"],
  ["merchant", "terms"],
  ["merchant", "brand"],
])("%j --help", async (words) => {
  const { code, out, err } = await run([...words, "--help"]);
  expect([code, err]).toEqual([0, ""]);
  expect(out).toContain(`npm run ${words.length === 1 ? words[0] : words.join(" -- ")}`);
});

// Guarantee: what an operator can meet is a sentence that names what to mend, never a stack trace.
test.for([
  [["keys", "list"], { DATABASE_URL: AWAY }, /DATABASE_URL: the database does not answer/],
  [["settlements"], { DATABASE_URL: AWAY }, /DATABASE_URL: the database does not answer/],
  [["settlements"], {}, /Set DATABASE_URL/],
  [["merchant", "terms", "--merchant", "mer_1"], { DATABASE_URL: AWAY }, /does not answer/],
  [["merchant", "--name", "Shop", "--destination", "a=b"], {}, /FLORIN_KEY_PEPPER: is missing/],
  [["keys", "issue", "--partner", "p"], { DATABASE_URL: AWAY, FLORIN_MODE: "life" }, /FLORIN_MODE/],
] as [string[], Record<string, string>, RegExp][])("%j %j", async ([words, env, says]) => {
  const { code, out, err } = await run(words, env);
  expect([code, out]).toEqual([2, ""]);
  expect(err).toMatch(says);
  expect(err).not.toMatch(/^\s+at /m);
});

// Guarantee: a world's file that cannot be read is named.
test("a broken world.json", async () => {
  const folder = mkdtempSync(join(dir, "broken-"));
  writeFileSync(join(folder, "world.json"), "{");
  const { code, err } = await run(["collected", "pay_1", "--reader", "d", "--reason", "because"], {
    SANDBOX_DIR: folder,
  });
  expect(code).toBe(2);
  expect(err).toContain(join(folder, "world.json"));
});

// Guarantee: a command whose output nobody reads any more ends without a word.
test("a reader that went away", async () => {
  const child = spawn(NODE, [join(import.meta.dirname, "keys.ts"), "--help"], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  child.stdout.destroy();
  let err = "";
  child.stderr.on("data", (chunk: Buffer) => {
    err += chunk.toString();
  });
  const code = await new Promise((resolve) => child.on("close", resolve));
  expect([code, err]).toEqual([141, ""]);
});
