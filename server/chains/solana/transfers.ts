import { isAddress } from "@solana/kit";
import type { TransferTerms } from "#server/domain/option/authorization.ts";
import type { BuiltTx, SignedTx, TxPlan } from "#server/ports/chain.ts";
import { readAccounts } from "./account-reads.ts";
import { isNative, mintOf, nativeAssetOf, tokenAccountOf } from "./assets.ts";
import { returnedProblem } from "./compare.ts";
import { type Context, programOf } from "./context.ts";
import { fromBase58, type Key, referenceOf, toBase58 } from "./keys.ts";
import { compileTransfer, readOutput, signMessage, type TransferPlan } from "./message.ts";

/** Letters of a payment's nonce in the memo of its transfer. */
const MEMO_LETTERS = 32;

type Lifetime = { blockhash: string; lapsesAt: bigint };

export async function readLifetime({ rpc }: Context): Promise<Lifetime> {
  const { value } = await rpc.read<{
    value: { blockhash: string; lastValidBlockHeight: number };
  }>("getLatestBlockhash", [{ commitment: "confirmed" }]);
  return { blockhash: value.blockhash, lapsesAt: BigInt(value.lastValidBlockHeight) };
}

/** One relayer per payment or transfer, always the same: spreads the load. */
export function relayerFor({ relayers }: Context, number: bigint): Key {
  const all = [...relayers.values()];
  const found = all[Number(number % BigInt(all.length))];
  if (found === undefined) throw new Error("a cluster without relayers");
  return found;
}

type Between = { from: string; to: string; asset: string };

async function tokenOf(
  context: Context,
  { from, to, asset }: Between,
): Promise<TransferPlan["token"]> {
  if (isNative(asset)) return null;
  const mint = mintOf(asset);
  const program = programOf(context, mint);
  const [source, target] = await Promise.all([
    tokenAccountOf(from, mint, program),
    tokenAccountOf(to, mint, program),
  ]);
  const decimals = context.mints.get(asset)?.decimals ?? 0;
  return { mint, program, decimals, source, target, createTarget: false };
}

async function withTarget(context: Context, plan: TransferPlan): Promise<TransferPlan> {
  if (plan.token === null) return plan;
  const [info] = await readAccounts(context, [plan.token.target]);
  return { ...plan, token: { ...plan.token, createTarget: info == null } };
}

const base = ({ entry }: Context) => ({
  memoProgram: entry.memoProgram,
  microLamportsPerUnit: entry.microLamportsPerUnit,
});

/** The transfer that a buyer is asked to sign; whether the target must be made is not known yet. */
async function planOfTerms(
  context: Context,
  terms: TransferTerms,
  feePayer: string,
): Promise<TransferPlan> {
  const { payer: from, recipient: to, amount, nonce, mechanism, chain, token } = terms;
  const asset = mechanism === "sol_transfer" ? nativeAssetOf(chain) : `${chain}/token:${token}`;
  return {
    ...base(context),
    feePayer,
    from,
    to,
    amount: BigInt(amount),
    token: await tokenOf(context, { from, to, asset }),
    reference: referenceOf(nonce),
    memo: `florin:${nonce.slice(2, 2 + MEMO_LETTERS)}`,
  };
}

/** Makes the transaction for a buyer to sign, with the newest blockhash. */
export async function buildTransfer(context: Context, terms: TransferTerms): Promise<BuiltTx> {
  const relayer = relayerFor(context, BigInt(terms.nonce));
  const plan = await planOfTerms(context, terms, relayer.address);
  const [full, lifetime] = await Promise.all([withTarget(context, plan), readLifetime(context)]);
  const message = compileTransfer(full, lifetime.blockhash);
  return { message: Buffer.from(message).toString("base64"), ...lifetime };
}

/** Why a relayer may not sign what a plan holds; null: it is our transfer of exactly these terms, signed by the buyer. */
async function captureRefusal(
  context: Context,
  terms: TransferTerms,
  parts: NonNullable<ReturnType<typeof readOutput>>,
): Promise<string | null> {
  if (terms.chain !== context.chain) return "the terms are for another chain";
  const plan = await planOfTerms(context, terms, parts.feePayer);
  const shapes: TransferPlan[] =
    plan.token === null
      ? [plan]
      : [plan, { ...plan, token: { ...plan.token, createTarget: true } }];
  const problems = shapes.map((shape) =>
    returnedProblem(compileTransfer(shape, parts.blockhash), parts, terms.payer),
  );
  return problems.includes(null) ? null : (problems[0] ?? null);
}

async function signCapture(
  context: Context,
  plan: TxPlan & { kind: "capture" },
): Promise<SignedTx> {
  const { authorization: terms, signature, lapsesAt } = plan;
  const parts = readOutput(signature, fromBase58);
  if (parts === null || "domain" in terms || lapsesAt === undefined)
    throw new Error("refused to sign: no transaction that a buyer signed");
  const relayer = context.relayers.get(parts.feePayer);
  if (relayer === undefined) throw new Error("refused to sign: the fee payer is not ours");
  const refused = await captureRefusal(context, terms, parts);
  if (refused !== null) throw new Error(`refused to sign: ${refused}`);
  const buyer = parts.signatures.get(terms.payer) ?? new Uint8Array();
  const given = new Map([[terms.payer, buyer]]);
  return { ...finish(parts.message, [relayer], given), lapsesAt: BigInt(lapsesAt) };
}

function finish(message: Uint8Array, keys: Key[], given = new Map<string, Uint8Array>()) {
  const raw = signMessage(message, keys, given);
  const [first] = keys;
  if (first === undefined) throw new Error("nobody signs");
  return { raw, hash: toBase58(first.sign(message)) };
}

/** Why the intermediary may not pay this out; null: it may. */
export function payoutRefusal(
  { intermediary, mints, chain }: Context,
  { asset, to, amount }: { asset: string; to: string; amount: string },
): string | null {
  if (asset !== nativeAssetOf(chain) && !mints.has(asset))
    return "the asset is not in the registry";
  if (!isAddress(to)) return "the destination is no account";
  if (to === intermediary.address || asset.endsWith(`:${to}`))
    return "a transfer never goes to its own mint or back to itself";
  return BigInt(amount) > 0n ? null : "a transfer moves something";
}

/** A payout's transfer; `number` makes its bytes its own, so that two equal payouts are two transactions. */
export async function planPayout(
  context: Context,
  { asset, to, amount }: { asset: string; to: string; amount: string },
  number: bigint,
): Promise<TransferPlan> {
  const from = context.intermediary.address;
  return withTarget(context, {
    ...base(context),
    feePayer: relayerFor(context, number).address,
    from,
    to,
    amount: BigInt(amount),
    token: await tokenOf(context, { from, to, asset }),
    reference: null,
    memo: `florin:out:${number}`,
  });
}

/** Signs a plan if it is one that our keys may sign; throws otherwise. A payout gets a new lifetime, a capture keeps its own. */
export async function signPlan(
  context: Context,
  plan: TxPlan,
  { signer, nonce }: { signer: string; nonce: bigint },
): Promise<SignedTx> {
  if (plan.kind === "fill") throw new Error("refused to sign: there is no nonce to fill");
  if (plan.kind === "capture") return signCapture(context, plan);
  const refused =
    signer === context.intermediary.address
      ? payoutRefusal(context, plan)
      : "only the intermediary key pays out";
  if (refused !== null) throw new Error(`refused to sign: ${refused}`);
  const payout = await planPayout(context, plan, nonce);
  const { blockhash, lapsesAt } = await readLifetime(context);
  const message = compileTransfer(payout, blockhash);
  return {
    ...finish(message, [relayerFor(context, nonce), context.intermediary]),
    lapsesAt,
  };
}
