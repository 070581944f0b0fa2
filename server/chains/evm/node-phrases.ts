import type { BroadcastOutcome } from "#server/ports/chain.ts";

/**
 * Everything in Florin that reads the wording of a node. JSON-RPC codes are too coarse: most nodes answer -32000 to each of these.
 * What is not listed decides nothing: a broadcast is then `rejected`, which ends nothing, and a call is then not answered.
 *
 * Sources: go-ethereum core/txpool/errors.go, core/error.go and core/vm/errors.go (also op-geth, Nitro, Bor, BSC), Erigon
 * txpoolcfg.go (discard reasons), Nethermind AcceptTxResult.cs, Besu TransactionInvalidReason.java, Reth pool errors, anvil.
 */

/** Tried in this order: "replacement transaction underpriced" must not be taken for a known transaction. */
const BROADCAST: [
  RegExp,
  "already_known" | "nonce_too_low" | "underpriced" | "insufficient_funds",
][] = [
  [
    /already known|already ?imported|known transaction|alreadyknown|tx with same hash/i,
    "already_known",
  ],
  [/nonce (is )?too low|oldnonce|nonce below|nonce_too_low/i, "nonce_too_low"],
  [
    /underpriced|less than (the )?(current )?(block )?base ?fee|below (the )?(current )?(block )?base ?fee|fee ?too ?low|max fee per gas less|could not replace existing|replacementnotallowed|gas price too low|gas_price_too_low/i,
    "underpriced",
  ],
  [
    /insufficient funds|insufficientfunds|insufficient balance|upfront cost exceeds|upfront_cost_exceeds/i,
    "insufficient_funds",
  ],
];

/** The call ran in the EVM and did not succeed; anything else means that the node did not run it. */
const EXECUTED =
  /revert|invalid opcode|out of ?gas|gas required exceeds|invalid jump|bad jump|stack (under|over)flow|stack limit|vm execution error|bad instruction|write protection/i;

/** What a node's words about a raw transaction mean; null: not listed. */
export const readBroadcast = (message: string): BroadcastOutcome["kind"] | null =>
  BROADCAST.find(([phrase]) => phrase.test(message))?.[1] ?? null;

/** Whether a node's words about a call tell how its execution ended. */
export const saysExecuted = (message: string): boolean => EXECUTED.test(message);
