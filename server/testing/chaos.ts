import { readFileSync } from "node:fs";
import { join } from "node:path";
import { privateKeyToAccount } from "viem/accounts";
import { startPostgres } from "#server/sandbox/postgres.ts";
import { type Action, type Answer, actors } from "./api.ts";
import type { TestServer, TestWorld } from "./world.ts";

const VICTIMS = ["server", "worker", "postgres"] as const;
/** Clients at work at a time, and the longest one call is tried again. */
const LANES = 5;
const GIVE_UP_MS = 60_000;

/** Numbers from 0 to 1 that the seed alone decides. */
function random(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** What a careful client does: the same call again after a lost connection or a 5xx, until there is an answer. */
async function insist(
  ask: () => Promise<Answer>,
  enough: (answer: Answer) => boolean,
): Promise<Answer> {
  const end = Date.now() + GIVE_UP_MS;
  for (;;) {
    const answer = await ask().catch((error: Error) => error);
    if (!(answer instanceof Error) && answer.status < 500 && enough(answer)) return answer;
    if (Date.now() > end)
      throw new Error(
        `no answer: ${answer instanceof Error ? answer : `${answer.status} ${answer.text}`}`,
      );
    await pause(100);
  }
}

/** A world whose server, worker and database are separate processes that are killed and brought back. */
export async function startChaos(world: TestWorld) {
  const start = (entry: "main" | "worker") =>
    world.startServer({ entry, env: { FLORIN_WORKER: "off", LOG_LEVEL: "warn" } });
  const running: { server: TestServer; worker: TestServer } = {
    server: await start("main"),
    worker: await start("worker"),
  };
  const postgresDir = join(world.world.dir, "postgres");
  const killPostgres = async () => {
    const pid = Number(
      readFileSync(join(postgresDir, "data", "postmaster.pid"), "utf8").split("\n")[0],
    );
    process.kill(pid, "SIGKILL");
    await startPostgres({ dir: postgresDir });
  };
  const restart = async (entry: "main" | "worker") => {
    // A start that meets the database while it is down refuses, as it should: a supervisor tries again.
    for (let tries = 0; ; tries++) {
      try {
        return await start(entry);
      } catch (error) {
        if (tries === 20) throw error;
        await pause(200);
      }
    }
  };
  const kill = async (victim: (typeof VICTIMS)[number]) => {
    if (victim === "postgres") return killPostgres();
    await running[victim].kill();
    running[victim] = await restart(victim === "server" ? "main" : "worker");
  };
  return { running, kill };
}

/** The allowance of a returning buyer, large enough for the whole run; waits until it is mined. */
async function approveOnce(world: TestWorld, baseUrl: () => string): Promise<void> {
  const api = actors(world, baseUrl);
  const buyer = world.buyer("usdt");
  const account = `eip155:31337:${buyer.address}`;
  const created = await api.create({ value: "900000" });
  const listed = await api.options(created.body.paymentId, [account]);
  const [approve] = listed.body.options[0].actions as Action[];
  if (approve?.data.method !== "eth_sendTransaction") throw new Error("no approval was asked for");
  await api.execute(approve, buyer.key);
  await insist(
    () => api.options(created.body.paymentId, [account]),
    ({ body }) => body.options[0].actions.length === 1,
  );
}

/** One payment by a client that never gives up early; returns its id. */
async function payOnce(world: TestWorld, baseUrl: () => string, index: number): Promise<string> {
  const api = actors(world, baseUrl);
  const symbol = index % 2 === 0 ? "USDC" : "USDT";
  const flow = index % 4 < 2 ? "intermediary" : "direct";
  const buyer = world.buyer(symbol === "USDC" ? "usdc" : "usdt");
  const headers = { "Idempotency-Key": `chaos-${index}` };
  const created = await insist(
    () => api.create({ flow, headers, value: String(1_000 + index) }),
    ({ status }) => status === 201,
  );
  const id = created.body.paymentId as string;
  const account = `eip155:31337:${privateKeyToAccount(buyer.key).address}`;
  const listed = await insist(
    () => api.options(id, [account]),
    ({ body }) => body.options?.length > 0,
  );
  const [option] = listed.body.options as { id: string; actions: Action[] }[];
  if (option === undefined) throw new Error("no option");
  const outputs: string[] = [];
  for (const action of option.actions) outputs.push(await api.execute(action, buyer.key));
  await insist(
    () => api.confirm(id, option.id, outputs),
    ({ status }) => {
      if (status !== 200) throw new Error(`a confirm was refused with ${status}`);
      return true;
    },
  );
  return id;
}

/**
 * Keeps buyers paying while parts are killed in turn at random moments, at least `payments` of them and until all `kills` are done.
 * Returns the payments' ids and what was killed when.
 */
export async function runChaos(
  world: TestWorld,
  options: { payments: number; kills: number; seed: number },
): Promise<{ ids: string[]; killed: string[] }> {
  const next = random(options.seed);
  const chaos = await startChaos(world);
  await approveOnce(world, () => chaos.running.server.baseUrl);
  const ids: string[] = [];
  const killed: string[] = [];
  let index = 0;
  let over = false;
  const lane = async () => {
    while (index < options.payments || !over)
      ids.push(await payOnce(world, () => chaos.running.server.baseUrl, index++));
  };
  const killer = async () => {
    for (let n = 0; n < options.kills; n++) {
      await pause(300 + next() * 1_500);
      const victim = VICTIMS[n % VICTIMS.length] ?? "server";
      killed.push(`${victim} with ${ids.length} confirmed of ${index} begun`);
      await chaos.kill(victim);
    }
    over = true;
  };
  await Promise.all([killer(), ...Array.from({ length: LANES }, lane)]);
  return { ids, killed };
}
