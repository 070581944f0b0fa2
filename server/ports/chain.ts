import type { WalletRpcAction } from "#server/domain/option/actions.ts";
import type {
  Mechanism,
  SignedTerms,
  Terms,
  TransferTerms,
} from "#server/domain/option/authorization.ts";
import type { DepthBand } from "#server/domain/payment/evidence.ts";

/** A block as a scanner needs it; `time` is Unix seconds. */
export type BlockRef = { number: bigint; hash: string; parent: string; time: bigint };

/** A chain's head and its finality tags; where a tag is missing the node's number for it is 0. */
export type ChainHead = { latest: BlockRef; safe: bigint; finalized: BlockRef };

/** One transfer of a registered token or of native coin to a watched account, in one block. EVM addresses are lower case. */
export type InboundTransfer = {
  /** CAIP-19 without prefix, lower case. */
  asset: string;
  payer: string;
  recipient: string;
  amount: bigint;
  txHash: string;
  /** -1 for native coin, which leaves no log. */
  logIndex: number;
  /** EIP-3009 nonce used by the payer in the same call, on Solana the reference account of the transfer as hex; or null. */
  authNonce: string | null;
  /** The 32 bytes that a transfer of native coin carried as its data, lower case; null: something else, or a token. */
  tag: string | null;
};

/** A transaction as a node knows it, mined or not. Addresses and data are lower case; `to` is null for a creation. */
export type KnownTx = {
  from: string;
  to: string | null;
  value: bigint;
  data: string;
  nonce: bigint;
  /** Whether it is in a block. */
  mined: boolean;
};

/** A transfer of a registered token, whoever made it and whoever got it. Addresses are lower case. */
export type SentTransfer = Omit<InboundTransfer, "authNonce" | "tag"> & { blockNumber: bigint };

/** Which transfers are looked for: any of `assets` from any of `senders` to any of `recipients`, blocks `from` to `to`. */
export type TransferQuery = {
  assets: string[];
  senders: string[];
  recipients: string[];
  from: bigint;
  to: bigint;
};

/** Token facts a wallet and our own checks need. */
export type TokenFacts = {
  /** CAIP-19 without prefix, lower case: `eip155:1/erc20:0x…`, or `eip155:1/slip44:60` for native coin. */
  asset: string;
  symbol: string;
  name: string;
  decimals: number;
  iconUrl: string | null;
  mechanism: Mechanism;
  /** ISO 4217 code it counts 1:1 for inside the depeg band; null: floating. */
  peg: string | null;
  depegBps: number;
};

/** One configured chain, as data. */
export type ChainFacts = {
  chain: string;
  name: string;
  environment: "test" | "live";
  iconUrl: string | null;
  blockTimeMs: number;
  pollMs: number;
  stuckAfterS: number;
  depth: DepthBand[];
  /** Usual distance of the finality tags from the head, in blocks. */
  tagBlocks: { safe: number; finalized: number };
  /** What the registry has for it, whether or not it agrees with the chain; native coin only where buyers may pay with it. */
  registered: readonly TokenFacts[];
  /** Those of them that are offered now: none before the chain was compared with its entry. */
  tokens: TokenFacts[];
  relayers: string[];
  /** Null where the chain has no Permit2. */
  spender: string | null;
  intermediary: string;
};

/** What an account holds, read at the latest block. */
export type PayerFacts = {
  hasCode: boolean;
  /** Per asked asset; an asset whose read failed is absent. `allowance` is the one to Permit2; native coin is less the gas to send it. */
  tokens: { asset: string; balance: bigint; allowance: bigint }[];
};

/** What an option is made from; all of it is ours. */
export type OfferInput = {
  asset: string;
  payer: string;
  payerHasCode: boolean;
  recipient: string;
  amount: bigint;
  nonce: string;
  /** What a transfer of native coin carries as its data. */
  tag: string;
  /** Message to be signed first as proof that the account is the buyer's; null: no proof is asked for. */
  proof: string | null;
  /** Unix seconds. */
  deadline: number;
  /** Allowance to Permit2 now. */
  allowance: bigint;
  /** Extra allowance asked for when the price may move, in basis points. */
  approveHeadroomBps: number;
};

/** Actions in order, and what the last of them authorizes with its EIP-712 digest; for a transfer the wallet sends, its tag. */
export type Offer = { actions: WalletRpcAction[]; authorization: Terms; digest: string };

/** Why a call would not go through now, read from the chain. */
export type RevertReason =
  | "nonce_used"
  | "expired"
  | "bad_signature"
  | "insufficient_balance"
  | "insufficient_allowance"
  | "denied"
  | "other";

export type SignatureCheck =
  | { kind: "valid" }
  | { kind: "invalid"; reason: string }
  | { kind: "would_revert"; reason: RevertReason; detail: string };

/** The only transactions a signer signs; nothing is ever signed from raw calldata. */
export type TxPlan =
  /** `lapsesAt`: last block height at which it may land, as decimal text; absent where the authorization itself ends. */
  | { kind: "capture"; authorization: SignedTerms; signature: string; lapsesAt?: string }
  | { kind: "transfer"; asset: string; to: string; amount: string }
  | { kind: "fill" };

/** Gas of one capture, and for how many of them a key must have money before its options are offered. */
export const CAPTURE_GAS = 120_000n;
export const FUNDED_FOR = 3n;

/** Wei per gas. */
export type Fees = { maxFee: bigint; maxPriorityFee: bigint };

export type SignedTx = {
  hash: string;
  raw: Uint8Array;
  /** Last block height at which it may land; null: it never lapses, its nonce decides. */
  lapsesAt: bigint | null;
};

/** What a node said to a raw transaction. `unknown`: no answer; only evidence may decide then. */
export type BroadcastOutcome =
  | { kind: "accepted" }
  | { kind: "already_known" }
  | { kind: "nonce_too_low" }
  | { kind: "underpriced" }
  | { kind: "insufficient_funds" }
  | { kind: "rejected"; detail: string }
  | { kind: "unknown"; detail: string };

export type Simulation =
  | { kind: "ok"; gas: bigint }
  | { kind: "revert"; reason: RevertReason; detail: string };

export type Receipt = {
  hash: string;
  status: "success" | "reverted";
  blockNumber: bigint;
  blockHash: string;
  /** Wei. */
  gasCost: bigint;
};

/** A transaction made for a wallet to sign; `message` is what is signed, in base64. */
export type BuiltTx = { message: string; blockhash: string; lapsesAt: bigint };

/** An arrival and the block it is in. */
export type Arrival = { block: BlockRef; transfer: InboundTransfer };

/** What became of a transaction, by every node: `lapsed` only when none can know it and none will take it any more. */
export type TxFate =
  | { kind: "landed"; receipt: Receipt; final: boolean }
  | { kind: "lapsed" }
  | { kind: "open" };

/** State of an authorization nonce: EIP-3009 cannot tell used from cancelled by it, the logs do. */
export type NonceState = "unused" | "used";

/** Read at which block: the head, or the finalized one. */
export type ReadAt = "latest" | "finalized";

/** Reading of chains whose every block is read (EVM): on top of verified parents, and by nonces. */
type BlockReads = {
  readonly model: "nonces";
  /**
   * Transfers of registered tokens, and of native coin where it is accepted, in exactly this block to any of `recipients`, by
   * block hash. Native coin that a contract passes on in an inner call is not seen: only whole transactions to a recipient are.
   */
  inboundTransfers(block: BlockRef, recipients: string[]): Promise<InboundTransfer[]>;
};

/** Reading of chains whose blocks are too large to read (Solana): by the history of accounts, and transactions that lapse. */
type AccountReads = {
  readonly model: "lifetimes";
  /** Net movements of registered assets to any of `recipients` in confirmed blocks `from` to `to`. */
  inboundBetween(recipients: string[], from: bigint, to: bigint): Promise<Arrival[]>;
  /** Fate of a transaction that may land up to `lapsesAt`. */
  fate(hash: string, lapsesAt: bigint): Promise<TxFate>;
  /** Whether the height is past on every node at finalized, so that what could land up to it has landed or never will. */
  isPast(lapsesAt: bigint): Promise<boolean>;
  /** Makes the transaction that a wallet is asked to sign for these terms. */
  build(terms: TransferTerms): Promise<BuiltTx>;
  /** How many blocks a transaction may still land in, by the newest block. */
  blocksLeft(lapsesAt: bigint): Promise<bigint>;
  /** Pure: what a wallet is asked to do with a made transaction. */
  signAction(built: BuiltTx): WalletRpcAction;
  /** Pure: the lifetime that the transaction in an output names; null: the output is no transaction. */
  blockhashOf(output: string): string | null;
  /** Compares what a wallet returned with what was made for it, verifies its signature and simulates; `wire` is what to submit. */
  checkTransaction(
    terms: TransferTerms,
    built: BuiltTx,
    output: string,
  ): Promise<SignatureCheck & { wire?: string }>;
};

/**
 * One chain. Reads answer facts and throw `ChainUnavailable` when no node answers; nothing here decides
 * whether money counts. EVM addresses in and out are lower case.
 */
type CommonPort = {
  readonly facts: ChainFacts;
  head(): Promise<ChainHead>;
  /** Null: no such block yet. */
  blockAt(number: bigint): Promise<BlockRef | null>;
  /** Transfers in blocks that are final, in the chain's order. */
  transfersBetween(query: TransferQuery): Promise<SentTransfer[]>;
  /** Pure: the call a wallet makes to send exactly this; null where `transfersBetween` would not find it. */
  walletTransfer(
    asset: string,
    from: string,
    to: string,
    amount: bigint,
  ): WalletRpcAction["data"] | null;
  payerFacts(address: string, assets: string[]): Promise<PayerFacts>;
  /** Pure: builds what a wallet is asked for; null: this account cannot pay with this token here. */
  offer(input: OfferInput): Offer | null;
  /**
   * Verifies the signature against the stored authorization, then simulates the real call from the key that
   * will send it; `allowancePending` simulates as if Permit2 were allowed the amount already.
   */
  checkSignature(
    authorization: SignedTerms,
    signature: string,
    options: { payerHasCode: boolean; allowancePending: boolean },
  ): Promise<SignatureCheck>;
  /** Whether the account signed this message: a plain account by recovery, one with code by ERC-1271. */
  provesAccount(
    account: string,
    message: string,
    signature: string,
    hasCode: boolean,
  ): Promise<boolean>;
  simulate(plan: TxPlan, signer: string): Promise<Simulation>;
  /** Of the keys that submit this mechanism, those with money for the fees of a few captures; without any, it is not offered. */
  fundedSigners(mechanism: SignedTerms["mechanism"]): Promise<string[]>;
  fees(): Promise<Fees>;
  /** Signs with the named key; refuses any plan the key's role does not allow. Deterministic (RFC 6979). */
  sign(
    plan: TxPlan,
    tx: { signer: string; nonce: bigint; gas: bigint; fees: Fees },
  ): Promise<SignedTx>;
  broadcast(raw: Uint8Array): Promise<BroadcastOutcome>;
  /** Null: no node knows the transaction, which says nothing about whether one will. */
  transaction(hash: string): Promise<KnownTx | null>;
  /** Null: no node knows a receipt. */
  receipt(hash: string): Promise<Receipt | null>;
  /** The receipts of those of `hashes` that are in this block. */
  receiptsIn(block: BlockRef, hashes: string[]): Promise<Receipt[]>;
  /** Count of mined transactions of an account. */
  transactionCount(address: string, at: ReadAt): Promise<bigint>;
  nonceState(authorization: SignedTerms, at: ReadAt): Promise<NonceState>;
  tokenBalance(asset: string, address: string, at: bigint): Promise<bigint>;
  nativeBalance(address: string): Promise<bigint>;
};

/** A chain that is read block by block, and whose transactions have nonces. */
export type NonceChain = CommonPort & BlockReads;
/** A chain that is read by the history of accounts, and whose transactions lapse. */
export type LifetimeChain = CommonPort & AccountReads;
/** Any chain; what only one model has is reached by asking for `model`. */
export type ChainPort = NonceChain | LifetimeChain;

const UNAVAILABLE = Symbol.for("florin.ChainUnavailable");

/** No node of the chain answered; says nothing about the chain itself. Recognised across bundles by a brand. */
export class ChainUnavailable extends Error {
  constructor(message: string, options?: { cause?: unknown }) {
    super(message, options);
    Object.defineProperty(this, UNAVAILABLE, { value: true });
  }

  static override [Symbol.hasInstance](value: unknown): boolean {
    return typeof value === "object" && value !== null && UNAVAILABLE in value;
  }
}
