import { SYSTEM_PROGRAM, TOKEN_PROGRAMS } from "./assets.ts";
import { fromBase58, nonceOf } from "./keys.ts";

type RawInstruction = { programIdIndex: number; accounts: number[]; data: string };
type TokenBalance = {
  accountIndex: number;
  mint: string;
  owner?: string;
  uiTokenAmount: { amount: string };
};

/** A transaction as a node tells it, unparsed. */
export type RawTransaction = {
  slot: number;
  blockTime: number | null;
  meta: {
    err: unknown;
    fee: number;
    preBalances: number[];
    postBalances: number[];
    preTokenBalances?: TokenBalance[] | null;
    postTokenBalances?: TokenBalance[] | null;
    innerInstructions?: { index: number; instructions: RawInstruction[] }[] | null;
    loadedAddresses?: { writable: string[]; readonly: string[] } | null;
  } | null;
  transaction: {
    signatures: string[];
    message: {
      accountKeys: string[];
      header: {
        numRequiredSignatures: number;
        numReadonlySignedAccounts: number;
        numReadonlyUnsignedAccounts: number;
      };
      instructions: RawInstruction[];
    };
  };
};

/** What one owner gained in one mint, or in native coin where `mint` is null, by a whole transaction. */
export type Gain = {
  owner: string;
  mint: string | null;
  amount: bigint;
  payer: string;
  /** Index of the account that gained, which is unique in its transaction. */
  at: number;
  /** Nonce of the one reference account of the transfer; null: none, or more than one. */
  reference: string | null;
};

/** Number of accounts before the references, by the first byte of an SPL instruction: transfer and transferChecked. */
const SPL_TRANSFERS: Record<number, number> = { 3: 3, 12: 4 };
/** System transfer: its number in four bytes, and the accounts before the references. */
const SYSTEM_TRANSFER = 2;
const SYSTEM_ACCOUNTS = 2;

type Read = { keys: string[]; isReference: (index: number) => boolean; all: RawInstruction[] };

function readInstructions({ transaction, meta }: RawTransaction): Read {
  const { accountKeys, header, instructions } = transaction.message;
  const { writable = [], readonly = [] } = meta?.loadedAddresses ?? {};
  const signers = header.numRequiredSignatures;
  const firstReadonly = accountKeys.length - header.numReadonlyUnsignedAccounts;
  return {
    keys: [...accountKeys, ...writable, ...readonly],
    isReference: (index) =>
      (index >= signers && index >= firstReadonly && index < accountKeys.length) ||
      index >= accountKeys.length + writable.length,
    all: [...instructions, ...(meta?.innerInstructions ?? []).flatMap((one) => one.instructions)],
  };
}

/** How many accounts of an instruction come before its references, and which of them receives; null: it is no transfer. */
function transferShape(program: string, data: Uint8Array): { fixed: number; to: number } | null {
  if (TOKEN_PROGRAMS.has(program)) {
    const kind = data[0] ?? -1;
    const fixed = SPL_TRANSFERS[kind];
    return fixed === undefined ? null : { fixed, to: fixed - 2 };
  }
  const system = program === SYSTEM_PROGRAM && data.length === 12 && data[0] === SYSTEM_TRANSFER;
  return system ? { fixed: SYSTEM_ACCOUNTS, to: 1 } : null;
}

/** The one reference among all transfers to these accounts; two of them name nothing. */
function referenceTo({ keys, isReference, all }: Read, targets: ReadonlySet<number>) {
  const found = new Set<number>();
  for (const { programIdIndex, accounts, data } of all) {
    const shape = transferShape(keys[programIdIndex] ?? "", fromBase58(data));
    if (shape === null || !targets.has(accounts[shape.to] ?? -1)) continue;
    for (const index of accounts.slice(shape.fixed)) if (isReference(index)) found.add(index);
  }
  const [only] = found;
  const key = only === undefined ? undefined : keys[only];
  return found.size === 1 && key !== undefined ? nonceOf(key) : null;
}

type Change = { owner: string; mint: string; amount: bigint; accounts: number[] };

/** What every owner gained or lost in every mint. */
function tokenChanges({ meta }: RawTransaction): Change[] {
  const changes = new Map<string, Change>();
  const add = ({ accountIndex, mint, owner, uiTokenAmount }: TokenBalance, sign: bigint) => {
    if (owner === undefined) return;
    const key = `${owner} ${mint}`;
    const change = changes.get(key) ?? { owner, mint, amount: 0n, accounts: [] };
    change.amount += sign * BigInt(uiTokenAmount.amount);
    if (!change.accounts.includes(accountIndex)) change.accounts.push(accountIndex);
    changes.set(key, change);
  };
  for (const balance of meta?.preTokenBalances ?? []) add(balance, -1n);
  for (const balance of meta?.postTokenBalances ?? []) add(balance, 1n);
  return [...changes.values()];
}

/** Whoever lost most; the fee payer where nobody did. */
const loserOf = (changes: { owner: string; amount: bigint }[], feePayer: string): string =>
  changes.filter(({ amount }) => amount < 0n).toSorted((a, b) => (a.amount < b.amount ? -1 : 1))[0]
    ?.owner ?? feePayer;

function coinChanges(tx: RawTransaction, keys: string[]) {
  const { preBalances = [], postBalances = [], fee = 0 } = tx.meta ?? {};
  return keys.map((owner, at) => ({
    owner,
    at,
    // What the fee took was nobody's payment.
    amount:
      BigInt(postBalances[at] ?? 0) - BigInt(preBalances[at] ?? 0) + (at === 0 ? BigInt(fee) : 0n),
  }));
}

/** Net gains of a transaction by raw balances before and after, whatever its instructions say; none of a failed one. */
export function gainsOf(tx: RawTransaction): Gain[] {
  if (tx.meta === null || tx.meta.err !== null) return [];
  const read = readInstructions(tx);
  const feePayer = read.keys[0] ?? "";
  const tokens = tokenChanges(tx);
  const gains: Gain[] = tokens
    .filter(({ amount }) => amount > 0n)
    .map(({ owner, mint, amount, accounts }) => ({
      owner,
      mint,
      amount,
      payer: loserOf(
        tokens.filter((change) => change.mint === mint),
        feePayer,
      ),
      at: Math.min(...accounts),
      reference: referenceTo(read, new Set(accounts)),
    }));
  const coins = coinChanges(tx, read.keys);
  for (const { owner, amount, at } of coins)
    if (amount > 0n)
      gains.push({
        owner,
        mint: null,
        amount,
        payer: loserOf(coins, feePayer),
        at,
        reference: referenceTo(read, new Set([at])),
      });
  return gains;
}
