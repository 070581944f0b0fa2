/** One call a wallet makes; `params` is the JSON array of the call itself. */
export type WalletRpcAction = {
  type: "walletRpc";
  data: { chain_id: string; method: WalletRpcMethod; params: unknown[] };
};

/** Something only fetch can resolve into calls; the string is opaque and authenticated by us. */
export type BuildAction = { type: "build"; data: { data: string } };

export type Action = WalletRpcAction | BuildAction;

/** The methods this protocol names. */
export type WalletRpcMethod =
  | "eth_signTypedData_v4"
  | "eth_sendTransaction"
  | "personal_sign"
  | "solana_signTransaction";
