import { type Hex, numberToHex } from "viem";

/** One call to a node, by its JSON-RPC name. */
export type Ask = <T>(method: string, params: unknown[]) => Promise<T>;
export type Block = { number: bigint; hash: string; time: bigint };
export type RawBlock = { number: Hex; hash: Hex; timestamp: Hex };

/** A block as a node answers it. */
export const toBlock = (raw: RawBlock): Block => ({
  number: BigInt(raw.number),
  hash: raw.hash,
  time: BigInt(raw.timestamp),
});

async function readCounts(ask: Ask, signers: string[], finalized: bigint) {
  const count = async (signer: string, at: string) =>
    BigInt(await ask<Hex>("eth_getTransactionCount", [signer, at]));
  return new Map(
    await Promise.all(
      signers.map(
        async (signer) =>
          [
            signer,
            {
              latest: await count(signer, "latest"),
              finalized: await count(signer, numberToHex(finalized)),
            },
          ] as const,
      ),
    ),
  );
}

/** A node that was just started may lack the state of blocks from before: until the next ones are final. */
const STATE_TRIES = 6;
const STATE_EVERY_MS = 1_000;

/** The head and the final block, with the counts of our signers at both. */
export async function readHeads(ask: Ask, signers: string[]) {
  for (let attempt = 1; ; attempt++) {
    const [latest, last] = await Promise.all([
      ask<RawBlock>("eth_getBlockByNumber", ["latest", false]),
      ask<RawBlock | null>("eth_getBlockByNumber", ["finalized", false]),
    ]);
    if (last === null) throw new Error("its node has no finalized block");
    const finalized = toBlock(last);
    try {
      const counts = await readCounts(ask, signers, finalized.number);
      return { latest: toBlock(latest), finalized, counts };
    } catch (error) {
      if (attempt === STATE_TRIES) throw error;
      await new Promise((resolve) => setTimeout(resolve, STATE_EVERY_MS));
    }
  }
}
