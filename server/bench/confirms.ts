import { ask, createMany, walletHeaders } from "./api.ts";
import type { BenchServer, BenchWorld } from "./bench-world.ts";
import { type Blocks, watchBlocks } from "./blocks.ts";
import { median, quantile, share } from "./statistics.ts";
import { confirm, type Signed, signUsdc } from "./wallet.ts";

/** What the goal adds to one block interval. */
const GOAL_MS = 300;

type Paid = { paymentId: string; sentAt: number; answeredAt: number; block: bigint };

/** From the confirm sent to the long poll that says `succeeded`; times in ms, `blocks` in intervals as they were seen. */
export type Confirmed = {
  count: number;
  intervalMs: number;
  p50Ms: number;
  p99Ms: number;
  p50Blocks: number;
  p99Blocks: number;
  /** After the arrival of the block that holds the transfer. */
  afterBlockP50Ms: number;
  afterBlockP99Ms: number;
  /** Share that succeeded in the first block to arrive after the confirm was sent, and share within an interval and `goalMs`. */
  inNextBlock: number;
  withinGoal: number;
  goalMs: number;
};

type Standing = { status: string; isFinal: boolean };

async function waitForSuccess(world: BenchWorld, baseUrl: string, id: string): Promise<void> {
  for (;;) {
    const path = `/v1/gateway/payment/${id}/status?maxPollMs=25000`;
    const standing = await ask<Standing>(baseUrl, "GET", path, walletHeaders(world));
    if (standing.status === "succeeded") return;
    if (standing.isFinal) throw new Error(`${id} ended as ${standing.status}`);
  }
}

async function payOne(world: BenchWorld, baseUrl: string, signed: Signed) {
  const sentAt = performance.now();
  await confirm(world, baseUrl, signed);
  await waitForSuccess(world, baseUrl, signed.paymentId);
  return { paymentId: signed.paymentId, sentAt, answeredAt: performance.now() };
}

/** Pauses of 0 to twice the mean, so that confirms meet the block clock at every phase. */
const pause = (perSecond: number) =>
  new Promise((resolve) => setTimeout(resolve, (Math.random() * 2_000) / perSecond));

async function signMany(world: BenchWorld, baseUrl: string, ids: string[]): Promise<Signed[]> {
  const signed: Signed[] = [];
  const waiting = ids.values();
  const lane = async () => {
    for (const id of waiting) signed.push(await signUsdc(world, baseUrl, id));
  };
  await Promise.all([lane(), lane(), lane(), lane()]);
  return signed;
}

async function blocksOf(world: BenchWorld, ids: string[]): Promise<Map<string, bigint>> {
  const rows = await world.db.query<{ id: string; block: string }>(
    "select payment_id as id, block_number as block from capture where payment_id = any($1)",
    [ids],
  );
  return new Map(rows.map(({ id, block }) => [id, BigInt(block)]));
}

function sumUp(paid: Paid[], blocks: Blocks): Confirmed {
  const arrivals = blocks.all();
  const intervals = arrivals.slice(1).map((at, index) => at - (arrivals[index] ?? at));
  const intervalMs = median(intervals);
  const totals = paid.map(({ sentAt, answeredAt }) => answeredAt - sentAt);
  const after = paid.flatMap(({ answeredAt, block }) => {
    const at = blocks.arrivedAt(block);
    return at === null ? [] : [answeredAt - at];
  });
  const nextAfter = (time: number) => arrivals.find((at) => at > time);
  const [p50Ms, p99Ms] = [quantile(totals, 0.5), quantile(totals, 0.99)];
  return {
    count: paid.length,
    intervalMs,
    p50Ms,
    p99Ms,
    p50Blocks: p50Ms / intervalMs,
    p99Blocks: p99Ms / intervalMs,
    afterBlockP50Ms: quantile(after, 0.5),
    afterBlockP99Ms: quantile(after, 0.99),
    inNextBlock: share(paid, (one) => blocks.arrivedAt(one.block) === nextAfter(one.sentAt)),
    withinGoal: share(totals, (ms) => ms <= intervalMs + GOAL_MS),
    goalMs: GOAL_MS,
  };
}

/** Confirms `count` payments of 12.50 USD, which one confirmation is enough for, about `perSecond` of them a second. */
export async function measureConfirms(
  { world, server }: { world: BenchWorld; server: BenchServer },
  { count, perSecond }: { count: number; perSecond: number },
): Promise<Confirmed> {
  const { baseUrl } = server;
  const ids = await createMany(world, baseUrl, count);
  const signed = await signMany(world, baseUrl, ids);
  const blocks = await watchBlocks(world.rpcUrl);
  try {
    const running: ReturnType<typeof payOne>[] = [];
    for (const one of signed) {
      await pause(perSecond);
      const paying = payOne(world, baseUrl, one);
      // Its failure is seen below; until then it is nobody's.
      paying.catch(() => undefined);
      running.push(paying);
    }
    const paid = await Promise.all(running);
    const blockOf = await blocksOf(world, ids);
    return sumUp(
      paid.map((one) => ({ ...one, block: blockOf.get(one.paymentId) ?? -1n })),
      blocks,
    );
  } finally {
    blocks.stop();
  }
}
