import { type Hex, numberToHex } from "viem";
import type { Ask } from "./chain-heads.ts";

/** A transaction as it was sent; addresses are lower case, `to` is empty for a creation. */
export type SentTx = {
  hash: string;
  from: string;
  to: string;
  value: bigint;
  blockHash: string;
  blockNumber: bigint;
};

type RawTx = {
  hash: Hex;
  from: Hex;
  to: Hex | null;
  value: Hex;
  blockHash: Hex | null;
  blockNumber: Hex | null;
};

/** Most blocks read with all their transactions: older arrivals of native coin are not compared, and a note says so. */
const BLOCKS_READ = 5_000n;
const AT_ONCE = 100;

const toSent = (raw: RawTx): SentTx => ({
  hash: raw.hash.toLowerCase(),
  from: raw.from.toLowerCase(),
  to: (raw.to ?? "").toLowerCase(),
  value: BigInt(raw.value),
  blockHash: (raw.blockHash ?? "").toLowerCase(),
  blockNumber: BigInt(raw.blockNumber ?? 0),
});

/** The first block of a range whose transactions are looked through. */
export const nativeFrom = ({ from, to }: { from: bigint; to: bigint }): bigint =>
  to - from > BLOCKS_READ ? to - BLOCKS_READ : from;

/** Mined transactions by hash; those that no block has are left out. */
export async function readSent(ask: Ask, hashes: string[]): Promise<SentTx[]> {
  const found: SentTx[] = [];
  for (let at = 0; at < hashes.length; at += AT_ONCE) {
    const raws = await Promise.all(
      hashes
        .slice(at, at + AT_ONCE)
        .map((hash) => ask<RawTx | null>("eth_getTransactionByHash", [hash])),
    );
    found.push(
      ...raws.filter((raw) => raw?.blockNumber != null).map((raw) => toSent(raw as RawTx)),
    );
  }
  return found;
}

/** Every transaction of a range with value from or to one of `accounts`, whether it went through or not. */
async function readValueTxs(
  ask: Ask,
  range: { from: bigint; to: bigint },
  accounts: ReadonlySet<string>,
): Promise<SentTx[]> {
  const found: SentTx[] = [];
  for (let at = nativeFrom(range); at <= range.to; at += BigInt(AT_ONCE)) {
    const numbers = Array.from({ length: AT_ONCE }, (_, index) => at + BigInt(index)).filter(
      (number) => number <= range.to,
    );
    const blocks = await Promise.all(
      numbers.map((number) =>
        ask<{ transactions: RawTx[] }>("eth_getBlockByNumber", [numberToHex(number), true]),
      ),
    );
    for (const tx of blocks.flatMap(({ transactions }) => transactions.map(toSent)))
      if (tx.value > 0n && (accounts.has(tx.from) || accounts.has(tx.to))) found.push(tx);
  }
  return found;
}

type Looked = {
  range: { from: bigint; to: bigint };
  intermediaries: string[];
  signers: string[];
  coinPayouts: string[];
};

/** Transfers of native coin from or to our accounts that went through, each a whole transaction (log -1). */
export async function readCoins(
  ask: Ask,
  asset: string | null,
  { range, intermediaries, signers, coinPayouts }: Looked,
  receiptsOf: (hashes: string[]) => Promise<Map<string, { success: boolean }>>,
) {
  if (asset === null || intermediaries.length === 0) return [];
  const sent = [
    ...(await readValueTxs(ask, range, new Set([...intermediaries, ...signers]))),
    ...(await readSent(ask, coinPayouts)),
  ].filter(({ blockNumber }) => blockNumber <= range.to);
  const byHash = new Map(sent.map((tx) => [tx.hash, tx] as const));
  const receipts = await receiptsOf([...byHash.keys()]);
  return [...byHash.values()]
    .filter(({ hash }) => receipts.get(hash)?.success === true)
    .map(({ hash, value, ...tx }) => ({ ...tx, asset, amount: value, txHash: hash, logIndex: -1 }));
}
