import { spawn } from "node:child_process";
import { mkdtempSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, onTestFinished, test } from "vitest";
import { ROOT } from "#server/sandbox/prepare.ts";
import { until } from "./api.ts";
import { refuse, take, verified } from "./receivers.ts";
import { hooks } from "./webhooks.ts";
import { createTestWorld, type TestServer, type TestWorld } from "./world.ts";

const NODE = join(ROOT, "node_modules", ".bin", "node");

let world: TestWorld;
let server: TestServer;
let shop: ReturnType<typeof hooks>;

beforeAll(async () => {
  world = await createTestWorld();
  server = await world.startServer();
  shop = hooks(world, () => server.baseUrl);
});
afterAll(() => world?.stop());
afterEach(() => shop.clear());

/** Runs the command as a developer does; ends with the test. */
function runListen(...args: string[]) {
  const directory = mkdtempSync(join(world.world.dir, "listen-"));
  const { baseUrl } = server;
  const [merchant] = world.demo.merchants;
  const told = {
    ...{ baseUrl, checkoutUrl: baseUrl, merchant, merchants: world.demo.merchants },
    ...{ gateway: world.demo.gateway, chains: [], accounts: [] },
  };
  writeFileSync(join(directory, "sandbox.json"), JSON.stringify(told));
  const child = spawn(NODE, [join(ROOT, "server/cli/listen.ts"), ...args], {
    env: { NODE_ENV: "test", PATH: "/usr/bin:/bin", SANDBOX_DIR: directory },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let printed = "";
  for (const stream of [child.stdout, child.stderr])
    stream.on("data", (chunk) => {
      printed += chunk;
    });
  const ended = new Promise<number | null>((resolve) => child.once("close", resolve));
  onTestFinished(async () => {
    child.kill("SIGKILL");
    await ended;
  });
  const says = (words: string | RegExp) =>
    until(
      async () => printed,
      (text) => text.match(words) !== null,
      20_000,
    );
  return { says, ended, printed: () => printed, stop: () => child.kill("SIGINT") };
}

const secretIn = (text: string) => /whsec_\S+/.exec(text)?.[0] ?? "";

// Guarantee: a developer's program without a public address gets the sandbox's events as they happen, signed like webhooks.
test("new events reach a local program, also one that is started late", async () => {
  await shop.cancelled();
  await shop.settled();
  const program = await shop.receiver();
  await program.down();
  const listening = runListen(program.url);
  await listening.says("Signing secret: whsec_");
  const id = await shop.cancelled();
  await listening.says(/payment\.created .*ECONNREFUSED.*trying again/);
  await program.up();
  await listening.says(/payment\.cancelled .*-> 204/);
  expect(program.received.map(({ body }) => [body.type, body.data.payment_id])).toEqual([
    ["payment.created", id],
    ["payment.cancelled", id],
  ]);
  const secret = secretIn(listening.printed());
  for (const one of program.received) expect(verified(secret, one)).toEqual(one.body);
  const feed = await shop.feed();
  expect(feed.slice(-2)).toEqual(program.received.map(({ body }) => body));

  program.behave(refuse(500));
  await shop.cancelled();
  await listening.says(/payment\.cancelled .*-> 500/);
  program.behave(take);
  expect(program.received).toHaveLength(4);
  listening.stop();
  expect(await listening.ended).toBe(0);
});

// Guarantee: another merchant's events, and old ones, are sent when asked for; the secret stays the same from run to run.
test("--merchant and --after", async () => {
  const direct = world.demo.merchants.find(({ flow }) => flow === "direct")?.id ?? "";
  const id = await shop.cancelled("direct");
  await shop.settled();
  const program = await shop.receiver();
  const secrets: string[] = [];
  for (let run = 0; run < 2; run++) {
    const listening = runListen(program.url, "--merchant", direct, "--after", "0");
    await listening.says(/payment\.cancelled .*-> 204/);
    secrets.push(secretIn(listening.printed()));
    listening.stop();
    expect(await listening.ended).toBe(0);
  }
  expect(program.received.map(({ body }) => body.data.payment_id)).toEqual([id, id, id, id]);
  expect(secrets[0]).toBe(secrets[1]);
});

// Guarantee: a mistyped command sends nothing and says how it is done.
test("a wrong command line", async () => {
  for (const args of [
    [],
    ["hook"],
    ["http://127.0.0.1:1/", "--after", "x"],
    ["http://a/", "http://b/"],
  ]) {
    const listening = runListen(...args);
    expect(await listening.ended).toBe(1);
    expect(listening.printed()).toContain("Usage: npm run listen");
  }
  const unknown = runListen("http://127.0.0.1:1/", "--merchant", "mer_nobody");
  expect(await unknown.ended).toBe(1);
  expect(unknown.printed()).toContain("no merchant mer_nobody");
});
