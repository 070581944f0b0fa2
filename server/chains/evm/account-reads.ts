import type { Hex } from "viem";
import type { Authorization, SignedTerms } from "#server/domain/option/authorization.ts";
import {
  CAPTURE_GAS,
  ChainUnavailable,
  type Fees,
  FUNDED_FOR,
  type NonceState,
  type PayerFacts,
  type ReadAt,
} from "#server/ports/chain.ts";
import { allowanceCall, balanceCall, nonceCall } from "./calls.ts";
import { type Context, contractOf, isWord, toNumber } from "./context.ts";
import { isNative } from "./native.ts";
import { RpcRefusal } from "./rpc.ts";

/** Wei per gas where a node suggests none. */
const FALLBACK_TIP = 1_000_000_000n;

/** What a wallet may take for sending native coin: a transfer with 32 bytes of data, at twice today's price. */
const SEND_GAS = 50_000n;

/** What is left of a balance after the gas to send it; null: a node did not tell. */
function spendable(balance: unknown, gasPrice: unknown): bigint | null {
  if (typeof balance !== "string" || typeof gasPrice !== "string") return null;
  const left = toNumber(balance) - toNumber(gasPrice) * SEND_GAS;
  return left > 0n ? left : 0n;
}

/** Code, balances and allowances of an account in one round trip. */
export async function readPayer(
  { rpc, tokens }: Context,
  address: string,
  assets: string[],
): Promise<PayerFacts> {
  const known = assets.filter((asset) => tokens.has(asset));
  const native = assets.find(isNative);
  const answers = await rpc.batch([
    { method: "eth_getCode", params: [address, "latest"] },
    ...known.flatMap((asset) => [
      balanceCall(contractOf(asset), address),
      allowanceCall(contractOf(asset), address),
    ]),
    ...(native === undefined
      ? []
      : [
          { method: "eth_getBalance", params: [address, "latest"] },
          { method: "eth_gasPrice", params: [] },
        ]),
  ]);
  const code = answers[0];
  if (typeof code !== "string")
    throw new ChainUnavailable("a node did not tell the account's code");
  const coins = native === undefined ? null : spendable(answers.at(-2), answers.at(-1));
  return {
    hasCode: code !== "0x",
    tokens: [
      ...known.flatMap((asset, index) => {
        const balance = answers[1 + index * 2];
        const allowance = answers[2 + index * 2];
        if (!isWord(balance) || !isWord(allowance)) return [];
        return [{ asset, balance: BigInt(balance), allowance: BigInt(allowance) }];
      }),
      ...(native === undefined || coins === null
        ? []
        : [{ asset: native, balance: coins, allowance: 0n }]),
    ],
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

/** The keys that submit this mechanism and have gas money for a few captures at today's price. */
export async function readFundedSigners(
  context: Context,
  mechanism: SignedTerms["mechanism"],
): Promise<string[]> {
  const { relayers, spender } = context.facts;
  const signers = mechanism === "permit2" ? (spender === null ? [] : [spender]) : relayers;
  if (signers.length === 0) return [];
  return context.funded(signers.join(), async () => {
    const { maxFee } = await readFees(context);
    const balances = await context.rpc.batch(
      signers.map((signer) => ({ method: "eth_getBalance", params: [signer, "latest"] })),
    );
    const enough = maxFee * CAPTURE_GAS * FUNDED_FOR;
    return signers.filter((_, place) => toNumber(balances[place]) >= enough);
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
