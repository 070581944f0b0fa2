import { renameSync } from "node:fs";
import { join } from "node:path";
import { type Anvil, startAnvil } from "./anvil.ts";
import { endLeftovers } from "./process.ts";
import { furnishSolana, type SolanaMemory, type SolanaWorld } from "./solana-world.ts";
import { loadSurfnet, startSurfpool, surfpoolMark } from "./surfpool.ts";

/** Whatever has to be stopped again; filled while a world starts, so that a failed start leaves nothing running. */
export type Started = { stop(): Promise<void> }[];

async function startChain(dir: string, chainId: number, say: (line: string) => void) {
  const stateFile = join(dir, `chain-${chainId}.json`);
  await endLeftovers("anvil", [stateFile]);
  try {
    return await startAnvil({ chainId, stateFile });
  } catch (error) {
    // A kill in the middle of saving leaves half a file. Without it the chain is empty, and a new world begins.
    if (!(error instanceof Error && error.message.includes("failed to parse json"))) throw error;
    say(`The saved state of chain ${chainId} cannot be read.`);
    renameSync(stateFile, `${stateFile}.unreadable`);
    return startAnvil({ chainId, stateFile });
  }
}

/** Starts the chains of a folder, each from its saved state; one that cannot be started leaves the others in `started`. */
export async function startChains(
  dir: string,
  chainIds: number[],
  { say, started }: { say: (line: string) => void; started: Started },
): Promise<Anvil[]> {
  const settled = await Promise.allSettled(chainIds.map((id) => startChain(dir, id, say)));
  const anvils = settled.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  started.push(...anvils);
  for (const one of settled) if (one.status === "rejected") throw one.reason;
  return anvils;
}

/**
 * Starts the Solana chain of a folder and puts the world's mint and accounts on it. It is a new chain each time, with an id of its
 * own. Null: there is none for this platform, and `say` tells so.
 */
export async function startSolana(
  dir: string,
  slotMs: number,
  memory: SolanaMemory,
  { say, started }: { say: (line: string) => void; started: Started },
): Promise<SolanaWorld | null> {
  if (loadSurfnet() === null) {
    say(`No Solana chain: surfpool is not available for ${process.platform} ${process.arch}.`);
    return null;
  }
  await endLeftovers("node", surfpoolMark(dir));
  const chain = await startSurfpool({ slotMs, dir });
  started.push(chain);
  return furnishSolana(chain, memory);
}
