/** What the sandbox wallet needs of the server; both exist in sandbox mode only. */
export type SandboxDoor = {
  /** Gives a fresh address coins and tokens on every chain of its family. */
  fund(account: { address: string; family: "eip155" | "solana" }): Promise<unknown>;
  /** One JSON-RPC call to the node of a sandbox chain (CAIP-2), with the node's own answer. */
  rpc(call: {
    chain: string;
    method: string;
    params: unknown[];
  }): Promise<{ result?: unknown } | { error: { code: number; message: string } }>;
};
