import { once } from "node:events";
import { readFileSync } from "node:fs";

/** What a fail point does when it is reached for the nth time. */
type Armed = { point: string; action: string; nth: number };

/** Ends every hang of the process that gets it. */
const RELEASE = "SIGUSR2";
const FOREVER_MS = 2 ** 31 - 1;

function parse(value: string): Armed {
  const match = /^([a-z_.]+):(exit|throw|hang)(?:@(\d+))?$/.exec(value);
  if (match === null) throw new Error(`FAILPOINT: not understood: ${value}`);
  return { point: match[1] ?? "", action: match[2] ?? "", nth: Number(match[3] ?? 1) };
}

const parseAll = (spec: string): Armed[] => spec.split(",").map((part) => parse(part.trim()));

/** The file that says what is armed, and what it said last; null: nothing can change any more. */
let source: { file: string; said: string } | null = null;
let armed: Armed[] = [];
const reached = new Map<string, number>();

/**
 * Arms the points of a comma list such as `submit.after_commit_raw:exit@1`; called once at start. `@` and a path: the list is in
 * that file, which may change at any time and may be empty. What a point does: `exit` kills the process, `throw` throws, and `hang`
 * waits until the process gets SIGUSR2.
 */
export function armFailpoints(spec: string | undefined): void {
  reached.clear();
  source = spec?.startsWith("@") ? { file: spec.slice(1), said: "" } : null;
  armed = spec === undefined || source !== null ? [] : parseAll(spec);
  lookAtFile();
}

function read(file: string): string {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new Error(`FAILPOINT: ${message}`, { cause: error });
  }
}

/** Takes over what the file says now; a point that was reached before counts from one again. */
function lookAtFile(): void {
  if (source === null) return;
  const says = read(source.file);
  if (says === source.said) return;
  source.said = says;
  armed = says === "" ? [] : parseAll(says);
  reached.clear();
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** A named crash point: nothing happens unless it was armed, which live mode refuses. */
export async function failpoint(point: string): Promise<void> {
  lookAtFile();
  if (armed.length === 0) return;
  const count = (reached.get(point) ?? 0) + 1;
  reached.set(point, count);
  const hit = armed.find((one) => one.point === point && one.nth === count);
  if (hit === undefined) return;
  // Whoever reads the line may release at once; without a listener the signal would end the process.
  const released = hit.action === "hang" ? once(process, RELEASE) : null;
  process.stderr.write(`failpoint ${point}:${hit.action}@${hit.nth}\n`);
  if (hit.action === "exit") process.kill(process.pid, "SIGKILL");
  if (hit.action === "throw") throw new Error(`failpoint ${point}`);
  await (released ?? pause(FOREVER_MS));
}
