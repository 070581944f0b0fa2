import type { Output } from "./client.ts";
import type { Action, WalletRpc } from "./shapes.ts";

/** What an executor may want to know besides the parameters. */
export type ExecutionContext = {
  /** CAIP-2 chain the action is for. */
  chainId: string;
  /** CAIP-10 account of the option, as this wallet wrote it. */
  account: string;
  /** Position among `total` actions, from 0. */
  index: number;
  total: number;
  signal?: AbortSignal | undefined;
};

/**
 * Executes one action and gives its output: a signature, the hash of the transaction it broadcast, or
 * a signed transaction. Throws `ActionDeclined`, or any error with the EIP-1193 code 4001, when nothing
 * left the wallet; any other error of a broadcasting method means that something may have: `MaybeSent`
 * where its hash is known.
 */
export type Executor = (params: unknown[], context: ExecutionContext) => Promise<Output>;

/** Executors by namespace of the chain, then by method: `{ eip155: { personal_sign: … }, solana: { … } }`. */
export type Executors = Readonly<Record<string, Readonly<Record<string, Executor>>>>;

/** Thrown by an executor that did not sign or send anything; the message is shown to the user. */
export class ActionDeclined extends Error {
  override readonly name = "ActionDeclined";
}

/** Thrown by an executor whose broadcast may have gone out though it ended in an error; `hash` is reported as if it had. */
export class MaybeSent extends Error {
  override readonly name = "MaybeSent";
  readonly hash: string;
  constructor(hash: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.hash = hash;
  }
}

/** The user's own "no" in wallets that speak EIP-1193. */
const USER_REJECTED = 4001;

/** Whether an executor's error says for certain that nothing was signed or sent. */
export function isDeclined(error: unknown): boolean {
  if (error instanceof ActionDeclined) return true;
  return (
    typeof error === "object" && error !== null && "code" in error && error.code === USER_REJECTED
  );
}

/** The executor of a call; null: this wallet has none. */
export function executorOf(executors: Executors, { chainId, method }: WalletRpc): Executor | null {
  const namespace = chainId.slice(0, chainId.indexOf(":"));
  const methods = Object.hasOwn(executors, namespace) ? executors[namespace] : undefined;
  return methods !== undefined && Object.hasOwn(methods, method) ? (methods[method] ?? null) : null;
}

/** Whether this wallet can execute an action as far as it can be seen before fetch resolves it. */
export function isExecutable(executors: Executors, action: Action): boolean {
  if (action.type === "build") return true;
  return action.type === "walletRpc" && executorOf(executors, action) !== null;
}

/** Whether executing the call broadcasts a transaction, after which there is no way back. */
export const broadcasts = ({ method }: WalletRpc): boolean => method === "eth_sendTransaction";
