import { expect, test } from "vitest";
import { newSolanaKey } from "#server/sandbox/solana-world.ts";
import { SYSTEM_PROGRAM } from "./assets.ts";
import { nonceOf, toBase58 } from "./keys.ts";
import { gainsOf, type RawTransaction } from "./movements.ts";

const TOKEN = "TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA";
const account = (): string => newSolanaKey().address;
const [relayer, buyer, shop, mint, source, target, first, second] = Array.from({ length: 8 }, () =>
  account(),
) as [string, string, string, string, string, string, string, string];

/** Accounts by index: 0 fee payer, 1 buyer, 2 source, 3 target, 4 shop, 5 mint, 6 and 7 references, 8 and 9 programs. */
const KEYS = [relayer, buyer, source, target, shop, mint, first, second, TOKEN, SYSTEM_PROGRAM];
const held = (accountIndex: number, owner: string, amount: number) => ({
  accountIndex,
  mint,
  owner,
  uiTokenAmount: { amount: String(amount) },
});
const transfer = (accounts: number[]) => ({
  programIdIndex: 8,
  accounts,
  data: toBase58(new Uint8Array([12, 100, 0, 0, 0, 0, 0, 0, 0, 6])),
});

/** A token transfer of 100 from buyer to shop; `change` replaces parts of what a node tells. */
function transaction(
  instructions: RawTransaction["transaction"]["message"]["instructions"],
  change: Partial<NonNullable<RawTransaction["meta"]>> = {},
): RawTransaction {
  const balances = KEYS.map(() => 1_000);
  return {
    slot: 7,
    blockTime: 1,
    meta: {
      err: null,
      fee: 10,
      preBalances: balances,
      postBalances: balances.map((lamports, at) => (at === 0 ? lamports - 10 : lamports)),
      preTokenBalances: [held(2, buyer, 500), held(3, shop, 0)],
      postTokenBalances: [held(2, buyer, 400), held(3, shop, 100)],
      innerInstructions: [],
      loadedAddresses: { writable: [], readonly: [] },
      ...change,
    },
    transaction: {
      signatures: ["s"],
      message: {
        accountKeys: KEYS,
        header: {
          numRequiredSignatures: 2,
          numReadonlySignedAccounts: 1,
          numReadonlyUnsignedAccounts: 5,
        },
        instructions,
      },
    },
  };
}

const paid = { owner: shop, mint, amount: 100n, payer: buyer, at: 3 };

// Guarantee: what counts is what an owner really gained, named by the one reference of its transfer.
test("a transfer with a reference", () => {
  expect(gainsOf(transaction([transfer([2, 5, 3, 1, 6])]))).toEqual([
    { ...paid, reference: nonceOf(first) },
  ]);
  expect(gainsOf(transaction([transfer([2, 5, 3, 1])]))).toEqual([{ ...paid, reference: null }]);
});

// Guarantee: one transfer never pays two payments.
test("two references name nothing", () => {
  expect(gainsOf(transaction([transfer([2, 5, 3, 1, 6, 7])]))).toEqual([
    { ...paid, reference: null },
  ]);
  expect(gainsOf(transaction([transfer([2, 5, 3, 1, 6]), transfer([2, 5, 3, 1, 7])]))).toEqual([
    { ...paid, reference: null },
  ]);
});

// Guarantee: an account that signs, or a transfer to somebody else, is no reference of ours.
test("what is no reference", () => {
  expect(gainsOf(transaction([transfer([2, 5, 3, 1, 1, 4])]))).toEqual([
    { ...paid, reference: null },
  ]);
  expect(gainsOf(transaction([transfer([3, 5, 2, 1, 6])]))).toEqual([{ ...paid, reference: null }]);
});

// Guarantee: nothing arrived where a transaction failed, or where it only says so in its instructions.
test("no gain", () => {
  expect(gainsOf(transaction([transfer([2, 5, 3, 1, 6])], { err: { Any: 1 } }))).toEqual([]);
  const unmoved = [held(2, buyer, 500), held(3, shop, 0)];
  expect(gainsOf(transaction([transfer([2, 5, 3, 1, 6])], { postTokenBalances: unmoved }))).toEqual(
    [],
  );
});

// Guarantee: the received amount is the net one, whatever was sent and however often.
test("net amounts", () => {
  const postTokenBalances = [held(2, buyer, 400), held(3, shop, 97)];
  expect(gainsOf(transaction([transfer([2, 5, 3, 1, 6])], { postTokenBalances }))).toEqual([
    { ...paid, amount: 97n, reference: nonceOf(first) },
  ]);
});

// Guarantee: native coin is measured without the fee, which is nobody's payment.
test("native coin", () => {
  const send = {
    programIdIndex: 9,
    accounts: [1, 4, 7],
    data: toBase58(new Uint8Array([2, 0, 0, 0, 44, 1, 0, 0, 0, 0, 0, 0])),
  };
  const moved = { 0: -10, 1: -300, 4: 300 } as Record<number, number>;
  const gains = gainsOf(
    transaction([send], {
      preTokenBalances: [],
      postTokenBalances: [],
      postBalances: KEYS.map((_, at) => 1_000 + (moved[at] ?? 0)),
    }),
  );
  expect(gains).toEqual([
    { owner: shop, mint: null, amount: 300n, payer: buyer, at: 4, reference: nonceOf(second) },
  ]);
});
