import type { WalletRpcAction, WalletRpcMethod } from "./actions.ts";

/** One result as it arrived: the elements of its `data`. */
export type Result = { type: "walletRpc"; data: unknown[] };

/** Outputs in the order of the actions, or why they cannot be the outputs of these actions. */
export type Alignment =
  | { kind: "aligned"; outputs: string[] }
  | { kind: "misaligned"; reason: string };

const HEX = /^0x([0-9a-fA-F]{2})+$/;
const HASH = /^0x[0-9a-fA-F]{64}$/;

/** Puts results back into one output per action: clients send one result each, or all outputs in one result. */
function flatten(results: Result[], expected: number): unknown[] | null {
  const only = results[0];
  if (results.length === 1 && expected > 1 && only !== undefined && only.data.length === expected)
    return only.data;
  if (results.some(({ data }) => data.length !== 1)) return null;
  return results.map(({ data }) => data[0]);
}

/**
 * A plain account's signature as 65 bytes with v of 27 or 28; null: no such signature.
 * Accepts 65 bytes with v 0, 1, 27 or 28, and the 64-byte form of EIP-2098.
 */
export function normaliseSignature(hex: string): string | null {
  if (!HEX.test(hex)) return null;
  const body = hex.slice(2).toLowerCase();
  if (body.length === 128) {
    const yParityAndS = BigInt(`0x${body.slice(64)}`);
    const s = yParityAndS & ((1n << 255n) - 1n);
    const v = yParityAndS >> 255n === 1n ? "1c" : "1b";
    return `0x${body.slice(0, 64)}${s.toString(16).padStart(64, "0")}${v}`;
  }
  if (body.length !== 130) return null;
  const v = body.slice(128);
  const normal: Record<string, string> = { "00": "1b", "01": "1c", "1b": "1b", "1c": "1c" };
  const last = normal[v];
  return last === undefined ? null : `0x${body.slice(0, 128)}${last}`;
}

/** Base64 or base58 text that is longer than a signature and no longer than a transaction. */
const SIGNED_TRANSACTION = /^[0-9A-Za-z+/_-]{120,2000}={0,2}$/;

/** A signed transaction as text, alone or as a member of what some wallets answer; null: it can be none. */
function readSigned(output: unknown): string | null {
  if (typeof output === "string") return SIGNED_TRANSACTION.test(output) ? output : null;
  if (typeof output !== "object" || output === null) return null;
  const { transaction = null, signedTransaction = transaction } = output as Record<string, unknown>;
  return typeof signedTransaction === "string" ? readSigned(signedTransaction) : null;
}

/** How deep in an output, and how many in all, hashes are looked for. */
const DEPTH = 3;
const MOST_HASHES = 4;

/** Every text in the shape of a transaction's hash that a wallet gave, wherever it stands; the first few, once each. */
export function hashesIn(results: Result[]): string[] {
  const found = new Set<string>();
  const look = (value: unknown, depth: number): void => {
    if (typeof value === "string" && HASH.test(value)) found.add(value.toLowerCase());
    else if (typeof value === "object" && value !== null && depth < DEPTH)
      for (const one of Object.values(value)) look(one, depth + 1);
  };
  for (const { data } of results) for (const one of data) look(one, 0);
  return [...found].slice(0, MOST_HASHES);
}

function readOutput(
  method: WalletRpcMethod,
  output: unknown,
  payerHasCode: boolean,
): string | null {
  if (method === "solana_signTransaction") return readSigned(output);
  if (typeof output !== "string") return null;
  if (method === "eth_sendTransaction") return HASH.test(output) ? output.toLowerCase() : null;
  if (payerHasCode) return HEX.test(output) && !HASH.test(output) ? output.toLowerCase() : null;
  return normaliseSignature(output);
}

/**
 * Checks that `results` can be the outputs of `actions`, position by position.
 * `outputs[i]` belongs to `actions[i]`; signatures of plain accounts come back normalised.
 */
export function alignResults(
  actions: WalletRpcAction[],
  results: Result[],
  payerHasCode: boolean,
): Alignment {
  const outputs = flatten(results, actions.length);
  if (outputs === null)
    return { kind: "misaligned", reason: "a result has more or less than one output" };
  if (outputs.length !== actions.length)
    return {
      kind: "misaligned",
      reason: `${outputs.length} results for ${actions.length} actions`,
    };
  const read: string[] = [];
  for (const [index, action] of actions.entries()) {
    const output = readOutput(action.data.method, outputs[index], payerHasCode);
    if (output === null)
      return {
        kind: "misaligned",
        reason: `result ${index + 1} is no output of ${action.data.method}`,
      };
    read.push(output);
  }
  return { kind: "aligned", outputs: read };
}

/** Longest signature of a contract account, in bytes: what it costs to hand over leaves the account enough of a capture's gas to check it. */
export const MAX_SIGNATURE_BYTES = 4_096;

/** Position of the first output longer than any signature may be; -1: there is none. */
export const oversizedAt = (outputs: string[]): number =>
  outputs.findIndex(({ length }) => length > 2 + 2 * MAX_SIGNATURE_BYTES);
