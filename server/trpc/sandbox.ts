import { AppError } from "#server/platform/app-error.ts";
import type { Faucet, Given, NodeAnswer } from "#server/ports/faucet.ts";
import { type ApiContext, open, router } from "./init.ts";
import { INPUTS, input } from "./inputs.ts";

/** What a wallet asks of a node: reads, and handing in what was signed. Nothing that moves a chain's time or money by itself. */
const PASSED_ON: ReadonlySet<string> = new Set([
  "eth_blockNumber",
  "eth_call",
  "eth_chainId",
  "eth_estimateGas",
  "eth_feeHistory",
  "eth_gasPrice",
  "eth_getBalance",
  "eth_getBlockByNumber",
  "eth_getCode",
  "eth_getTransactionByHash",
  "eth_getTransactionCount",
  "eth_getTransactionReceipt",
  "eth_maxPriorityFeePerGas",
  "eth_sendRawTransaction",
  "net_version",
  "getBalance",
  "getLatestBlockhash",
  "getTokenAccountsByOwner",
]);

/** What there is in a sandbox; in every other mode the procedures do not exist. */
function faucetOf({ parts }: ApiContext): Faucet {
  if (parts.faucet === null) throw new AppError("not_found", "There is no such procedure");
  return parts.faucet;
}

/** What only a world without real money has: a purse for new test wallets and a way to its nodes. */
export const sandbox = router({
  /** Gives an account coin and tokens on every chain of its family. */
  fund: open
    .input(input(INPUTS.fund))
    .mutation(async ({ ctx, input }): Promise<{ funded: Given[] }> => {
      const funded = await faucetOf(ctx).fund(input.address, input.family);
      return { funded };
    }),

  /** Passes a harmless call on to the chain's node, with the node's own answer. */
  rpc: open.input(input(INPUTS.rpc)).mutation(async ({ ctx, input }): Promise<NodeAnswer> => {
    const faucet = faucetOf(ctx);
    const { chain, method, params } = input;
    if (!PASSED_ON.has(method))
      throw new AppError("forbidden", "The sandbox passes this method on to no node");
    const answer = await faucet.ask(chain, method, params);
    if (answer === null) throw new AppError("not_found", "There is no such chain");
    return answer;
  }),
});
