import { type BenchWorld, startBenchWorld } from "./bench-world.ts";
import type { Rounds } from "./compare.ts";
import { measureConfirms } from "./confirms.ts";
import { measureCreates } from "./creates.ts";
import { startFloor } from "./floor.ts";
import { measureHeldPolls } from "./held-polls.ts";
import { type Load, startLoad } from "./load.ts";
import { makeHolders, measureOptions } from "./options.ts";
import { measurePages } from "./page-load.ts";
import {
  comparedTable,
  confirmedTable,
  heldTable,
  loadNow,
  machine,
  measuredTable,
  paintedTable,
  tripsTable,
} from "./report.ts";
import { measureRoundTrips } from "./round-trips.ts";
import { measureStatusReads } from "./status-reads.ts";

const USAGE = `Measures a production server against the least it could cost, in a world of its own.

  npm run bench               every figure, in less than seven minutes
  npm run bench -- --quick    fewer and shorter rounds, in about one
`;

type Plan = {
  rounds: Rounds;
  options: Rounds;
  accounts: number;
  /** Payments that are read. */
  read: number;
  confirms: { count: number; perSecond: number };
  held: number;
};

const CONNECTIONS = 32;
const FULL: Plan = {
  rounds: { rounds: 7, seconds: 2.5, connections: CONNECTIONS },
  options: { rounds: 3, seconds: 3, connections: 8 },
  accounts: 1_000,
  read: 5_000,
  confirms: { count: 100, perSecond: 5 },
  held: 5_000,
};
const QUICK: Plan = {
  rounds: { rounds: 3, seconds: 0.7, connections: CONNECTIONS },
  options: { rounds: 1, seconds: 2, connections: 8 },
  accounts: 200,
  read: 2_000,
  confirms: { count: 25, perSecond: 5 },
  held: 300,
};

const say = (text: string) => void process.stdout.write(`${text}\n\n`);

/** Payments of this run that wait for their buyer, newest first. */
const openPayments = async (world: BenchWorld, limit: number): Promise<string[]> =>
  (
    await world.db.query<{ id: string }>(
      "select id from payment where status = 'requires_action' order by created_at desc limit $1",
      [limit],
    )
  ).map(({ id }) => id);

/** Everything that is asked of one server under load. */
async function measureServer(world: BenchWorld, load: Load, plan: Plan): Promise<void> {
  const server = await world.startServer();
  const floor = await startFloor(world, server.baseUrl);
  const parts = { world, server, floor };
  const { rounds } = plan;
  const plain = await measureCreates(load, parts, rounds, { key: null });
  const keyed = await measureCreates(load, parts, rounds, { key: "bench" });
  const ids = await openPayments(world, plan.read);
  const shop = await measureStatusReads(load, parts, rounds, { caller: "merchant", ids });
  const wallet = await measureStatusReads(load, parts, rounds, { caller: "gateway", ids });
  say(
    comparedTable([
      { name: "create", compared: plain },
      { name: "create with Idempotency-Key", compared: keyed },
      { name: "merchant status", compared: shop },
      { name: "gateway status", compared: wallet },
    ]),
  );
  await floor.stop();
  const accounts = await makeHolders(world, plan.accounts);
  const options = await measureOptions(load, parts, plan.options, { ids, accounts });
  say(measuredTable([{ name: "options of one account", measured: options }]));
  say(confirmedTable(await measureConfirms(parts, plan.confirms)));
  say(paintedTable(await measurePages(server, ids[0] ?? "")));
  await server.stop();
}

async function main(words: string[]): Promise<number> {
  if (words.some((word) => word !== "--quick")) {
    process.stderr.write(USAGE);
    return 2;
  }
  const plan = words.includes("--quick") ? QUICK : FULL;
  const before = loadNow();
  const startedAt = performance.now();
  const world = await startBenchWorld();
  const load = startLoad();
  const stop = async () => {
    await load.stop();
    await world.stop();
  };
  for (const signal of ["SIGINT", "SIGTERM"] as const)
    process.once(signal, () => void stop().finally(() => process.exit(1)));
  try {
    say(await machine(world, before));
    await measureServer(world, load, plan);
    say(heldTable(await measureHeldPolls(load, world, plan.held)));
    say(tripsTable(await measureRoundTrips(world)));
    say(`${((performance.now() - startedAt) / 1000).toFixed(0)} s in all`);
    return 0;
  } finally {
    await stop();
  }
}

process.exitCode = await main(process.argv.slice(2));
