import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";

/** Linux counts processor time in hundredths of a second for programs (`getconf CLK_TCK`). */
const TICK_MS = 10;

/** Resident memory of a process in kB. */
export function residentKb(pid: number): number {
  if (existsSync(`/proc/${pid}/status`)) {
    const found = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"));
    return Number(found?.[1] ?? Number.NaN);
  }
  return Number(spawnSync("ps", ["-o", "rss=", "-p", String(pid)], { encoding: "utf8" }).stdout);
}

/** Processor time a process has used so far, all its threads; NaN where the system does not tell. */
export function processorMs(pid: number): number {
  const file = `/proc/${pid}/stat`;
  if (!existsSync(file)) return Number.NaN;
  // Fields are counted from behind the program's name, which may contain anything but ends the last parenthesis.
  const fields = readFileSync(file, "utf8").split(") ").at(-1)?.split(" ") ?? [];
  return (Number(fields[11]) + Number(fields[12])) * TICK_MS;
}
