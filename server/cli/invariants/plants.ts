import type { Hex } from "viem";

/** A world that a plant damages: its own copy of the database, and the chains, which are put back afterwards. */
export type Ground = {
  /** Runs with no trigger and no foreign key in the way. */
  sql(text: string, values?: unknown[]): Promise<Record<string, string>[]>;
  /** A call to the node of the first chain. */
  node(method: string, params: unknown[]): Promise<unknown>;
  chain: string;
  usdc: Hex;
  intermediary: Hex;
};

/** A violation of one invariant, made from its sentence and not from its check. */
export type Plant = {
  of: string;
  planted: string;
  plant(ground: Ground): Promise<void>;
  /** The node cannot take this back. */
  endsTheWorld?: true;
};

/** A plant of rows alone. */
export const rows = (of: string, planted: string, ...statements: string[]): Plant => ({
  of,
  planted,
  async plant({ sql }) {
    for (const statement of statements) await sql(statement);
  },
});
