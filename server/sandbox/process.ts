import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { createWriteStream, existsSync, readdirSync, readFileSync, readlinkSync } from "node:fs";
import { basename } from "node:path";
import { setTimeout as pause } from "node:timers/promises";

/** A child that said it was ready; `stop` asks it to end, insists after `graceMs`, and resolves when it is gone. */
export type Running = {
  pid: number;
  /** What the ready line said. */
  ready: RegExpExecArray;
  exited: Promise<number>;
  /** The last part of what it printed. */
  output(): string;
  stop(): Promise<void>;
};

const READY_WITHIN_MS = 30_000;
/** Characters of a program's output that are kept for who asks. */
const KEPT_OUTPUT = 200_000;

function waitForLine(child: ChildProcess, pattern: RegExp, name: string): Promise<RegExpExecArray> {
  return new Promise((resolve, reject) => {
    let output = "";
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`${name} was not ready in time:\n${output.slice(-2000)}`));
    }, READY_WITHIN_MS);
    const look = (chunk: Buffer) => {
      output = (output + chunk.toString()).slice(-20_000);
      const found = pattern.exec(output);
      if (found === null) return;
      clearTimeout(timer);
      child.stdout?.off("data", look);
      child.stderr?.off("data", look);
      resolve(found);
    };
    child.stdout?.on("data", look);
    child.stderr?.on("data", look);
    child.once("error", reject);
    child.once("exit", (code) => {
      clearTimeout(timer);
      reject(new Error(`${name} ended with ${code} before it was ready:\n${output.slice(-2000)}`));
    });
  });
}

/** Keeps at least the last `size` characters of what is added, and at most twice as many. */
function lastOf(size: number) {
  let [older, newer] = ["", ""];
  return {
    add(chunk: Buffer) {
      newer += chunk.toString();
      if (newer.length < size) return;
      older = newer;
      newer = "";
    },
    text: () => older + newer,
  };
}

/** Starts a program and waits until a line of its output matches `ready`. */
export async function startProcess(
  name: string,
  command: string,
  args: string[],
  options: {
    ready: RegExp;
    env?: NodeJS.ProcessEnv;
    cwd?: string;
    graceMs?: number;
    stopSignal?: NodeJS.Signals;
    /** File that gets everything the program prints. */
    logFile?: string;
  },
): Promise<Running> {
  const child = spawn(command, args, {
    stdio: ["ignore", "pipe", "pipe"],
    // A group of its own: Ctrl-C reaches the starter alone, which then stops everything in order.
    detached: true,
    ...(options.env === undefined ? {} : { env: options.env }),
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
  });
  if (options.logFile !== undefined) {
    const log = createWriteStream(options.logFile, { flags: "a", mode: 0o600 });
    child.stdout?.pipe(log);
    child.stderr?.pipe(log);
  }
  const exited = new Promise<number>((resolve) => child.once("exit", (code) => resolve(code ?? 1)));
  const printed = lastOf(KEPT_OUTPUT);
  child.stdout?.on("data", printed.add);
  child.stderr?.on("data", printed.add);
  const ready = await waitForLine(child, options.ready, name);
  const pid = child.pid ?? 0;
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(options.stopSignal ?? "SIGTERM");
    const force = setTimeout(() => child.kill("SIGKILL"), options.graceMs ?? 5_000);
    await exited;
    clearTimeout(force);
  };
  return { pid, ready, exited, output: printed.text, stop };
}

/** Programs and their arguments, by process id; only what this user may read. */
function processes(): { pid: number; args: string[] }[] {
  if (existsSync("/proc/self/cmdline"))
    return readdirSync("/proc")
      .filter((name) => /^\d+$/.test(name))
      .map((name) => ({ pid: Number(name), args: argumentsOf(Number(name)) }));
  const listed = spawnSync("ps", ["-axww", "-o", "pid=,command="], { encoding: "utf8" }).stdout;
  return listed
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .map(([pid = "0", ...args]) => ({ pid: Number(pid), args }));
}

/** What the system tells of a live process; empty when it is gone, ending, or not ours to read. */
function ofLive(read: () => string): string {
  try {
    return read();
  } catch (error) {
    if (error instanceof Error && "code" in error) return "";
    throw error;
  }
}

/** The arguments of a live process, its program first; empty when it is gone, ending, or not ours to read. */
export function argumentsOf(pid: number): string[] {
  if (!Number.isInteger(pid) || pid <= 0) return [];
  if (existsSync("/proc/self/cmdline"))
    return ofLive(() => readFileSync(`/proc/${pid}/cmdline`, "utf8"))
      .split("\0")
      .slice(0, -1);
  const listed = spawnSync("ps", ["-ww", "-o", "command=", "-p", String(pid)], {
    encoding: "utf8",
  });
  return listed.stdout
    .trim()
    .split(/\s+/)
    .filter((word) => word !== "");
}

/** True when the process runs a program of this file name and has each of `words` as a whole argument. */
export function isProgram(args: string[], program: string, words: string[]): boolean {
  return basename(args[0] ?? "") === program && words.every((word) => args.includes(word));
}

/** Sends a signal; false: there is no such process any more. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name);
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ESRCH") return false;
    throw error;
  }
}

async function gone(
  pid: number,
  program: string,
  words: string[],
  withinMs: number,
): Promise<boolean> {
  const until = Date.now() + withinMs;
  while (isProgram(argumentsOf(pid), program, words)) {
    if (Date.now() > until) return false;
    await pause(20);
  }
  return true;
}

/** Ends one process by the first of `signals` that works, each given `withinMs`; a pid that is not that program is left alone. */
export async function endProcess(
  pid: number,
  program: string,
  words: string[],
  signals: NodeJS.Signals[],
  withinMs: number,
): Promise<void> {
  for (const one of signals) {
    if (!isProgram(argumentsOf(pid), program, words)) return;
    // It may end between the look and the signal.
    if (!signal(pid, one)) return;
    if (await gone(pid, program, words, withinMs)) return;
  }
  throw new Error(`${program} (process ${pid}) cannot be ended`);
}

/** Ends every process of a program that has each of `words` as a whole argument: what an earlier, killed run left behind. */
export async function endLeftovers(program: string, words: string[]): Promise<void> {
  const found = processes().filter(({ args }) => isProgram(args, program, words));
  await Promise.all(
    found.map(({ pid }) => endProcess(pid, program, words, ["SIGTERM", "SIGKILL"], 5_000)),
  );
}

/** What the system adds to the path of a program that was replaced while it ran. */
const REPLACED = / \(deleted\)$/;

/** Whether a live process runs a program of this file name in a folder, whatever it calls itself; false where the system does not tell. */
export function worksIn(pid: number, folder: string, program: string): boolean {
  if (!existsSync("/proc/self/cwd")) return false;
  if (ofLive(() => readlinkSync(`/proc/${pid}/cwd`)) !== folder) return false;
  return basename(ofLive(() => readlinkSync(`/proc/${pid}/exe`)).replace(REPLACED, "")) === program;
}

/** Kills at once every process of a program that works in a folder; only where the system tells which those are. */
export function killThoseIn(folder: string, program: string): void {
  for (const { pid } of processes()) if (worksIn(pid, folder, program)) signal(pid, "SIGKILL");
}

let dies: string[] | undefined;

/** Words before a command that make it end with this process, where the system can do that; otherwise none. */
export function endsWithParent(): string[] {
  const words = ["setpriv", "--pdeathsig", "TERM", "--"];
  dies ??= spawnSync("setpriv", [...words.slice(1), "true"]).status === 0 ? words : [];
  return dies;
}
