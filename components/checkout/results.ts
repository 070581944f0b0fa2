import type { CheckoutOption } from "#server/contract/checkout.ts";

/** What a wallet gave for one call, as `confirm` wants it. */
export type Result = { type: "walletRpc"; data: [string | Record<string, unknown>] };

/** Wraps the output of a wallet; what is neither text nor an object becomes text. */
export const asResult = (output: unknown): Result => ({
  type: "walletRpc",
  data: [
    typeof output === "object" && output !== null
      ? (output as Record<string, unknown>)
      : String(output),
  ],
});

/** Whether the step's end is shown before the next one is asked for. */
export const isEarlyStep = (kind: string | undefined) =>
  kind === "approve" || kind === "reset_allowance";

/** Whether the wallet itself moves the money: such a result is never asked for twice. */
export const isSentByWallet = ({ steps }: CheckoutOption): boolean => steps.at(-1)?.kind === "send";

/** The results that stay good after the server refused a signature: allowances stand, a refused proof takes all with it. */
export const keptAfterRefusal = (results: Result[], issues: { path: string }[]): Result[] =>
  issues.some(({ path }) => path === "results.0") ? [] : results.slice(0, -1);

const HASH = /^0x[0-9a-f]{64}$/i;
/** From the shortest form of a signature up to what no wallet needs; contracts sign with more bytes than accounts do. */
const SIGNATURE = /^0x([0-9a-f]{2}){64,8192}$/i;

/**
 * What an EVM wallet's answer lacks of being one: "signature" or "hash"; null: nothing. An answer of another shape is not handed in,
 * since the server takes it as the word that the wallet cannot pay this way, and ends the payment.
 */
export function lackOf(method: string, output: unknown): "signature" | "hash" | null {
  if (method === "eth_signTypedData_v4" || method === "personal_sign")
    return typeof output === "string" && SIGNATURE.test(output) ? null : "signature";
  if (method !== "eth_sendTransaction") return null;
  const named = typeof output === "object" && output !== null && "hash" in output;
  const hash = named ? output.hash : output;
  return typeof hash === "string" && HASH.test(hash) ? null : "hash";
}
