import { numberToHex } from "viem";
import type { ChainConfig } from "#server/platform/env.ts";
import type { Log } from "#server/platform/log.ts";
import type { ChainFacts, NonceChain } from "#server/ports/chain.ts";
import { shortCache } from "../short-cache.ts";
import { readFees, readFundedSigners, readNonceState, readPayer } from "./account-reads.ts";
import { broadcast } from "./broadcast.ts";
import { balanceCall } from "./calls.ts";
import {
  acceptsNative,
  assetOf,
  type Context,
  contractOf,
  nativeAssetOf,
  toNumber,
} from "./context.ts";
import { isNative, nativeToken } from "./native.ts";
import {
  readBlock,
  readHead,
  readInbound,
  readReceipt,
  readReceiptsIn,
  readTransaction,
} from "./observe.ts";
import { makeOffer } from "./offer.ts";
import type { Rpc } from "./rpc.ts";
import { readSent, walletTransfer } from "./sent-transfers.ts";
import { localSigner, policyRefusal, type Signer, signPlan } from "./signer.ts";
import { simulate } from "./simulate.ts";
import { evmTerms } from "./terms.ts";
import { checkSignature, provesAccount, slotOf } from "./verify.ts";

/** How long an answer about gas money is used again. */
const FUNDED_FRESH_MS = 3_000;

function createFacts(config: ChainConfig, signers: Signer[]): ChainFacts {
  const { entry } = config;
  const of = (role: Signer["role"]) =>
    signers.filter((s) => s.role === role).map(({ address }) => address);
  const registered = [
    ...entry.tokens.map((token) => ({
      asset: assetOf(entry.caip2, token.address),
      symbol: token.symbol,
      name: token.name,
      decimals: token.decimals,
      iconUrl: token.iconUrl,
      mechanism: token.eip3009 === null ? ("permit2" as const) : ("eip3009" as const),
      peg: token.peg,
      depegBps: token.depegBps,
    })),
    ...nativeToken(entry),
  ];
  return {
    chain: entry.caip2,
    name: entry.name,
    environment: entry.environment,
    iconUrl: entry.iconUrl,
    blockTimeMs: entry.blockTimeMs,
    pollMs: entry.pollMs,
    stuckAfterS: entry.stuckAfterS,
    depth: entry.depth,
    tagBlocks: entry.tagBlocks,
    registered,
    tokens: [],
    relayers: of("relayer"),
    spender: of("spender")[0] ?? null,
    intermediary: of("intermediary")[0] ?? "",
  };
}

function createContext(config: ChainConfig, rpc: Rpc, intermediaryKey: string, log: Log): Context {
  const { entry, relayerKeys, permit2SpenderKey } = config;
  const signers = [
    ...relayerKeys.map((key) => localSigner(key, "relayer")),
    ...(permit2SpenderKey === null ? [] : [localSigner(permit2SpenderKey, "spender")]),
    localSigner(intermediaryKey, "intermediary"),
  ];
  return {
    chain: entry.caip2,
    chainId: Number(entry.caip2.slice("eip155:".length)),
    rpc,
    facts: createFacts(config, signers),
    tokens: new Map(entry.tokens.map((token) => [assetOf(entry.caip2, token.address), token])),
    contracts: new Set(entry.tokens.map(({ address }) => address.toLowerCase())),
    native: nativeAssetOf(entry),
    acceptsNative: acceptsNative(entry),
    signers: new Map(signers.map((signer) => [signer.address, signer])),
    slots: new Map(),
    funded: shortCache<string[]>(FUNDED_FRESH_MS),
    log,
  };
}

/** A chain that can be readied: `prepare` finds out what simulations of pending approvals need. */
export type EvmChain = NonceChain & { prepare(): Promise<void> };

/** One EVM chain with the keys that work on it. Nothing is asked of a node before the first call. */
export function createEvmChain(
  config: ChainConfig,
  rpc: Rpc,
  intermediaryKey: string,
  log: Log,
): EvmChain {
  const context = createContext(config, rpc, intermediaryKey, log);
  const { chain, facts, contracts, native } = context;
  const policy = { chain, contracts, native };
  const signerOf = (address: string) => {
    const signer = context.signers.get(address);
    if (signer === undefined) throw new Error(`no key for ${address} on ${chain}`);
    return signer;
  };
  return {
    model: "nonces",
    facts,
    async prepare() {
      for (const [asset, token] of context.tokens)
        if (token.eip3009 === null) await slotOf(context, contractOf(asset));
    },
    head: () => readHead(rpc),
    blockAt: (number) => readBlock(rpc, number),
    inboundTransfers: (block, recipients) => readInbound(context, block, recipients),
    transfersBetween: (query) => readSent(context, query),
    walletTransfer: (asset, from, to, amount) => walletTransfer(context, asset, from, to, amount),
    payerFacts: (address, assets) => readPayer(context, address, assets),
    offer: (input) => makeOffer(context, input),
    checkSignature: (a, signature, options) =>
      checkSignature(context, evmTerms(a), signature, options),
    provesAccount: (account, message, signature, hasCode) =>
      provesAccount(rpc, account, message, signature, hasCode),
    async simulate(plan, address) {
      const refused = policyRefusal(plan, signerOf(address), policy);
      if (refused !== null) return { kind: "revert", reason: "other", detail: refused };
      return simulate(context, plan, address);
    },
    fundedSigners: (mechanism) => readFundedSigners(context, mechanism),
    fees: () => readFees(context),
    sign: async (plan, tx) => signPlan(plan, signerOf(tx.signer), policy, tx),
    broadcast: (raw) => broadcast(rpc, raw),
    transaction: (hash) => readTransaction(rpc, hash),
    receipt: (hash) => readReceipt(rpc, hash),
    receiptsIn: (block, hashes) => readReceiptsIn(rpc, block, hashes),
    transactionCount: async (address, at) =>
      toNumber(await rpc.read("eth_getTransactionCount", [address, at])),
    nonceState: (a, at) => readNonceState(context, evmTerms(a), at),
    async tokenBalance(asset, address, at) {
      if (isNative(asset))
        return toNumber(await rpc.read("eth_getBalance", [address, numberToHex(at)]));
      const { method, params } = balanceCall(contractOf(asset), address, numberToHex(at));
      return toNumber(await rpc.read(method, params));
    },
    nativeBalance: async (address) =>
      toNumber(await rpc.read("eth_getBalance", [address, "latest"])),
  };
}
