import { bytesToHex } from "viem";
import type { BroadcastOutcome } from "#server/ports/chain.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";

/**
 * How nodes word the reasons for refusing a raw transaction; JSON-RPC codes do not tell them apart.
 * Sources: geth core/txpool errors, Erigon, Nethermind, Besu, anvil. What is not listed is `rejected`, which ends nothing.
 */
const PHRASES: [RegExp, BroadcastOutcome["kind"]][] = [
  [/already known|already imported|known transaction|alreadyknown/i, "already_known"],
  [/nonce too low|nonce is too low|oldnonce/i, "nonce_too_low"],
  [
    /underpriced|less than block base fee|fee too low|feetoolow|max fee per gas less/i,
    "underpriced",
  ],
  [/insufficient funds|insufficientfunds|insufficient balance for gas/i, "insufficient_funds"],
];

/** Best news first: one node that has the transaction is enough. */
const ORDER: BroadcastOutcome["kind"][] = [
  "accepted",
  "already_known",
  "unknown",
  "nonce_too_low",
  "underpriced",
  "insufficient_funds",
  "rejected",
];

function classify(answer: PromiseSettledResult<unknown>): BroadcastOutcome {
  if (answer.status === "fulfilled") return { kind: "accepted" };
  const { reason } = answer;
  if (!(reason instanceof RpcRefusal)) return { kind: "unknown", detail: String(reason) };
  const found = PHRASES.find(([phrase]) => phrase.test(reason.message))?.[1];
  if (found === undefined || found === "rejected" || found === "unknown")
    return { kind: "rejected", detail: reason.message };
  return { kind: found };
}

/** Sends stored bytes to every node and tells the best answer. */
export async function broadcast(rpc: Rpc, raw: Uint8Array): Promise<BroadcastOutcome> {
  const answers = await rpc.everywhere("eth_sendRawTransaction", [bytesToHex(raw)]);
  const outcomes = answers.map(classify);
  outcomes.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  return outcomes[0] ?? { kind: "unknown", detail: "no node is configured" };
}
