import { bytesToHex, keccak256 } from "viem";
import type { BroadcastOutcome } from "#server/ports/chain.ts";
import { readBroadcast } from "./node-phrases.ts";
import { type Rpc, RpcRefusal } from "./rpc.ts";

/** Best news first: one node that has the transaction is enough, and one that did not answer may have it. */
const ORDER: BroadcastOutcome["kind"][] = [
  "accepted",
  "already_known",
  "unknown",
  "nonce_too_low",
  "underpriced",
  "insufficient_funds",
  "rejected",
];

function classify(answer: PromiseSettledResult<unknown>, hash: string): BroadcastOutcome {
  if (answer.status === "fulfilled")
    return answer.value === hash
      ? { kind: "accepted" }
      : { kind: "unknown", detail: "a node took it without naming its hash" };
  const { reason } = answer;
  if (!(reason instanceof RpcRefusal))
    return { kind: "unknown", detail: reason instanceof Error ? reason.message : "no answer" };
  const kind = readBroadcast(reason.message);
  if (kind === null || kind === "rejected" || kind === "unknown")
    return { kind: "rejected", detail: reason.message };
  return { kind };
}

/** Sends stored bytes to every node and tells the best answer. */
export async function broadcast(rpc: Rpc, raw: Uint8Array): Promise<BroadcastOutcome> {
  const answers = await rpc.everywhere("eth_sendRawTransaction", [bytesToHex(raw)]);
  const hash = keccak256(raw);
  const outcomes = answers.map((answer) => classify(answer, hash));
  outcomes.sort((a, b) => ORDER.indexOf(a.kind) - ORDER.indexOf(b.kind));
  return outcomes[0] ?? { kind: "unknown", detail: "no node is configured" };
}
