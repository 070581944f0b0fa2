import type { Query } from "#server/db/client.ts";
import type { ChainView } from "./chain-view.ts";
import { type Finding, judge } from "./finding.ts";
import type { SolanaNode } from "./solana-node.ts";

/** What the checks look at: the database as it was at one moment, and the chains as they were just before it. */
export type Context = {
  query: Query;
  chains: ChainView[];
  /** Solana clusters that answered. */
  solana: Map<string, SolanaNode>;
  /** Chains the database knows and that were not looked at; `failed` when a node was configured and gave no answer. */
  unseen: { chain: string; why: string; failed: boolean }[];
  /** Decimals of the registered tokens, by asset. */
  decimals: Map<string, number>;
  /** Seconds a batched settlement may wait for its batch. */
  batchS: number;
};

/** What a check saw of one chain. */
export type Seen = { looked: number; problems: string[]; notes?: string[] };

/** The note on rows left to a later run, since their blocks are above the node's final one; none where there are none. */
export const aboveFinal = (rows: number): string[] =>
  rows === 0 ? [] : [`${rows} above its node's final block left to the next run`];

/** Runs a check on every chain that answers and adds up; chains that were not seen are named. */
export async function onChains(
  context: Context,
  noun: string,
  look: (view: ChainView) => Promise<Seen>,
): Promise<Finding> {
  const unseen = context.unseen.map(({ chain, why }) => `${chain} not checked: ${why}`);
  const problems: string[] = [];
  const notes: string[] = [];
  let looked = 0;
  for (const view of context.chains) {
    const seen = await look(view);
    looked += seen.looked;
    problems.push(...seen.problems.map((problem) => `${view.chain}: ${problem}`));
    notes.push(...(seen.notes ?? []).map((note) => `${view.chain}: ${note}`));
  }
  if (problems.length > 0) return judge(problems, "");
  const failed = context.unseen.some((one) => one.failed);
  if (context.chains.length === 0 || failed)
    return {
      outcome: "not_checked",
      note: unseen.length === 0 ? "the database knows no chain yet" : unseen.join("; "),
      failed,
    };
  return judge([], [`${looked} ${noun}`, ...notes, ...unseen].join("; "));
}
