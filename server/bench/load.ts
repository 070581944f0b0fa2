import { type ChildProcess, fork } from "node:child_process";
import { fileURLToPath } from "node:url";
import type { LoadOrder, LoadReport } from "./load-messages.ts";

type Asked<K extends LoadOrder["kind"]> = Omit<LoadOrder & { kind: K }, "kind">;
type Told<K extends LoadReport["kind"]> = LoadReport & { kind: K };

/** A process of its own that sends requests, one order at a time. Throws when an answer is not the expected one. */
export type Load = {
  run(order: Asked<"run">): Promise<Told<"ran">>;
  /** Resolves once everything was asked; `answers` once everything was answered. */
  hold(order: Asked<"hold">): Promise<{ answers: Promise<Told<"held">> }>;
  stop(): Promise<void>;
};

/** How much longer than its own time an order may take. */
const PATIENCE_MS = 60_000;

/** Reports of one kind, as they come. */
function heard<K extends LoadReport["kind"]>(
  child: ChildProcess,
  kind: K,
  withinMs: number,
): Promise<Told<K>> {
  return new Promise((resolve, reject) => {
    const done = () => {
      clearTimeout(timer);
      child.off("message", listen);
      child.off("exit", gone);
    };
    const listen = (report: LoadReport) => {
      if (report.kind !== kind && report.kind !== "broke") return;
      done();
      if (report.kind === "broke") reject(new Error(`the load broke off: ${report.message}`));
      else resolve(report as Told<K>);
    };
    const gone = () => {
      done();
      reject(new Error("the load process ended"));
    };
    const timer = setTimeout(() => {
      done();
      reject(new Error(`the load did not report "${kind}" in time`));
    }, withinMs);
    child.on("message", listen);
    child.once("exit", gone);
  });
}

function requireRight<T extends { wrong: string[] }>(report: T): T {
  if (report.wrong.length > 0)
    throw new Error(`answers that were not expected, such as:\n${report.wrong.join("\n")}`);
  return report;
}

/** Starts a load process. */
export function startLoad(): Load {
  const child = fork(fileURLToPath(new URL("./load-process.ts", import.meta.url)), {
    serialization: "advanced",
  });
  const exited = new Promise<void>((resolve) => child.once("exit", () => resolve()));
  return {
    async run(order) {
      child.send({ kind: "run", ...order });
      return requireRight(await heard(child, "ran", order.seconds * 1000 + PATIENCE_MS));
    },
    async hold(order) {
      const asked = heard(child, "asked", PATIENCE_MS);
      const held = heard(child, "held", 2 * PATIENCE_MS).then(requireRight);
      // Whoever waits for the answers sees the failure; until then it is nobody's.
      held.catch(() => undefined);
      child.send({ kind: "hold", ...order });
      await asked;
      return { answers: held };
    },
    async stop() {
      if (child.connected) child.disconnect();
      await exited;
    },
  };
}
