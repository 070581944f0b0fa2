import type { Query } from "#server/db/client.ts";
import type { ChainView } from "./chain-view.ts";
import { type Finding, judge } from "./finding.ts";
import type { SolanaView } from "./solana-view.ts";

/** What the checks look at: the database as it was at one moment, and the chains as they were just before it. */
export type Context = {
  query: Query;
  chains: ChainView[];
  /** Solana clusters that answered. */
  solana: SolanaView[];
  /** Chains the database knows and that were not looked at; `failed` when a node was configured and gave no answer. */
  unseen: { chain: string; why: string; failed: boolean }[];
  /** Decimals of the registered tokens, by asset. */
  decimals: Map<string, number>;
  /** Seconds a batched settlement may wait for its batch. */
  batchS: number;
};

/** What a check saw of one chain. */
export type Seen = {
  looked: number;
  problems: string[];
  notes?: string[];
  /** Parts that could not be looked at, each with why. */
  unchecked?: string[];
};

/** The note on rows left to a later run, since their blocks are above the node's final one; none where there are none. */
export const aboveFinal = (rows: number): string[] =>
  rows === 0 ? [] : [`${rows} above its node's final block left to the next run`];

/** What is said of rows whose slots a node no longer keeps; nothing where there are none. */
export const outOfReach = (rows: number, oldest: bigint): string[] =>
  rows === 0 ? [] : [`${rows} not checked: its node keeps no slot below ${oldest}`];

/** Rows of a chain that its node can show, by block, and what is said of the others. */
export function shownBy<Row>(
  { finalized, oldest }: { finalized: { number: bigint }; oldest: bigint },
  all: Row[],
  blockOf: (row: Row) => string | null,
): { rows: Row[]; notes: string[]; unchecked: string[] } {
  const numberOf = (row: Row) => BigInt(blockOf(row) ?? oldest);
  const rows = all.filter((row) => numberOf(row) >= oldest && numberOf(row) <= finalized.number);
  const gone = all.filter((row) => numberOf(row) < oldest).length;
  return {
    rows,
    notes: aboveFinal(all.length - rows.length - gone),
    unchecked: outOfReach(gone, oldest),
  };
}

/** How a check looks at a chain of each kind; a text says why it does not look at clusters of Solana. */
export type Looks = {
  evm(view: ChainView): Promise<Seen>;
  solana: ((view: SolanaView) => Promise<Seen>) | string;
};

/** Runs a check on every chain that answers and adds up; chains that were not seen are named. */
export async function onChains(
  context: Context,
  noun: string,
  { evm, solana }: Looks,
): Promise<Finding> {
  const unseen = context.unseen.map(({ chain, why }) => `${chain} not checked: ${why}`);
  const looks = context.chains.map((view) => ({ chain: view.chain, look: () => evm(view) }));
  for (const view of context.solana)
    if (typeof solana === "string") unseen.push(`${view.chain} not checked: ${solana}`);
    else looks.push({ chain: view.chain, look: () => solana(view) });
  const problems: string[] = [];
  const notes: string[] = [];
  let looked = 0;
  for (const { chain, look } of looks) {
    const seen = await look();
    looked += seen.looked;
    problems.push(...seen.problems.map((problem) => `${chain}: ${problem}`));
    notes.push(...(seen.notes ?? []).map((note) => `${chain}: ${note}`));
    unseen.push(...(seen.unchecked ?? []).map((part) => `${chain}: ${part}`));
  }
  if (problems.length > 0) return judge(problems, "");
  const failed = context.unseen.some((one) => one.failed);
  if (looks.length === 0 || failed)
    return {
      outcome: "not_checked",
      note: unseen.length === 0 ? "the database knows no chain yet" : unseen.join("; "),
      failed,
    };
  return judge([], [`${looked} ${noun}`, ...notes].join("; "), unseen);
}
