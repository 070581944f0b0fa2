import type { Action, WalletRpcAction } from "#server/domain/option/actions.ts";

/** One thing a wallet is asked for; `approve` and `send` cost its owner a network fee. */
export type Step =
  | { kind: "prove" | "reset_allowance" | "sign" | "send" }
  | { kind: "approve"; minor: bigint; spender: string };

/** `approve(address,uint256)` and its two words of 32 bytes. */
const APPROVE = /^0x095ea7b3(?:0{24})([0-9a-f]{40})([0-9a-f]{64})$/i;

function stepOf({ data: { method, params } }: WalletRpcAction): Step {
  if (method === "personal_sign") return { kind: "prove" };
  if (method !== "eth_sendTransaction") return { kind: "sign" };
  const [call] = params;
  const data = typeof call === "object" && call !== null && "data" in call ? String(call.data) : "";
  const [, spender = "", amount = ""] = APPROVE.exec(data) ?? [];
  if (spender === "") return { kind: "send" };
  const minor = BigInt(`0x${amount}`);
  return minor === 0n
    ? { kind: "reset_allowance" }
    : { kind: "approve", minor, spender: `0x${spender}` };
}

/** Whether a step is the payment itself. */
const pays = ({ kind }: Step): boolean => kind === "sign" || kind === "send";

/**
 * What an option asks of a wallet, one step for each call. Calls that only fetch hands out are known by their mechanism, and by
 * whether the account has to be proven first.
 */
export function stepsOf(
  actions: Action[],
  { broadcaster, proves }: { broadcaster: "us" | "wallet"; proves: boolean },
): Step[] {
  const known = actions.filter((one) => one.type === "walletRpc").map(stepOf);
  if (known.some(pays)) return known;
  const last: Step = { kind: broadcaster === "wallet" ? "send" : "sign" };
  const hasProof = known.some(({ kind }) => kind === "prove");
  return [...(proves && !hasProof ? [{ kind: "prove" } as const] : []), ...known, last];
}
