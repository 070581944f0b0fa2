import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { expect, test } from "vitest";

const START = join(import.meta.dirname, "start.mjs");

/** Runs `npm start` where it has to end before it begins. */
const start = (words: string[], env: Record<string, string> = {}) =>
  spawnSync(process.execPath, [START, ...words], {
    encoding: "utf8",
    // Should anything begin after all, it does so in a folder that cannot be.
    env: { NODE_ENV: "test", PATH: "/nowhere", SANDBOX_DIR: START, ...env },
    timeout: 20_000,
  });

// Guarantee: what cannot be meant is refused before anything is installed, built or started, with the name of the setting.
test.for([
  [[], { PORT: "abc" }, "PORT is abc"],
  [[], { PORT: "-1" }, "PORT is -1"],
  [[], { PORT: "80.5" }, "PORT is 80.5"],
  [[], { PORT: "70000" }, "PORT is 70000"],
  [[], { FLORIN_MODE: "live" }, "FLORIN_MODE is live"],
  [[], { FLORIN_MODE: "staging " }, "FLORIN_MODE is staging"],
  [[], {}, "SANDBOX_DIR is"],
  [["--port=1"], {}, "takes no words: --port=1"],
] as [string[], Record<string, string>, string][])("%j %j", ([words, env, says]) => {
  const { status, stdout, stderr } = start(words, env);
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toContain(says);
  expect(stderr).not.toMatch(/^\s+at /m);
});

// Guarantee: it says how it is used.
test("--help", () => {
  const { status, stdout } = start(["--help"]);
  expect(status).toBe(0);
  expect(stdout).toContain("SANDBOX_DIR");
});
