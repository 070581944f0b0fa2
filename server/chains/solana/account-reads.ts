import { AccountState, getTokenDecoder } from "@solana-program/token";
import { ChainUnavailable, type PayerFacts } from "#server/ports/chain.ts";
import { isNative, mintOf, tokenAccountOf } from "./assets.ts";
import { type Context, programOf } from "./context.ts";
import { isSignable } from "./keys.ts";

type AccountInfo = { owner: string; lamports: number; data: [string, string] } | null;

/** What an account without data must keep to stay on the chain, in lamports. */
export const RENT_MINIMUM = 890_880n;
/** What making a token account costs, in lamports. */
export const TOKEN_ACCOUNT_RENT = 2_039_280n;
/** A relayer with less than this pays for nothing more. */
const RELAYER_MINIMUM = 10_000_000n;

/** Several accounts at once, in order. */
export async function readAccounts(context: Context, accounts: string[]): Promise<AccountInfo[]> {
  const { value } = await context.rpc.read<{ value: AccountInfo[] }>("getMultipleAccounts", [
    accounts,
    { encoding: "base64", commitment: "confirmed" },
  ]);
  if (!Array.isArray(value) || value.length !== accounts.length)
    throw new ChainUnavailable("a node answered something else than accounts");
  return value;
}

/** What a token account holds; null: it is none, or frozen. */
export function tokenAmount(info: AccountInfo): bigint | null {
  if (info === null) return 0n;
  const data = new Uint8Array(Buffer.from(info.data[0], "base64"));
  if (data.length < 165) return null;
  const { amount, state } = getTokenDecoder().decode(data.subarray(0, 165));
  return state === AccountState.Initialized ? amount : null;
}

/** What an account holds in its own and its associated token accounts; none but accounts with a key can pay. */
export async function readPayer(
  context: Context,
  owner: string,
  assets: string[],
): Promise<PayerFacts> {
  if (!isSignable(owner)) return { hasCode: false, tokens: [] };
  const tokens = assets.filter((asset) => !isNative(asset));
  const accounts = await Promise.all(
    tokens.map((asset) => tokenAccountOf(owner, mintOf(asset), programOf(context, mintOf(asset)))),
  );
  const [own, ...held] = await readAccounts(context, [owner, ...accounts]);
  const found: PayerFacts["tokens"] = [];
  for (const [at, asset] of tokens.entries()) {
    const balance = tokenAmount(held[at] ?? null);
    if (balance !== null) found.push({ asset, balance, allowance: 0n });
  }
  const native = assets.find(isNative);
  const lamports = BigInt(own?.lamports ?? 0);
  if (native !== undefined)
    found.push({
      asset: native,
      balance: lamports > RENT_MINIMUM ? lamports - RENT_MINIMUM : 0n,
      allowance: 0n,
    });
  return { hasCode: false, tokens: found };
}

/** Balance of an account's native coin in lamports. */
export async function readLamports(context: Context, account: string): Promise<bigint> {
  const { value } = await context.rpc.read<{ value: number }>("getBalance", [
    account,
    { commitment: "confirmed" },
  ]);
  return BigInt(value);
}

/** Whether every relayer can pay for a while. */
export async function hasFeeMoney(context: Context): Promise<boolean> {
  const found = await readAccounts(context, [...context.relayers.keys()]);
  return found.every((info) => BigInt(info?.lamports ?? 0) >= RELAYER_MINIMUM);
}
