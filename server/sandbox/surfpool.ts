import { createRequire } from "node:module";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rpc } from "./node-rpc.ts";
import { endsWithParent, startProcess } from "./process.ts";

const require = createRequire(import.meta.url);
const ENTRY = join(fileURLToPath(new URL(".", import.meta.url)), "surfpool-process.ts");

/** The part of surfpool's native module that is used here. */
type Surfnet = {
  startWithConfig(config: { offline: boolean; blockProductionMode: string; slotTimeMs: number }): {
    rpcUrl: string;
    stop(): void;
    drainEvents(): unknown[];
  };
};

/** Native modules by platform; surfpool is published for these two. */
const MODULES: Record<string, string> = {
  "linux-x64": "@solana/surfpool-linux-x64-gnu",
  "darwin-arm64": "@solana/surfpool-darwin-arm64",
};

/** Surfpool's native module; null where npm has none for this platform. */
export function loadSurfnet(): Surfnet | null {
  const name = MODULES[`${process.platform}-${process.arch}`];
  if (name === undefined) return null;
  try {
    return (require(name) as { Surfnet: Surfnet }).Surfnet;
  } catch {
    // An optional package: it was not installed, or does not fit this system's C library.
    return null;
  }
}

/** A running local Solana chain; its genesis, and with it its CAIP-2 id, is new at every start. */
export type Surfpool = { rpcUrl: string; pid: number; caip2: string; stop(): Promise<void> };

/** Words by which the chain of a folder is found again when it outlived its starter. */
export const surfpoolMark = (dir: string): string[] => [ENTRY, `--sandbox=${dir}`];

/** Starts a Solana chain with slots of `slotMs`. It ends with this process, where the system can do that. */
export async function startSurfpool(options: { slotMs: number; dir: string }): Promise<Surfpool> {
  const [entry = "", mark = ""] = surfpoolMark(options.dir);
  const program = [process.execPath, entry, `${options.slotMs}`, mark];
  const [command = "", ...words] = [...endsWithParent(), ...program];
  const running = await startProcess("the Solana chain", command, words, {
    ready: /Solana listening on (http:\/\/\S+)/,
  });
  const rpcUrl = running.ready[1] ?? "";
  const genesis = await rpc<string>(rpcUrl, "getGenesisHash");
  return { rpcUrl, pid: running.pid, caip2: `solana:${genesis.slice(0, 32)}`, stop: running.stop };
}
