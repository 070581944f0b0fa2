/** What a node answered to a call that was passed on. */
export type NodeAnswer =
  | { result: unknown }
  | { error: { code: number; message: string; data?: unknown } };

/** What an account was given on one chain (CAIP-2). */
export type Given = { chain: string; symbols: string[] };

/** What only a world without real money has: money for whoever asks, and its nodes. */
export type Faucet = {
  /** Gives an account coin and tokens on every chain of its family; returns once they are there. */
  fund(address: string, family: "eip155" | "solana"): Promise<Given[]>;
  /** Passes a call on to a chain's node; null: no such chain. Throws `ChainUnavailable` when the node does not answer. */
  ask(chain: string, method: string, params: unknown[]): Promise<NodeAnswer | null>;
};
