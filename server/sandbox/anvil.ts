import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { rpc } from "./node-rpc.ts";
import { endsWithParent, startProcess } from "./process.ts";

const require = createRequire(import.meta.url);

/**
 * Historical states anvil keeps on disk: enough for reads at `finalized`. Its `--prune-history` is not the way to bound them: with a
 * number its memory grows by hundreds of megabytes in a thousand blocks, and without one reads at `finalized` fail.
 */
const KEPT_STATES = "64";

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
  // What a killed chain left there is of no use to the next one.
  const states =
    stateFile === undefined ? mkdtempSync(join(tmpdir(), "florin-anvil-")) : `${stateFile}.states`;
  rmSync(states, { recursive: true, force: true });
  args.push("--max-persisted-states", KEPT_STATES, "--cache-path", states);
  if (stateFile !== undefined) args.push("--state", stateFile, "--state-interval", "60");
  const [command = "", ...words] = [...endsWithParent(), anvilBinary(), ...args];
  const running = await startProcess(`anvil ${chainId}`, command, words, {
    ready: /Listening on 127\.0\.0\.1:(\d+)/,
  });
  const actual = Number(running.ready[1]);
  const rpcUrl = `http://127.0.0.1:${actual}`;
  // It prints a line for each call, and stands still when whoever started it is too busy to read them.
  await rpc(rpcUrl, "anvil_setLoggingEnabled", [false]);
  return {
    rpcUrl,
    port: actual,
    pid: running.pid,
    chainId,
    async stop() {
      await running.stop();
      rmSync(states, { recursive: true, force: true });
    },
  };
}
