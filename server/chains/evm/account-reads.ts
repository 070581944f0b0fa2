import type { Hex } from "viem";
import type { Authorization } from "#server/domain/option/authorization.ts";
import {
  ChainUnavailable,
  type Fees,
  type NonceState,
  type PayerFacts,
  type ReadAt,
} from "#server/ports/chain.ts";
import { allowanceCall, balanceCall, nonceCall } from "./calls.ts";
import { type Context, contractOf, isWord, toNumber } from "./context.ts";
import { RpcRefusal } from "./rpc.ts";

/** Gas of one capture, and for how many of them a key must have money before its options are offered. */
const TYPICAL_GAS = 120_000n;
const FUNDED_FOR = 3n;
/** Wei per gas where a node suggests none. */
const FALLBACK_TIP = 1_000_000_000n;

/** Code, balances and allowances of an account in one round trip. */
export async function readPayer(
  { rpc, tokens }: Context,
  address: string,
  assets: string[],
): Promise<PayerFacts> {
  const known = assets.filter((asset) => tokens.has(asset));
  const answers = await rpc.batch([
    { method: "eth_getCode", params: [address, "latest"] },
    ...known.flatMap((asset) => [
      balanceCall(contractOf(asset), address),
      allowanceCall(contractOf(asset), address),
    ]),
  ]);
  const code = answers[0];
  if (typeof code !== "string")
    throw new ChainUnavailable("a node did not tell the account's code");
  return {
    hasCode: code !== "0x",
    tokens: known.flatMap((asset, index) => {
      const balance = answers[1 + index * 2];
      const allowance = answers[2 + index * 2];
      if (!isWord(balance) || !isWord(allowance)) return [];
      return [{ asset, balance: BigInt(balance), allowance: BigInt(allowance) }];
    }),
  };
}

/** Fees that survive the base fee doubling: six full blocks in a row on Ethereum (EIP-1559). */
export async function readFees({ rpc }: Context): Promise<Fees> {
  const [block, tip] = (await rpc.batch([
    { method: "eth_getBlockByNumber", params: ["latest", false] },
    { method: "eth_maxPriorityFeePerGas", params: [] },
  ])) as [{ baseFeePerGas?: Hex } | RpcRefusal | null, Hex | RpcRefusal];
  if (block == null || block instanceof RpcRefusal)
    throw new ChainUnavailable("a node has no latest block");
  const maxPriorityFee = tip instanceof RpcRefusal ? FALLBACK_TIP : toNumber(tip);
  return { maxFee: toNumber(block.baseFeePerGas ?? "0x0") * 2n + maxPriorityFee, maxPriorityFee };
}

/** Whether every key that submits this mechanism has gas money for a few captures at today's price. */
export async function hasGasMoney(
  context: Context,
  mechanism: Authorization["mechanism"],
): Promise<boolean> {
  const { relayers, spender } = context.facts;
  const signers = mechanism === "permit2" ? (spender === null ? [] : [spender]) : relayers;
  if (signers.length === 0) return false;
  return context.funded(signers.join(), async () => {
    const { maxFee } = await readFees(context);
    const balances = await context.rpc.batch(
      signers.map((signer) => ({ method: "eth_getBalance", params: [signer, "latest"] })),
    );
    return balances.every((balance) => toNumber(balance) >= maxFee * TYPICAL_GAS * FUNDED_FOR);
  });
}

/** Whether an authorization's nonce is used, as the contract that checks it sees it. */
export async function readNonceState(
  { rpc }: Context,
  a: Authorization,
  at: ReadAt,
): Promise<NonceState> {
  const { call, mask } = nonceCall(a, at);
  const answer = await rpc.read(call.method, call.params);
  if (!isWord(answer)) throw new ChainUnavailable("a node answered nothing for a nonce");
  return (BigInt(answer) & mask) === 0n ? "unused" : "used";
}
