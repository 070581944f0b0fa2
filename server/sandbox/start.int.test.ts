import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { readSandbox } from "#server/cli/sandbox-file.ts";
import { environment } from "./migrate.ts";
import { stopPostgresAt } from "./postgres.ts";
import { ROOT } from "./prepare.ts";

let dir: string;
const children: ChildProcess[] = [];

beforeAll(() => {
  // With a space: what is printed to be copied has to work all the same.
  dir = mkdtempSync(join(tmpdir(), "florin start-"));
});
afterAll(async () => {
  for (const child of children)
    if (child.exitCode === null && child.signalCode === null) {
      const ended = once(child, "exit");
      child.kill("SIGTERM");
      await ended;
    }
  await stopPostgresAt(join(dir, "postgres"));
  rmSync(dir, { recursive: true, force: true });
});

/** `npm start` in a shell with these settings; what it prints, and its end. */
function start(env: Record<string, string>) {
  const child = spawn(process.execPath, [join(ROOT, "server/sandbox/start.mjs")], {
    env: { ...environment(), SANDBOX_DIR: dir, DATABASE_URL: "", ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  children.push(child);
  let output = "";
  const ended = once(child, "exit").then(([code]) => code as number | null);
  const says = (words: string) =>
    new Promise<void>((resolve, reject) => {
      const look = (chunk: Buffer) => {
        output += chunk.toString();
        if (output.includes(words)) resolve();
      };
      child.stdout?.on("data", look);
      child.stderr?.on("data", look);
      ended.then(() => reject(new Error(`ended before it said so:\n${output}`)));
    });
  return { child, ended, says, output: () => output };
}

// Guarantee: a port that somebody has is refused in words, and no file says that this sandbox is reached there.
test("a port in use", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const refused = start({ PORT: String(port) });
  await refused.says("EADDRINUSE");
  expect(await refused.ended).toBe(1);
  expect(refused.output()).toMatch(/Set PORT/);
  expect(existsSync(join(dir, "sandbox.json"))).toBe(false);
  other.close();
});

// Guarantee: a live server's settings in the shell change nothing in the sandbox; a SIGINT to the starter alone ends it in order.
test("a shell with a live server's settings", async () => {
  const running = start({
    PORT: "0",
    FLORIN_WORKER: "off",
    FLORIN_BASE_URL: "https://pay.example.com",
    FLORIN_RPC_8453: "https://rpc.example.com",
    FAILPOINT: "create.before_commit:exit",
  });
  await running.says("Ctrl-C stops everything");
  expect(running.output()).toContain(`SANDBOX_DIR='${dir}' npm run pay`);
  const found = readSandbox(dir);
  expect(found).toMatchObject({
    kind: "found",
    sandbox: { baseUrl: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) },
  });
  expect(readFileSync(join(dir, "server.log"), "utf8")).toContain("(sandbox, worker inline)");
  running.child.kill("SIGINT");
  expect(await running.ended).toBe(0);
});
