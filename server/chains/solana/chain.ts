import { createHash } from "node:crypto";
import type { TransferTerms } from "#server/domain/option/authorization.ts";
import type { SolanaConfig } from "#server/platform/env.ts";
import type { Log } from "#server/platform/log.ts";
import type {
  BroadcastOutcome,
  ChainFacts,
  LifetimeChain,
  Offer,
  OfferInput,
} from "#server/ports/chain.ts";
import { shortCache } from "../short-cache.ts";
import {
  hasFeeMoney,
  readAccounts,
  readLamports,
  readPayer,
  tokenAmount,
} from "./account-reads.ts";
import {
  acceptsNative,
  assetOf,
  isNative,
  mintOf,
  nativeAssetOf,
  tokenAccountOf,
} from "./assets.ts";
import { type Context, programOf } from "./context.ts";
import { fromBase58, isSignable, readKey } from "./keys.ts";
import { encodeWire, readOutput } from "./message.ts";
import { createObserver, isPast, readFate, readHead, readLanded, readSent } from "./observe.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";
import { checkTransaction, simulatePlan } from "./simulate.ts";
import { buildTransfer, signPlan } from "./transfers.ts";

/** How long an answer about fee money is used again. */
const FUNDED_FRESH_MS = 3_000;
const LAMPORT_DECIMALS = 9;
/** Slots after which a block is usually final. */
const FINAL_AFTER = 32;

function createFacts(config: SolanaConfig, relayers: string[], intermediary: string): ChainFacts {
  const { entry } = config;
  const { caip2, native } = entry;
  const coin = {
    asset: nativeAssetOf(caip2),
    symbol: native.symbol,
    name: native.name,
    decimals: LAMPORT_DECIMALS,
    iconUrl: null,
    mechanism: "sol_transfer" as const,
    peg: null,
    depegBps: 0,
  };
  const registered = [
    ...entry.tokens.map((token) => ({
      asset: assetOf(caip2, token.mint),
      symbol: token.symbol,
      name: token.name,
      decimals: token.decimals,
      iconUrl: token.iconUrl,
      mechanism: "spl_transfer" as const,
      peg: token.peg,
      depegBps: token.depegBps,
    })),
    ...(acceptsNative(entry) ? [coin] : []),
  ];
  return {
    chain: caip2,
    name: entry.name,
    environment: entry.environment,
    iconUrl: entry.iconUrl,
    blockTimeMs: entry.slotTimeMs,
    pollMs: entry.pollMs,
    stuckAfterS: 0,
    depth: entry.depth,
    tagBlocks: { safe: FINAL_AFTER, finalized: FINAL_AFTER },
    registered,
    tokens: [],
    relayers,
    spender: null,
    intermediary,
  };
}

function createContext(config: SolanaConfig, rpc: Rpc, log: Log): Context {
  const { entry } = config;
  const relayers = config.relayerKeys.map(readKey);
  const intermediary = readKey(config.intermediaryKey);
  const facts = createFacts(
    config,
    relayers.map(({ address }) => address),
    intermediary.address,
  );
  return {
    chain: entry.caip2,
    entry,
    rpc,
    facts,
    mints: new Map(entry.tokens.map((token) => [assetOf(entry.caip2, token.mint), token])),
    programs: new Map(),
    relayers: new Map(relayers.map((key) => [key.address, key])),
    intermediary,
    log,
  };
}

/** What is asked of a buyer; the transaction itself is made by fetch. Null: nobody can sign for this account. */
function makeOffer(context: Context, input: OfferInput): Offer | null {
  const { asset, payer, recipient, amount, nonce, deadline } = input;
  if (!isSignable(payer) || payer === recipient || amount >= 1n << 64n) return null;
  const terms: TransferTerms = {
    mechanism: isNative(asset) ? "sol_transfer" : "spl_transfer",
    chain: context.chain,
    token: asset.slice(asset.lastIndexOf(":") + 1),
    payer,
    recipient,
    amount: amount.toString(),
    nonce,
    deadline,
  };
  return {
    actions: [
      {
        type: "walletRpc",
        data: { chain_id: context.chain, method: "solana_signTransaction", params: [] },
      },
    ],
    authorization: terms,
    digest: `0x${createHash("sha256").update(JSON.stringify(terms)).digest("hex")}`,
  };
}

async function broadcast({ rpc }: Context, raw: Uint8Array): Promise<BroadcastOutcome> {
  const answers = await rpc.everywhere<string>("sendTransaction", [
    Buffer.from(raw).toString("base64"),
    { encoding: "base64", skipPreflight: true, maxRetries: 0 },
  ]);
  if (answers.some(({ status }) => status === "fulfilled")) return { kind: "accepted" };
  const reasons = answers.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
  const detail = reasons.map(String).join("; ").slice(0, 500);
  if (/already been processed/i.test(detail)) return { kind: "already_known" };
  // A refusal of the bytes says nothing about an earlier send: only their fate decides.
  return reasons.every((reason) => reason instanceof RpcRefusal)
    ? { kind: "rejected", detail }
    : { kind: "unknown", detail };
}

async function balanceOf(context: Context, asset: string, owner: string): Promise<bigint> {
  if (isNative(asset)) return readLamports(context, owner);
  const mint = mintOf(asset);
  const account = await tokenAccountOf(owner, mint, programOf(context, mint));
  const [info] = await readAccounts(context, [account]);
  return tokenAmount(info ?? null) ?? 0n;
}

/** A cluster that can be compared with its entry. */
export type SolanaChain = LifetimeChain & { context: Context };

/** One Solana cluster with the keys that work on it. Nothing is asked of a node before the first call. */
export function createSolanaChain(config: SolanaConfig, rpc: Rpc, log: Log): SolanaChain {
  const context = createContext(config, rpc, log);
  const { facts, chain } = context;
  const funded = shortCache<string[]>(FUNDED_FRESH_MS);
  const inbound = createObserver(context);
  return {
    model: "lifetimes",
    context,
    facts,
    head: () => readHead(context),
    blockAt: async (number) => ({ number, hash: `slot:${number}`, parent: "", time: 0n }),
    inboundBetween: inbound,
    transfersBetween: (query) => readSent(inbound, query),
    walletTransfer: () => null,
    payerFacts: (owner, assets) => readPayer(context, owner, assets),
    offer: (input) => makeOffer(context, input),
    checkSignature: async () => ({ kind: "invalid", reason: "transactions are signed here" }),
    provesAccount: async () => false,
    build: (terms) => buildTransfer(context, terms),
    blocksLeft: async (lapsesAt) =>
      lapsesAt - BigInt(await rpc.read<number>("getBlockHeight", [{ commitment: "processed" }])),
    signAction: ({ message }) => ({
      type: "walletRpc",
      data: {
        chain_id: chain,
        method: "solana_signTransaction",
        params: [
          { transaction: encodeWire(new Uint8Array(Buffer.from(message, "base64")), new Map()) },
        ],
      },
    }),
    blockhashOf: (output) => readOutput(output, fromBase58)?.blockhash ?? null,
    checkTransaction: (terms, built, output) => checkTransaction(context, terms, built, output),
    simulate: (plan) => simulatePlan(context, plan),
    fundedSigners: () =>
      funded("relayers", async () => ((await hasFeeMoney(context)) ? facts.relayers : [])),
    fees: async () => ({
      maxFee: BigInt(context.entry.microLamportsPerUnit),
      maxPriorityFee: BigInt(context.entry.microLamportsPerUnit),
    }),
    sign: (plan, tx) => signPlan(context, plan, tx),
    broadcast: (raw) => broadcast(context, raw),
    transaction: async () => null,
    receipt: async (hash) => (await readLanded(context, hash))?.receipt ?? null,
    receiptsIn: async (block, hashes) => {
      const found = await Promise.all(hashes.map((hash) => readLanded(context, hash)));
      return found.flatMap((one) =>
        one !== null && one.receipt.blockNumber === block.number ? [one.receipt] : [],
      );
    },
    fate: (hash, lapsesAt) => readFate(context, hash, lapsesAt),
    isPast: (lapsesAt) => isPast(context, lapsesAt),
    transactionCount: async () => 0n,
    nonceState: async () => "unused",
    tokenBalance: (asset, owner) => balanceOf(context, asset, owner),
    nativeBalance: (owner) => readLamports(context, owner),
  };
}
