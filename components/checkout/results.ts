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
