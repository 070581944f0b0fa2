import { encodeFunctionData, type Hex, numberToHex, recoverAddress } from "viem";
import type { Authorization } from "#server/domain/option/authorization.ts";
import { normaliseSignature } from "#server/domain/option/results.ts";
import type { ChainConfig } from "#server/platform/env.ts";
import type { Log } from "#server/platform/log.ts";
import type { TokenEntry } from "#server/platform/registry.ts";
import {
  type ChainFacts,
  type ChainPort,
  ChainUnavailable,
  type Fees,
  type Offer,
  type OfferInput,
  type PayerFacts,
  type RevertReason,
  type SignatureCheck,
  type Simulation,
  type TxPlan,
} from "#server/ports/chain.ts";
import { PERMIT2_ABI, TOKEN_ABI } from "./abi.ts";
import { type AllowanceSlot, findAllowanceSlot } from "./allowance-slot.ts";
import { broadcast } from "./broadcast.ts";
import { eip3009Digest, eip3009TypedData } from "./eip3009.ts";
import { readBlock, readHead, readInbound, readReceipt, readReceiptsIn } from "./observe.ts";
import {
  approvals,
  nonceBit,
  PERMIT2_ADDRESS,
  permit2Digest,
  permit2TypedData,
} from "./permit2.ts";
import { readRevert } from "./reverts.ts";
import { createRpc, type Rpc, RpcRefusal } from "./rpc.ts";
import { callOf, localSigner, policyRefusal, type Signer, signPlan } from "./signer.ts";

/** Room over the simulated gas, and the most any of our calls may ever take. */
const GAS_ROOM_PERCENT = 130n;
const GAS_CAP = 400_000n;
/** Half the order of secp256k1: contracts refuse signatures whose s is above it. */
const HALF_N = 0x7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0n;
/** ERC-6492 wrapping of a signature for an account that does not exist yet; no token takes it. */
const ERC6492_SUFFIX = "6492649264926492649264926492649264926492649264926492649264926492";
const MAX_UINT = `0x${"f".repeat(64)}` as const;

type Context = {
  chain: string;
  rpc: Rpc;
  facts: ChainFacts;
  tokens: Map<string, TokenEntry>;
  signers: Map<string, Signer>;
  slots: Map<string, Promise<AllowanceSlot | null>>;
  log: Log;
};

const assetOf = (chain: string, token: { address: string }) =>
  `${chain}/erc20:${token.address.toLowerCase()}`;

const contractOf = (asset: string) => asset.slice(asset.lastIndexOf(":") + 1) as Hex;

const call = (to: string, data: Hex, at = "latest") => ({
  method: "eth_call",
  params: [{ to, data }, at],
});

const balanceCall = (token: string, owner: string, at?: string) =>
  call(
    token,
    encodeFunctionData({ abi: TOKEN_ABI, functionName: "balanceOf", args: [owner as Hex] }),
    at,
  );

const allowanceCall = (token: string, owner: string) =>
  call(
    token,
    encodeFunctionData({
      abi: TOKEN_ABI,
      functionName: "allowance",
      args: [owner as Hex, PERMIT2_ADDRESS],
    }),
  );

const isWord = (value: unknown): value is Hex => typeof value === "string" && value.length === 66;

async function payerFacts(
  { rpc, tokens }: Context,
  address: string,
  assets: string[],
): Promise<PayerFacts> {
  const permit2 = assets.filter((asset) => tokens.has(asset));
  const answers = await rpc.batch([
    { method: "eth_getCode", params: [address, "latest"] },
    ...permit2.flatMap((asset) => [
      balanceCall(contractOf(asset), address),
      allowanceCall(contractOf(asset), address),
    ]),
  ]);
  const code = answers[0];
  if (typeof code !== "string") throw new ChainUnavailable("node did not tell the account's code");
  return {
    hasCode: code !== "0x",
    tokens: permit2.flatMap((asset, index) => {
      const balance = answers[1 + index * 2];
      const allowance = answers[2 + index * 2];
      if (!isWord(balance) || !isWord(allowance)) return [];
      return [{ asset, balance: BigInt(balance), allowance: BigInt(allowance) }];
    }),
  };
}

/** EIP-3009 where the token takes this account's kind of signature, else Permit2 where the chain has it. */
function mechanismFor(token: TokenEntry, hasCode: boolean, spender: string | null) {
  if (token.eip3009 !== null && (!hasCode || token.eip3009.signatures === "bytes"))
    return "eip3009" as const;
  return spender === null ? null : ("permit2" as const);
}

function offer({ chain, tokens, facts }: Context, input: OfferInput): Offer | null {
  const token = tokens.get(input.asset);
  if (token === undefined) return null;
  const mechanism = mechanismFor(token, input.payerHasCode, facts.spender);
  if (mechanism === null) return null;
  const chainId = Number(chain.slice("eip155:".length));
  const address = contractOf(input.asset);
  const authorization: Authorization = {
    mechanism,
    chain,
    token: address,
    payer: input.payer,
    recipient: input.recipient,
    amount: input.amount.toString(),
    nonce: input.nonce,
    deadline: input.deadline,
    spender: mechanism === "permit2" ? facts.spender : null,
    domain:
      mechanism === "eip3009" && token.eip3009 !== null
        ? {
            name: token.eip3009.name,
            version: token.eip3009.version,
            chainId,
            verifyingContract: address,
          }
        : { name: "Permit2", chainId, verifyingContract: PERMIT2_ADDRESS },
    signatures: mechanism === "eip3009" ? (token.eip3009?.signatures ?? "vrs") : "bytes",
  };
  const data =
    mechanism === "eip3009" ? eip3009TypedData(authorization) : permit2TypedData(authorization);
  const sign = {
    type: "walletRpc" as const,
    data: {
      chain_id: chain,
      method: "eth_signTypedData_v4" as const,
      params: [input.payer, JSON.stringify(data)],
    },
  };
  const first =
    mechanism === "permit2"
      ? approvals(authorization, input.allowance, {
          approveZeroFirst: token.approveZeroFirst,
          headroomBps: input.approveHeadroomBps,
        })
      : [];
  return { actions: [...first, sign], authorization, digest: digestOf(authorization) };
}

const digestOf = (a: Authorization): Hex =>
  a.mechanism === "eip3009" ? eip3009Digest(a) : permit2Digest(a);

/** Whether a plain account made this signature over our digest, in the one form contracts accept. */
async function signedBy(payer: string, digest: Hex, signature: string): Promise<boolean> {
  const normal = normaliseSignature(signature);
  if (normal === null || BigInt(`0x${normal.slice(66, 130)}`) > HALF_N) return false;
  try {
    const signer = await recoverAddress({ hash: digest, signature: normal as Hex });
    return signer.toLowerCase() === payer;
  } catch {
    // Not a point of the curve: nobody signed this.
    return false;
  }
}

/** What Permit2 and old tokens do not say when they revert: whether money or allowance is short. */
async function shortage({ rpc }: Context, a: Authorization): Promise<RevertReason | null> {
  const [balance, allowance] = await rpc.batch([
    balanceCall(a.token, a.payer),
    allowanceCall(a.token, a.payer),
  ]);
  if (isWord(balance) && BigInt(balance) < BigInt(a.amount)) return "insufficient_balance";
  if (a.mechanism === "permit2" && isWord(allowance) && BigInt(allowance) < BigInt(a.amount))
    return "insufficient_allowance";
  return null;
}

async function transferShortage(
  { rpc }: Context,
  plan: TxPlan,
  signer: string,
): Promise<RevertReason | null> {
  if (plan.kind !== "transfer") return null;
  const balance = await rpc.read<Hex>(
    "eth_call",
    balanceCall(contractOf(plan.asset), signer).params,
  );
  return isWord(balance) && BigInt(balance) < BigInt(plan.amount) ? "insufficient_balance" : null;
}

async function simulate(
  context: Context,
  plan: TxPlan,
  signer: string,
  overrides?: Record<string, unknown>,
): Promise<Simulation> {
  const { to, data } = callOf(plan, signer);
  const params: unknown[] = [{ from: signer, to, data, gas: numberToHex(GAS_CAP) }, "latest"];
  if (overrides !== undefined) params.push(overrides);
  // Gas only where nothing is overridden: nodes differ in what they accept for an estimate.
  const method = overrides === undefined ? "eth_estimateGas" : "eth_call";
  try {
    const answer = await context.rpc.read<Hex>(method, params);
    if (overrides !== undefined) return { kind: "ok", gas: 0n };
    const gas = (BigInt(answer) * GAS_ROOM_PERCENT) / 100n;
    return { kind: "ok", gas: gas > GAS_CAP ? GAS_CAP : gas };
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    const read = readRevert(error.data, error.message);
    if (read.reason !== "other") return { kind: "revert", ...read };
    const short =
      plan.kind === "capture"
        ? await shortage(context, plan.authorization)
        : await transferShortage(context, plan, signer);
    return { kind: "revert", reason: short ?? "other", detail: read.detail };
  }
}

/** State in which Permit2 is allowed the amount already; null: the token's storage is not understood. */
async function allowedState(
  context: Context,
  a: Authorization,
): Promise<Record<string, unknown> | null> {
  const { rpc, slots, log } = context;
  let slot = slots.get(a.token);
  if (slot === undefined) {
    slot = findAllowanceSlot(rpc, a.token);
    slots.set(a.token, slot);
    slot.then(
      (found) => {
        if (found === null)
          log.warn(
            { token: a.token },
            "allowance storage not found: pending approvals are not simulated",
          );
      },
      () => slots.delete(a.token),
    );
  }
  const slotOf = await slot;
  if (slotOf === null) return null;
  return { [a.token]: { stateDiff: { [slotOf(a.payer, PERMIT2_ADDRESS)]: MAX_UINT } } };
}

async function checkSignature(
  context: Context,
  a: Authorization,
  signature: string,
  options: { payerHasCode: boolean; allowancePending: boolean },
): Promise<SignatureCheck> {
  if (!options.payerHasCode && !(await signedBy(a.payer, digestOf(a), signature)))
    return { kind: "invalid", reason: "not the payer's signature over what was offered" };
  if (signature.endsWith(ERC6492_SUFFIX))
    return { kind: "invalid", reason: "the account is not deployed" };
  const signer = a.mechanism === "permit2" ? a.spender : context.facts.relayers[0];
  if (signer == null) throw new ChainUnavailable("no key may submit this here");
  const plan: TxPlan = { kind: "capture", authorization: a, signature };
  let overrides: Record<string, unknown> | undefined;
  if (options.allowancePending) {
    const allowed = await allowedState(context, a);
    if (allowed === null) {
      const short = await shortage(context, a);
      return short === "insufficient_balance"
        ? { kind: "would_revert", reason: short, detail: "balance" }
        : { kind: "valid" };
    }
    overrides = allowed;
  }
  const simulated = await simulate(context, plan, signer, overrides);
  if (simulated.kind === "ok") return { kind: "valid" };
  if (simulated.reason === "bad_signature") return { kind: "invalid", reason: simulated.detail };
  return { kind: "would_revert", reason: simulated.reason, detail: simulated.detail };
}

async function fees({ rpc }: Context): Promise<Fees> {
  const [block, tip] = (await rpc.batch([
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    { method: "eth_maxPriorityFeePerGas", params: [] },
  ])) as [{ baseFeePerGas?: Hex } | RpcRefusal | null, Hex | RpcRefusal];
  if (block === null || block instanceof RpcRefusal)
    throw new ChainUnavailable("node has no latest block");
  const maxPriorityFee = tip instanceof RpcRefusal ? 1_000_000_000n : BigInt(tip);
  return { maxFee: BigInt(block.baseFeePerGas ?? 0) * 2n + maxPriorityFee, maxPriorityFee };
}

async function nonceState({ rpc }: Context, a: Authorization, at: string) {
  if (a.mechanism === "eip3009") {
    const args = [a.payer as Hex, a.nonce as Hex] as const;
    const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "authorizationState", args });
    return BigInt(await rpc.read<Hex>("eth_call", call(a.token, data, at).params)) === 1n
      ? "used"
      : "unused";
  }
  const { word, mask } = nonceBit(a.nonce);
  const data = encodeFunctionData({
    abi: PERMIT2_ABI,
    functionName: "nonceBitmap",
    args: [a.payer as Hex, word],
  });
  const bitmap = BigInt(await rpc.read<Hex>("eth_call", call(PERMIT2_ADDRESS, data, at).params));
  return (bitmap & mask) === 0n ? "unused" : "used";
}

function createFacts(config: ChainConfig, signers: Signer[]): ChainFacts {
  const { entry } = config;
  const of = (role: Signer["role"]) =>
    signers.filter((s) => s.role === role).map(({ address }) => address);
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
    tokens: entry.tokens.map((token) => ({
      asset: assetOf(entry.caip2, token),
      symbol: token.symbol,
      name: token.name,
      decimals: token.decimals,
      iconUrl: token.iconUrl,
      mechanism: token.eip3009 === null ? "permit2" : "eip3009",
      peg: token.peg,
      depegBps: token.depegBps,
    })),
    relayers: of("relayer"),
    spender: of("spender")[0] ?? null,
    intermediary: of("intermediary")[0] ?? "",
  };
}

/** One EVM chain with the keys that work on it. */
export function createEvmChain(config: ChainConfig, intermediaryKey: string, log: Log): ChainPort {
  const chain = config.entry.caip2;
  const signers = [
    ...config.relayerKeys.map((key) => localSigner(key, "relayer")),
    ...(config.permit2SpenderKey === null
      ? []
      : [localSigner(config.permit2SpenderKey, "spender")]),
    localSigner(intermediaryKey, "intermediary"),
  ];
  const rpc = createRpc(config.rpcUrls);
  const facts = createFacts(config, signers);
  const tokens = new Map(config.entry.tokens.map((token) => [assetOf(chain, token), token]));
  const context: Context = {
    chain,
    rpc,
    facts,
    tokens,
    signers: new Map(signers.map((signer) => [signer.address, signer])),
    slots: new Map(),
    log,
  };
  const contracts = config.entry.tokens.map(({ address }) => address.toLowerCase());
  const signerOf = (address: string) => {
    const signer = context.signers.get(address);
    if (signer === undefined) throw new Error(`no key for ${address} on ${chain}`);
    return signer;
  };
  return {
    facts,
    head: () => readHead(rpc),
    blockAt: (number) => readBlock(rpc, number),
    inboundTransfers: (block, recipients) => readInbound(rpc, chain, block, contracts, recipients),
    payerFacts: (address, assets) => payerFacts(context, address, assets),
    offer: (input) => offer(context, input),
    checkSignature: (a, signature, options) => checkSignature(context, a, signature, options),
    async simulate(plan, address) {
      const refused = policyRefusal(plan, signerOf(address), chain);
      if (refused !== null) return { kind: "revert", reason: "other", detail: refused };
      return simulate(context, plan, address);
    },
    fees: () => fees(context),
    sign: (plan, tx) => signPlan(plan, signerOf(tx.signer), chain, tx),
    broadcast: (raw) => broadcast(rpc, raw),
    receipt: (hash) => readReceipt(rpc, hash),
    receiptsIn: (block, hashes) => readReceiptsIn(rpc, block, hashes),
    transactionCount: async (address, at) =>
      BigInt(await rpc.read<Hex>("eth_getTransactionCount", [address, at])),
    nonceState: (a, at) => nonceState(context, a, at),
    tokenBalance: async (asset, address, at) =>
      BigInt(
        await rpc.read<Hex>(
          "eth_call",
          balanceCall(contractOf(asset), address, numberToHex(at)).params,
        ),
      ),
    nativeBalance: async (address) =>
      BigInt(await rpc.read<Hex>("eth_getBalance", [address, "latest"])),
  };
}
