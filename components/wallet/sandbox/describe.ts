import { formatEther, hexToString, isHex } from "viem";
import type { Asked } from "./personality.ts";

/** Longest value shown before it is cut; the whole is under "raw". */
const LONGEST = 80;

const short = (value: string) => (value.length > LONGEST ? `${value.slice(0, LONGEST)}…` : value);

/** The leaves of a message, by their path. */
function leaves(value: unknown, path: string): Asked["facts"] {
  if (typeof value === "object" && value !== null)
    return Object.entries(value).flatMap(([name, inner]) =>
      leaves(inner, path === "" ? name : `${path}.${name}`),
    );
  return [{ name: path, value: short(String(value)) }];
}

/** Typed data as `eth_signTypedData_v4` carries it. */
export type TypedData = {
  domain: Record<string, unknown>;
  types: Record<string, { name: string; type: string }[]>;
  primaryType: string;
  message: Record<string, unknown>;
};

export const describeTypedData = (data: TypedData): Asked => ({
  title: `Sign ${data.primaryType}`,
  facts: [
    { name: "for", value: short(String(data.domain.name ?? "")) },
    { name: "network", value: String(data.domain.chainId ?? "") },
    ...leaves(data.message, ""),
  ],
  raw: JSON.stringify(data, null, 2),
});

/** A transaction as `eth_sendTransaction` carries it. */
export type Transaction = { from?: string; to?: string; value?: string; data?: string };

export const describeTransaction = (transaction: Transaction): Asked => ({
  title: "Send a transaction",
  facts: [
    { name: "to", value: transaction.to ?? "a new contract" },
    { name: "amount", value: `${formatEther(BigInt(transaction.value ?? "0x0"))} ETH` },
    { name: "data", value: short(transaction.data ?? "0x") },
  ],
  raw: JSON.stringify(transaction, null, 2),
});

export const describeMessage = (message: string): Asked => {
  const text = isHex(message) ? hexToString(message) : message;
  return { title: "Sign a message", facts: [{ name: "message", value: text }], raw: text };
};
