import {
  type Arrival,
  type BlockRef,
  type ChainHead,
  ChainUnavailable,
  type Receipt,
  type SentTransfer,
  type TransferQuery,
  type TxFate,
} from "#server/ports/chain.ts";
import { acceptsNative, assetOf, nativeAssetOf, tokenAccountOf } from "./assets.ts";
import type { Context } from "./context.ts";
import { gainsOf, type RawTransaction } from "./movements.ts";

type SignatureInfo = {
  signature: string;
  slot: number;
  err: unknown;
  blockTime: number | null;
  confirmationStatus: string | null;
};
type Status = { slot: number; err: unknown; confirmationStatus: string | null } | null;

/** Signatures asked for at first, and on every further page. */
const FIRST_PAGE = 50;
const PAGE = 1_000;
/** Most transactions remembered, so that a stretch that is read again costs nothing. */
const REMEMBERED = 5_000;

const ref = (number: bigint, time: bigint): BlockRef => ({
  number,
  hash: `slot:${number}`,
  parent: "",
  time,
});

/** The newest confirmed and finalized slots. There is no tag between them. */
export async function readHead({ rpc }: Context): Promise<ChainHead> {
  const [latest, finalized] = await rpc.batch([
    { method: "getSlot", params: [{ commitment: "confirmed" }] },
    { method: "getSlot", params: [{ commitment: "finalized" }] },
  ]);
  if (!Number.isSafeInteger(latest) || !Number.isSafeInteger(finalized))
    throw new ChainUnavailable("a node answered something else than slots");
  const final = BigInt(finalized as number);
  return { latest: ref(BigInt(latest as number), 0n), safe: final, finalized: ref(final, 0n) };
}

async function signaturesOf(
  { rpc }: Context,
  account: string,
  from: bigint,
): Promise<SignatureInfo[]> {
  const all: SignatureInfo[] = [];
  for (let before: string | undefined, limit = FIRST_PAGE; ; limit = PAGE) {
    const page = await rpc.read<SignatureInfo[]>("getSignaturesForAddress", [
      account,
      { limit, commitment: "confirmed", ...(before === undefined ? {} : { before }) },
    ]);
    all.push(...page);
    const last = page.at(-1);
    if (last === undefined || page.length < limit || BigInt(last.slot) < from) return all;
    before = last.signature;
  }
}

/** Accounts in which money of a recipient arrives: its own, where native coin is accepted, and its token accounts. */
async function placesOf(context: Context, recipient: string): Promise<string[]> {
  const tokens = await Promise.all(
    [...context.programs].map(([mint, program]) => tokenAccountOf(recipient, mint, program)),
  );
  return [...(acceptsNative(context.entry) ? [recipient] : []), ...tokens];
}

/** Reader of what arrives; remembers transactions it has read. */
export function createObserver(context: Context) {
  const { chain } = context;
  const remembered = new Map<string, Arrival[]>();
  const native = acceptsNative(context.entry);
  const assetFor = (mint: string | null): string | null => {
    if (mint === null) return native ? nativeAssetOf(chain) : null;
    return context.programs.has(mint) ? assetOf(chain, mint) : null;
  };
  const readOne = async ({ signature, slot, blockTime }: SignatureInfo): Promise<Arrival[]> => {
    const key = `${signature} ${slot}`;
    const known = remembered.get(key);
    if (known !== undefined) return known;
    const tx = await rawOf(context, signature);
    if (tx === null || tx.slot !== slot)
      throw new ChainUnavailable("a node lists a transaction that it does not have");
    const gains = gainsOf(tx).filter(({ mint }) => assetFor(mint) !== null);
    const hash = gains.length === 0 ? "" : await blockhashOf(context, slot);
    const block = { ...ref(BigInt(slot), BigInt(blockTime ?? tx.blockTime ?? 0)), hash };
    const arrivals = gains.map(({ owner, mint, amount, payer, at, reference }) => ({
      block,
      transfer: {
        asset: assetFor(mint) ?? "",
        payer,
        recipient: owner,
        amount,
        txHash: signature,
        logIndex: at,
        authNonce: reference,
        tag: null,
      },
    }));
    if (remembered.size >= REMEMBERED) remembered.clear();
    remembered.set(key, arrivals);
    return arrivals;
  };
  /** Gains of any of `recipients`, oldest first. */
  return async (recipients: string[], from: bigint, to: bigint): Promise<Arrival[]> => {
    const places = (await Promise.all(recipients.map((one) => placesOf(context, one)))).flat();
    const lists = await Promise.all(places.map((place) => signaturesOf(context, place, from)));
    const found = new Map<string, SignatureInfo>();
    for (const info of lists.flat())
      if (info.err === null && BigInt(info.slot) >= from && BigInt(info.slot) <= to)
        found.set(info.signature, info);
    const wanted = new Set(recipients);
    const arrivals: Arrival[] = [];
    for (const info of [...found.values()].toSorted((a, b) => a.slot - b.slot))
      for (const arrival of await readOne(info))
        if (wanted.has(arrival.transfer.recipient)) arrivals.push(arrival);
    return arrivals;
  };
}

const rawOf = ({ rpc }: Context, signature: string): Promise<RawTransaction | null> =>
  rpc.read("getTransaction", [
    signature,
    { encoding: "json", commitment: "confirmed", maxSupportedTransactionVersion: 0 },
  ]);

async function blockhashOf({ rpc }: Context, slot: number): Promise<string> {
  const block = await rpc.read<{ blockhash: string } | null>("getBlock", [
    slot,
    {
      transactionDetails: "none",
      rewards: false,
      commitment: "confirmed",
      maxSupportedTransactionVersion: 0,
    },
  ]);
  if (block === null) throw new ChainUnavailable("a node does not have a block it told of");
  return block.blockhash;
}

async function statusOf({ rpc }: Context, hash: string): Promise<Status> {
  const { value } = await rpc.read<{ value: Status[] }>("getSignatureStatuses", [
    [hash],
    { searchTransactionHistory: true },
  ]);
  return value[0] ?? null;
}

/** A confirmed transaction and what it cost its fee payer, rent included; null: no node knows it as confirmed. */
export async function readLanded(
  context: Context,
  hash: string,
): Promise<{ receipt: Receipt; final: boolean } | null> {
  const status = await statusOf(context, hash);
  if (status === null || !["confirmed", "finalized"].includes(status.confirmationStatus ?? ""))
    return null;
  const tx = await rawOf(context, hash);
  if (tx?.meta == null) return null;
  const { preBalances, postBalances, err } = tx.meta;
  return {
    final: status.confirmationStatus === "finalized",
    receipt: {
      hash,
      status: err === null ? "success" : "reverted",
      blockNumber: BigInt(tx.slot),
      blockHash: await blockhashOf(context, tx.slot),
      gasCost: BigInt(preBalances[0] ?? 0) - BigInt(postBalances[0] ?? 0),
    },
  };
}

/** Whether finalized blocks are past a height on every node. */
export async function isPast({ rpc }: Context, height: bigint): Promise<boolean> {
  const heights = await rpc.everyNode((ask) =>
    ask<number>("getBlockHeight", [{ commitment: "finalized" }]),
  );
  return heights.every((now) => BigInt(now) > height);
}

/**
 * What became of a transaction. It lapsed only when every node's finalized blocks are past its height and none knows it, asked in
 * this order of the same node.
 */
export async function readFate(context: Context, hash: string, lapsesAt: bigint): Promise<TxFate> {
  const landed = await readLanded(context, hash);
  if (landed !== null) return { kind: "landed", ...landed };
  const lapsed = await context.rpc.everyNode(async (ask) => {
    const now = await ask<number>("getBlockHeight", [{ commitment: "finalized" }]);
    if (BigInt(now) <= lapsesAt) return false;
    const { value } = await ask<{ value: Status[] }>("getSignatureStatuses", [
      [hash],
      { searchTransactionHistory: true },
    ]);
    return value[0] === null;
  });
  return lapsed.length > 0 && !lapsed.includes(false) ? { kind: "lapsed" } : { kind: "open" };
}

/** Transfers between accounts, as arrivals at the recipients show them. */
export async function readSent(
  inbound: (recipients: string[], from: bigint, to: bigint) => Promise<Arrival[]>,
  { assets, senders, recipients, from, to }: TransferQuery,
): Promise<SentTransfer[]> {
  const arrivals = await inbound([...new Set(recipients)], from, to);
  return arrivals
    .map(({ block, transfer }) => ({
      asset: transfer.asset,
      payer: transfer.payer,
      recipient: transfer.recipient,
      amount: transfer.amount,
      txHash: transfer.txHash,
      logIndex: transfer.logIndex,
      blockNumber: block.number,
    }))
    .filter(({ asset, payer }) => assets.includes(asset) && senders.includes(payer));
}
