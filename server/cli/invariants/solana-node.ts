/** Something of value on a cluster; `mint` is null for native coin. */
export type SolanaAsset = { asset: string; mint: string | null };

/** Where a cluster's nodes are and what is registered there. */
export type SolanaNode = { urls: string[]; assets: SolanaAsset[] };
