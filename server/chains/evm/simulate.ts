import { encodeFunctionData, type Hex, numberToHex } from "viem";
import type { Authorization } from "#server/domain/option/authorization.ts";
import type { RevertReason, Simulation, TxPlan } from "#server/ports/chain.ts";
import { TOKEN_ABI } from "./abi.ts";
import { readFees } from "./account-reads.ts";
import { allowanceCall, balanceCall, nonceCall } from "./calls.ts";
import { type Context, contractOf, isWord, toNumber } from "./context.ts";
import { isNative } from "./native.ts";
import { PERMIT2_ADDRESS } from "./permit2.ts";
import { readRevert } from "./reverts.ts";
import { RpcRefusal } from "./rpc.ts";
import { callOf, GAS_CAP } from "./signer.ts";
import { evmTerms } from "./terms.ts";

/** Room over the simulated gas, because the state may change before the transaction is mined. */
const GAS_ROOM_PERCENT = 125n;

/** State to pretend during a call, in the words of `eth_call`; undefined: the chain as it is. */
export type Pretended = Record<string, unknown> | undefined;

type Failed = { kind: "revert"; reason: RevertReason; detail: string };

/** What Permit2 hides: it makes every failing `transferFrom` one error, so the token is asked by itself. */
async function tokensReason(
  { rpc }: Context,
  a: Authorization,
  pretended: Pretended,
): Promise<RevertReason | null> {
  if (a.mechanism !== "permit2") return null;
  const args = [a.payer as Hex, a.recipient as Hex, BigInt(a.amount)] as const;
  const data = encodeFunctionData({ abi: TOKEN_ABI, functionName: "transferFrom", args });
  const call = { from: PERMIT2_ADDRESS, to: a.token, data, gas: numberToHex(GAS_CAP) };
  try {
    await rpc.read("eth_call", [call, "latest", ...(pretended === undefined ? [] : [pretended])]);
    return null;
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    const { reason } = readRevert(error.data, error.message);
    return reason === "other" ? null : reason;
  }
}

/** What a token may not say when it reverts, read from the chain: a used nonce, the time, money, allowance. */
export async function reasonFromFacts(
  { rpc }: Context,
  a: Authorization,
  allowed: boolean,
): Promise<RevertReason | null> {
  const nonce = nonceCall(a);
  const [used, head, balance, allowance] = await rpc.batch([
    nonce.call,
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    balanceCall(a.token, a.payer),
    allowanceCall(a.token, a.payer),
  ]);
  if (isWord(used) && (BigInt(used) & nonce.mask) !== 0n) return "nonce_used";
  const { timestamp } = (head ?? {}) as { timestamp?: string };
  if (timestamp !== undefined && toNumber(timestamp) >= BigInt(a.deadline)) return "expired";
  if (isWord(balance) && BigInt(balance) < BigInt(a.amount)) return "insufficient_balance";
  if (a.mechanism !== "permit2" || allowed) return null;
  return isWord(allowance) && BigInt(allowance) < BigInt(a.amount)
    ? "insufficient_allowance"
    : null;
}

async function transferShortage(
  { rpc }: Context,
  plan: TxPlan & { kind: "transfer" },
  signer: string,
): Promise<RevertReason | null> {
  if (isNative(plan.asset)) return null;
  const { method, params } = balanceCall(contractOf(plan.asset), signer);
  const balance = toNumber(await rpc.read(method, params));
  return balance < BigInt(plan.amount) ? "insufficient_balance" : null;
}

async function explain(
  context: Context,
  plan: TxPlan,
  signer: string,
  failure: RpcRefusal,
  pretended: Pretended,
): Promise<Failed> {
  const read = readRevert(failure.data, failure.message);
  if (read.reason !== "other" || plan.kind === "fill") return { kind: "revert", ...read };
  const better =
    plan.kind === "transfer"
      ? await transferShortage(context, plan, signer)
      : ((await reasonFromFacts(context, evmTerms(plan.authorization), pretended !== undefined)) ??
        (await tokensReason(context, evmTerms(plan.authorization), pretended)));
  return { kind: "revert", reason: better ?? "other", detail: read.detail };
}

function transaction(plan: TxPlan, signer: string) {
  const { value, ...call } = callOf(plan, signer);
  return { from: signer, ...call, value: numberToHex(value), gas: numberToHex(GAS_CAP) };
}

/** Gas of a transfer of native coin to a plain account. */
const SEND_GAS = 21_000n;

/**
 * Native coin pays for its own gas, and a node does not even run a call that its sender cannot pay for. Less than the amount is a
 * shortage; less than amount and gas together throws, because it waits for gas money.
 */
async function coinShortage(
  context: Context,
  plan: TxPlan,
  signer: string,
  gas: bigint,
): Promise<Failed | null> {
  if (plan.kind !== "transfer" || !isNative(plan.asset)) return null;
  const [fees, balance] = await Promise.all([
    readFees(context),
    context.rpc.read("eth_getBalance", [signer, "latest"]).then(toNumber),
  ]);
  const amount = BigInt(plan.amount);
  if (balance < amount)
    return { kind: "revert", reason: "insufficient_balance", detail: `holds ${balance}` };
  if (balance < amount + gas * fees.maxFee)
    throw new Error(`${signer} on ${context.chain} lacks the gas money to pay out native coin`);
  return null;
}

/** A call that ends without a revert and answers `false` has moved nothing (EIP-20 allows it). */
const saysFalse = (output: unknown): boolean => isWord(output) && BigInt(output) === 0n;

/** Runs a plan's call from its sender on the latest state; null: it goes through. */
export async function tryCall(
  context: Context,
  plan: TxPlan,
  signer: string,
  pretended?: Pretended,
): Promise<Failed | null> {
  const params = [transaction(plan, signer), "latest"];
  try {
    const output = await context.rpc.read("eth_call", [
      ...params,
      ...(pretended === undefined ? [] : [pretended]),
    ]);
    return plan.kind === "transfer" && !isNative(plan.asset) && saysFalse(output)
      ? { kind: "revert", reason: "other", detail: "the token answers false" }
      : null;
  } catch (error) {
    if (!(error instanceof RpcRefusal)) throw error;
    return explain(context, plan, signer, error, pretended);
  }
}

/** Runs a plan's call from its sender and measures its gas, with room and under the cap. */
export async function simulate(
  context: Context,
  plan: TxPlan,
  signer: string,
): Promise<Simulation> {
  const short = await coinShortage(context, plan, signer, SEND_GAS);
  if (short !== null) return short;
  const estimate = context.rpc
    .read("eth_estimateGas", [transaction(plan, signer), "latest"])
    .catch((error: unknown) => {
      if (error instanceof RpcRefusal) return error;
      throw error;
    });
  const [gas, failed] = await Promise.all([
    estimate,
    plan.kind === "transfer" ? tryCall(context, plan, signer) : null,
  ]);
  if (failed !== null) return failed;
  if (gas instanceof RpcRefusal) return explain(context, plan, signer, gas, undefined);
  const roomy = (toNumber(gas) * GAS_ROOM_PERCENT) / 100n;
  const limit = roomy > GAS_CAP ? GAS_CAP : roomy;
  return (await coinShortage(context, plan, signer, limit)) ?? { kind: "ok", gas: limit };
}
