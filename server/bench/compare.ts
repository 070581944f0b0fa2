import type { Load } from "./load.ts";
import { processorMs } from "./process-facts.ts";
import type { RequestTemplate } from "./raw-http.ts";
import { median, quantile } from "./statistics.ts";

/** One side of a comparison: a process that listens, and what it is asked. */
export type Side = { port: number; pid: number; request: RequestTemplate; expect: number };

/** How long and how often something is measured. */
export type Rounds = { rounds: number; seconds: number; connections: number };

/** What one side did; latencies are of callers that ask again at once, so they contain the waiting for the others. */
export type Measured = {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the listening process alone, for each request; NaN where the system does not tell. */
  cpuUs: number;
};

/** `ratio` and `cpuRatio` are medians over the rounds of ours divided by the floor's. */
export type Compared = { ours: Measured; floor: Measured; ratio: number; cpuRatio: number };

type Round = { perSecond: number; latenciesMs: number[]; cpuUs: number };

async function runOnce(load: Load, side: Side, seconds: number, connections: number) {
  const { port, pid, request, expect } = side;
  const cpuBefore = processorMs(pid);
  const ran = await load.run({ port, connections, seconds, expect, request });
  const count = ran.latenciesMs.length;
  return {
    perSecond: count / ran.seconds,
    latenciesMs: ran.latenciesMs,
    cpuUs: ((processorMs(pid) - cpuBefore) * 1000) / count,
  };
}

const sumUp = (rounds: Round[]): Measured => {
  const latencies = rounds.flatMap(({ latenciesMs }) => latenciesMs);
  return {
    perSecond: median(rounds.map(({ perSecond }) => perSecond)),
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    cpuUs: median(rounds.map(({ cpuUs }) => cpuUs)),
  };
};

const WARM_UP_S = 1;

/** Measures one side alone, after a warm-up. */
export async function measure(load: Load, side: Side, rounds: Rounds): Promise<Measured> {
  await runOnce(load, side, WARM_UP_S, rounds.connections);
  const done: Round[] = [];
  for (let round = 0; round < rounds.rounds; round++)
    done.push(await runOnce(load, side, rounds.seconds, rounds.connections));
  return sumUp(done);
}

/** Measures both sides in turn, so that whatever else the machine does meets both, and divides round by round. */
export async function compare(
  load: Load,
  sides: { ours: Side; floor: Side },
  { rounds, seconds, connections }: Rounds,
): Promise<Compared> {
  const { ours, floor } = sides;
  for (const side of [ours, floor]) await runOnce(load, side, WARM_UP_S, connections);
  const pairs: { ours: Round; floor: Round }[] = [];
  for (let round = 0; round < rounds; round++)
    pairs.push({
      ours: await runOnce(load, ours, seconds, connections),
      floor: await runOnce(load, floor, seconds, connections),
    });
  return {
    ours: sumUp(pairs.map((pair) => pair.ours)),
    floor: sumUp(pairs.map((pair) => pair.floor)),
    ratio: median(pairs.map((pair) => pair.ours.perSecond / pair.floor.perSecond)),
    cpuRatio: median(pairs.map((pair) => pair.ours.cpuUs / pair.floor.cpuUs)),
  };
}
