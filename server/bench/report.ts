import { cpus, loadavg, totalmem } from "node:os";
import type { BenchWorld } from "./bench-world.ts";
import type { Compared, Measured } from "./compare.ts";
import type { Confirmed } from "./confirms.ts";
import type { Held } from "./held-polls.ts";
import type { Painted } from "./page-load.ts";
import type { Trips } from "./round-trips.ts";

const whole = (value: number): string => (Number.isNaN(value) ? "-" : value.toFixed(0));
const short = (value: number): string =>
  Number.isNaN(value) ? "-" : value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0);
const percent = (value: number): string => `${(value * 100).toFixed(0)} %`;
const megabytes = (kb: number): string => whole(kb / 1024);

/** A table in Markdown whose columns line up; the first row is its head. */
export function table(rows: string[][]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(3, ...rows.map((row) => row[column]?.length ?? 0)),
  );
  const lines = rows.map(
    (row) => `| ${widths.map((width, column) => (row[column] ?? "").padEnd(width)).join(" | ")} |`,
  );
  const rule = `| ${widths.map((width) => "-".repeat(width)).join(" | ")} |`;
  return [lines[0], rule, ...lines.slice(1)].join("\n");
}

/** The machine in one line; `load` is its load average before anything was started. */
export async function machine(world: BenchWorld, load: number): Promise<string> {
  const [row] = await world.db.query<{ server_version: string }>("show server_version");
  const processors = cpus();
  return `${processors.length} cores (${processors[0]?.model.trim()}), ${whole(totalmem() / 2 ** 30)} GiB, Node ${process.version.slice(1)}, PostgreSQL ${row?.server_version.split(" ")[0]}, load average ${load.toFixed(1)} before the run`;
}

/** The system's load average over the last minute. */
export const loadNow = (): number => loadavg()[0] ?? Number.NaN;

const measuredCells = ({ perSecond, p50Ms, p99Ms, cpuUs }: Measured): string[] => [
  whole(perSecond),
  short(p50Ms),
  short(p99Ms),
  whole(cpuUs),
];

/** Two lines for each comparison, with the ratio on the first. */
export const comparedTable = (rows: { name: string; compared: Compared }[]): string =>
  table([
    ["", "per second", "p50 ms", "p99 ms", "CPU us each", "ratio", "CPU ratio"],
    ...rows.flatMap(({ name, compared: { ours, floor, ratio, cpuRatio } }) => [
      [name, ...measuredCells(ours), short(ratio), short(cpuRatio)],
      ["  its floor", ...measuredCells(floor), "1", "1"],
    ]),
  ]);

/** What has no floor. */
export const measuredTable = (rows: { name: string; measured: Measured }[]): string =>
  table([
    ["", "per second", "p50 ms", "p99 ms", "CPU us each"],
    ...rows.map(({ name, measured }) => [name, ...measuredCells(measured)]),
  ]);

/** Medians of whole numbers. */
export const tripsTable = (trips: Trips[]): string =>
  table([
    ["call", "SQL round trips", "RPC round trips"],
    ...trips.map(({ call, sql, rpc }) => [call, String(sql), String(rpc)]),
  ]);

/** How long a buyer waits. */
export const confirmedTable = (c: Confirmed): string =>
  table([
    [`confirm to succeeded, ${c.count} payments`, "p50", "p99"],
    ["ms", whole(c.p50Ms), whole(c.p99Ms)],
    [`block intervals of ${whole(c.intervalMs)} ms`, short(c.p50Blocks), short(c.p99Blocks)],
    ["ms after the arrival of its block", whole(c.afterBlockP50Ms), whole(c.afterBlockP99Ms)],
    ["share in the next block to arrive", percent(c.inNextBlock), ""],
    [`share within one interval and ${c.goalMs} ms`, percent(c.withinGoal), ""],
  ]);

/** What waiting costs, and how soon it ends. */
export const heldTable = (h: Held): string =>
  table([
    [`${h.count} held polls`, "", ""],
    ["server at rest, before anything was asked, MB", megabytes(h.idleKb), ""],
    ["before the polls, MB", megabytes(h.beforeKb), ""],
    ["while they are held, MB", megabytes(h.heldKb), ""],
    ["kB each", short(h.kbEach), ""],
    ["COMMIT to answer", "p50 ms", "p99 ms"],
    [`${h.single.count} changed one by one`, short(h.single.p50Ms), short(h.single.p99Ms)],
    [`${h.burst.count} changed by one transaction`, short(h.burst.p50Ms), short(h.burst.p99Ms)],
  ]);

/** What a buyer waits for; the line below each page is its floor. */
export const paintedTable = (pages: Painted[]): string =>
  table([
    ["", "first byte ms", "largest paint ms", "ratio", "layout shift"],
    ...pages.map(({ name, firstByteMs, largestMs, shift }, index) => {
      const floor = pages[index + 1 - (index % 2)]?.largestMs ?? Number.NaN;
      const ratio = index % 2 === 0 ? short(largestMs / floor) : "1";
      return [name, whole(firstByteMs), whole(largestMs), ratio, shift.toFixed(3)];
    }),
  ]);
