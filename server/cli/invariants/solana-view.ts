import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import {
  assetOf,
  nativeAssetOf,
  TOKEN_2022,
  tokenAccountOf,
} from "#server/chains/solana/assets.ts";
import { gainsOf, type RawTransaction } from "#server/chains/solana/movements.ts";
import { createRpc, type Rpc } from "#server/chains/solana/rpc.ts";
import type { Transfer } from "./chain-view.ts";
import type { SolanaAsset, SolanaNode } from "./solana-node.ts";

/** A final transaction; `gasCost` is all that its fee payer lost, and `transfers` are what accounts gained. */
export type SolanaTx = {
  success: boolean;
  blockNumber: bigint;
  gasCost: bigint;
  transfers: Transfer[];
};

/** What our accounts held together of one asset, in the slot `at`. */
export type Holding = SolanaAsset & { amount: bigint; at: bigint };

/** One cluster as it was when the run began; answers are remembered for the run. */
export type SolanaView = {
  chain: string;
  /** The accounts that pool money. */
  intermediaries: string[];
  /** Read before the database. */
  holdings: Holding[];
  /** The final slot when the run began. */
  finalized: { number: bigint; time: bigint };
  /** Last slot that both the node and the database call final. */
  horizon: bigint;
  /** The first slot whose transactions the node keeps. */
  oldest: bigint;
  /** Final transactions by id; what the node does not know as final is absent. */
  receipts(hashes: string[]): Promise<Map<string, SolanaTx>>;
  /** What these transactions of ours moved out of the accounts that pool money. */
  outflows(hashes: string[]): Promise<Transfer[]>;
  blockTime(slot: bigint): Promise<bigint>;
};

/** A cluster as it was found; `complete` adds what only the database tells. */
export type FoundCluster = { chain: string; complete(read: bigint): SolanaView };

const AT_ONCE = 100;
/** Most accounts a node gives in one answer. */
const ACCOUNTS = 100;
const COMMITMENT = { commitment: "confirmed" };

type Account = { lamports: number; data: [string, string] } | null;

async function holdingOf(rpc: Rpc, owners: string[], one: SolanaAsset): Promise<Holding> {
  const { mint } = one;
  const places =
    mint === null
      ? owners
      : await Promise.all(
          owners.flatMap((owner) =>
            [TOKEN_PROGRAM_ADDRESS, TOKEN_2022].map((program) =>
              tokenAccountOf(owner, mint, program),
            ),
          ),
        );
  if (places.length > ACCOUNTS) throw new Error(`${places.length} accounts pool money`);
  // One answer, so that all of it is of one slot.
  const { context, value } = await rpc.read<{ context: { slot: number }; value: Account[] }>(
    "getMultipleAccounts",
    [places, { encoding: "base64", ...COMMITMENT }],
  );
  const amounts = value
    .filter((account) => account !== null)
    .map(({ lamports, data }) =>
      mint === null ? BigInt(lamports) : Buffer.from(data[0], "base64").readBigUInt64LE(64),
    );
  const amount = amounts.reduce((sum, held) => sum + held, 0n);
  return { ...one, amount, at: BigInt(context.slot) };
}

function toTx(chain: string, hash: string, raw: RawTransaction): SolanaTx {
  const { preBalances = [], postBalances = [], err = null } = raw.meta ?? {};
  const blockNumber = BigInt(raw.slot);
  const transfers = gainsOf(raw).map(({ owner, mint, amount, payer, at }) => ({
    asset: mint === null ? nativeAssetOf(chain) : assetOf(chain, mint),
    from: payer,
    to: owner,
    amount,
    txHash: hash,
    logIndex: at,
    blockHash: "",
    blockNumber,
  }));
  const gasCost = BigInt(preBalances[0] ?? 0) - BigInt(postBalances[0] ?? 0);
  return { success: err === null, blockNumber, gasCost, transfers };
}

function readerOf(rpc: Rpc, chain: string): SolanaView["receipts"] {
  const known = new Map<string, SolanaTx | null>();
  const options = { encoding: "json", commitment: "finalized", maxSupportedTransactionVersion: 0 };
  return async (hashes) => {
    const missing = [...new Set(hashes)].filter((hash) => !known.has(hash));
    for (let from = 0; from < missing.length; from += AT_ONCE) {
      const part = missing.slice(from, from + AT_ONCE);
      const answers = (await rpc.batch(
        part.map((hash) => ({ method: "getTransaction", params: [hash, options] })),
      )) as (RawTransaction | null)[];
      for (const [index, hash] of part.entries()) {
        const raw = answers[index] ?? null;
        known.set(hash, raw === null ? null : toTx(chain, hash, raw));
      }
    }
    return new Map(
      hashes.flatMap((hash) => {
        const tx = known.get(hash);
        return tx == null ? [] : [[hash, tx] as const];
      }),
    );
  };
}

/** Finds a cluster, with what `owners` hold there; throws a sentence when its node is away or on another cluster. */
export async function findCluster(
  chain: string,
  node: SolanaNode,
  owners: string[],
): Promise<FoundCluster> {
  const rpc = createRpc(node.urls, chain.slice("solana:".length));
  const blockTime = async (slot: bigint) =>
    BigInt((await rpc.read<number | null>("getBlockTime", [Number(slot)])) ?? 0);
  const number = BigInt(await rpc.read<number>("getSlot", [{ commitment: "finalized" }]));
  const finalized = { number, time: await blockTime(number) };
  const oldest = BigInt(await rpc.read<number>("getFirstAvailableBlock", []));
  const holdings: Holding[] = [];
  if (owners.length > 0)
    for (const one of node.assets) holdings.push(await holdingOf(rpc, owners, one));
  const receipts = readerOf(rpc, chain);
  return {
    chain,
    complete: (read) => ({
      chain,
      intermediaries: owners,
      holdings,
      finalized,
      horizon: read < number ? read : number,
      oldest,
      receipts,
      outflows: async (hashes) =>
        [...(await receipts(hashes)).values()]
          .flatMap(({ transfers }) => transfers)
          .filter(({ from }) => owners.includes(from)),
      blockTime,
    }),
  };
}
