/** A node of a Solana cluster and what is registered there; `mint` is null for native coin. */
export type SolanaNode = { urls: string[]; assets: { asset: string; mint: string | null }[] };
