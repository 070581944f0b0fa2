import { issueKey } from "#server/db/credentials.ts";
import { paymentTx } from "#server/db/payment-tx.ts";
import { ask, createMany, walletHeaders } from "./api.ts";
import type { BenchWorld } from "./bench-world.ts";
import type { Load } from "./load.ts";
import { monotonicMs } from "./load-messages.ts";
import { residentKb } from "./process-facts.ts";
import { requestText } from "./raw-http.ts";
import { median, quantile } from "./statistics.ts";

/** Fewer than a server holds for one key, so that none is answered for that. */
const POLLS_PER_KEY = 150;
/** Longer than a server and its garbage collector need to come to rest. */
const SETTLE_MS = 2_500;
const CHANGES_PER_SECOND = 100;
/** After this long no more payments are changed one by one: a poll is held for 25 seconds, and all are to be answered for a change. */
const SINGLES_WITHIN_MS = 14_000;
const MAX_SINGLES = 1_000;

/** Latencies run from the COMMIT being sent to the answer having arrived; all in ms. */
export type Held = {
  count: number;
  idleKb: number;
  beforeKb: number;
  heldKb: number;
  kbEach: number;
  /** Each payment changed by a transaction of its own. */
  single: { count: number; p50Ms: number; p99Ms: number };
  /** Many payments changed by one transaction. */
  burst: { count: number; p50Ms: number; p99Ms: number };
};

const settle = (ms = SETTLE_MS) => new Promise((resolve) => setTimeout(resolve, ms));

/** The median of a few looks: resident memory moves by itself. */
async function restingKb(pid: number): Promise<number> {
  await settle();
  const looks: number[] = [];
  for (let look = 0; look < 5; look++) {
    looks.push(residentKb(pid));
    await settle(100);
  }
  return median(looks);
}

/** Cancels payments in one transaction, as a merchant's cancel would, but for its COMMIT; the result sends that and returns when. */
async function prepareCancel(world: BenchWorld, ids: string[]): Promise<() => Promise<number>> {
  const client = await world.db.pool.connect();
  const tx = paymentTx(
    async <Row>(text: string, values: unknown[] = []) =>
      (await client.query(text, values)).rows as Row[],
  );
  const undo = async (error: unknown) => {
    await client.query("rollback");
    client.release();
    throw error;
  };
  const change = async (id: string) => {
    const payment = await tx.lockPayment(id);
    if (payment === null) throw new Error(`${id} is not there`);
    const changed = await tx.change(payment, { type: "cancelled_by_merchant", body: {} });
    if (changed.kind !== "applied") throw new Error(`${id} cannot be cancelled`);
  };
  await client.query("begin");
  await client.query("set local idle_in_transaction_session_timeout = 0");
  for (const id of ids) await change(id).catch(undo);
  return async () => {
    const at = monotonicMs();
    await client.query("commit");
    client.release();
    return at;
  };
}

const cancel = async (world: BenchWorld, ids: string[]): Promise<number> =>
  (await prepareCancel(world, ids))();

const summary = (latencies: number[]) => ({
  count: latencies.length,
  p50Ms: quantile(latencies, 0.5),
  p99Ms: quantile(latencies, 0.99),
});

async function walletKeys(world: BenchWorld, count: number): Promise<string[]> {
  const owner = {
    partnerId: world.demo.partnerId,
    merchantId: null,
    environment: "test" as const,
    scopes: ["gateway" as const],
  };
  const keys: string[] = [];
  for (let n = 0; n < count; n++)
    keys.push((await issueKey(world.db.query, world.world.memory.pepper, owner)).key);
  return keys;
}

/** Changes payments one after the other; returns when each was. Those that time does not suffice for are changed together. */
async function changeSingly(world: BenchWorld, ids: string[], until: number): Promise<number[]> {
  const committedAt: number[] = [];
  for (const id of ids) {
    if (monotonicMs() > until) break;
    committedAt.push(await cancel(world, [id]));
    await settle(1000 / CHANGES_PER_SECOND);
  }
  const late = ids.slice(committedAt.length);
  if (late.length > 0) await cancel(world, late);
  return committedAt;
}

/** Holds `count` polls, one for each of as many payments, on a server that has done little else, and changes every payment. */
export async function measureHeldPolls(
  load: Load,
  world: BenchWorld,
  count: number,
): Promise<Held> {
  const server = await world.startServer({
    FLORIN_HELD_PER_PROCESS: String(count),
    FLORIN_MAX_IN_FLIGHT: String(2 * count),
  });
  const idleKb = await restingKb(server.pid);
  const ids = await createMany(world, server.baseUrl, count);
  for (const id of ids.slice(0, 200))
    await ask(server.baseUrl, "GET", `/v1/gateway/payment/${id}/status`, walletHeaders(world));
  const keys = await walletKeys(world, Math.ceil(count / POLLS_PER_KEY));
  const singles = Math.min(MAX_SINGLES, Math.floor(count / 2));
  // Thousands of changes take longer than a poll is held: they are made before, and seen by nobody until the COMMIT.
  const burst = await prepareCancel(world, ids.slice(singles));
  const beforeKb = await restingKb(server.pid);
  const askedAt = monotonicMs();
  const { answers } = await load.hold({
    port: server.port,
    count,
    expect: '"cancelled"',
    request: {
      text: requestText("GET", "/v1/gateway/payment/{id}/status?maxPollMs=25000", {
        "Api-Key": "{key}",
      }),
      values: { id: ids, key: keys },
    },
  });
  const heldKb = await restingKb(server.pid);
  const committedAt = await changeSingly(world, ids.slice(0, singles), askedAt + SINGLES_WITHIN_MS);
  const burstAt = await burst();
  const { answeredAt } = await answers;
  await server.stop();
  const latencies = answeredAt.map((at, n) => at - (committedAt[n] ?? burstAt));
  return {
    count,
    idleKb,
    beforeKb,
    heldKb,
    kbEach: (heldKb - beforeKb) / count,
    single: summary(latencies.slice(0, committedAt.length)),
    burst: summary(latencies.slice(singles)),
  };
}
