import { existsSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { endsWithParent, startProcess } from "./process.ts";

const require = createRequire(import.meta.url);

/** Historical states anvil keeps: enough for reads at `finalized`, and no growth without end. */
const KEPT_STATES = "256";

/** A running local chain. */
export type Anvil = {
  rpcUrl: string;
  port: number;
  pid: number;
  chainId: number;
  stop(): Promise<void>;
};

/** Path of the anvil binary that npm installed for this platform. */
export function anvilBinary(): string {
  const arch = process.arch === "x64" ? "amd64" : process.arch;
  const name = `@foundry-rs/anvil-${process.platform}-${arch}`;
  const fromAnvil = createRequire(require.resolve("@foundry-rs/anvil/package.json"));
  const path = join(dirname(fromAnvil.resolve(`${name}/package.json`)), "bin", "anvil");
  if (!existsSync(path))
    throw new Error(`anvil has no binary for ${process.platform} ${process.arch}`);
  return path;
}

/**
 * Starts a chain with one-second blocks and moving `safe` and `finalized` tags, and no account that anybody else knows.
 * `stateFile` keeps the chain across a normal stop; `port` 0 or none lets the system choose; `noMining` leaves blocks to the caller.
 * Where the system can do that, it ends with this process, however that ends, and saves its state first.
 */
export async function startAnvil(options: {
  chainId: number;
  port?: number;
  stateFile?: string;
  noMining?: boolean;
}): Promise<Anvil> {
  const { chainId, port = 0, stateFile, noMining = false } = options;
  const args = [
    "--chain-id",
    `${chainId}`,
    "--port",
    `${port}`,
    "--accounts",
    "0",
    "--slots-in-an-epoch",
    "1",
  ];
  args.push(...(noMining ? ["--no-mining"] : ["--block-time", "1"]));
  args.push("--prune-history", KEPT_STATES);
  if (stateFile !== undefined) args.push("--state", stateFile, "--state-interval", "60");
  const [command = "", ...words] = [...endsWithParent(), anvilBinary(), ...args];
  const running = await startProcess(`anvil ${chainId}`, command, words, {
    ready: /Listening on 127\.0\.0\.1:(\d+)/,
  });
  const actual = Number(running.ready[1]);
  return {
    rpcUrl: `http://127.0.0.1:${actual}`,
    port: actual,
    pid: running.pid,
    chainId,
    stop: running.stop,
  };
}
