import type { PayStep } from "#server/contract/checkout.ts";
import type { WalletRpcAction } from "#server/domain/option/actions.ts";

type Json = Record<string, unknown>;
const asObject = (value: unknown): Json | null =>
  typeof value === "object" && value !== null ? (value as Json) : null;
const asText = (value: unknown): string | null => (typeof value === "string" ? value : null);

function typedMessage(params: readonly unknown[]): Json | null {
  const text = asText(params[1]);
  if (text === null) return null;
  return asObject(asObject(JSON.parse(text))?.message);
}

/** The account or contract a wallet names for a call, to be compared by the buyer; null: it names none. */
export function targetOf(step: PayStep | undefined, { data }: WalletRpcAction): string | null {
  if (step?.kind === "approve") return step.spender;
  if (data.method === "eth_sendTransaction") return asText(asObject(data.params[0])?.to);
  if (data.method !== "eth_signTypedData_v4") return null;
  const message = typedMessage(data.params);
  return asText(message?.to) ?? asText(message?.spender);
}
