import { type ChildProcess, spawn } from "node:child_process";
import { createWriteStream, readFileSync } from "node:fs";

/** A child that said it was ready; `stop` asks it to end, insists after `graceMs`, and resolves when it is gone. */
export type Running = {
  pid: number;
  /** What the ready line said. */
  ready: RegExpExecArray;
  exited: Promise<number>;
  stop(): Promise<void>;
};

const READY_WITHIN_MS = 30_000;

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
  const ready = await waitForLine(child, options.ready, name);
  const pid = child.pid ?? 0;
  const stop = async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill(options.stopSignal ?? "SIGTERM");
    const force = setTimeout(() => child.kill("SIGKILL"), options.graceMs ?? 5_000);
    await exited;
    clearTimeout(force);
  };
  return { pid, ready, exited, stop };
}

/** The command line of a live process, or null: gone, or not ours to read. */
export function commandLine(pid: number): string | null {
  try {
    const text = readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ").trim();
    return text === "" ? null : text;
  } catch {
    return null;
  }
}

/** Ends a process left behind by an earlier run, if `pid` really is it: its command line must contain every word. */
export async function endLeftover(pid: number, words: string[]): Promise<boolean> {
  const line = commandLine(pid);
  if (line === null || !words.every((word) => line.includes(word))) return false;
  process.kill(pid, "SIGKILL");
  for (let tries = 0; tries < 100 && commandLine(pid) !== null; tries++)
    await new Promise((resolve) => setTimeout(resolve, 20));
  return true;
}
