import {
  AccountRole,
  address,
  compileTransaction,
  decompileTransactionMessage,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  type Instruction,
} from "@solana/kit";
import { TOKEN_PROGRAM_ADDRESS } from "@solana-program/token";
import { expect, test } from "vitest";
import { newSolanaKey, signWith } from "#server/sandbox/solana-world.ts";
import { LIGHTHOUSE, returnedProblem } from "./compare.ts";
import { fromBase58, readKey, toBase58 } from "./keys.ts";
import { compileTransfer, encodeWire, readOutput, type TransferPlan } from "./message.ts";

const [relayer, buyer, recipient, mint, source, target, reference] = Array.from({ length: 7 }, () =>
  newSolanaKey(),
) as [Key, Key, Key, Key, Key, Key, Key];
type Key = ReturnType<typeof newSolanaKey>;

const BLOCKHASH = newSolanaKey().address;
const PLAN: TransferPlan = {
  feePayer: relayer.address,
  from: buyer.address,
  to: recipient.address,
  amount: 12_500_000n,
  token: {
    mint: mint.address,
    program: TOKEN_PROGRAM_ADDRESS,
    decimals: 6,
    source: source.address,
    target: target.address,
    createTarget: false,
  },
  reference: reference.address,
  memo: "florin:test",
  memoProgram: "MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr",
  microLamportsPerUnit: 10_000,
};
const MADE = compileTransfer(PLAN, BLOCKHASH);

const sign = (message: Uint8Array, ...keys: Key[]): string =>
  encodeWire(message, new Map(keys.map(({ key, address: by }) => [by, signWith(key, message)])));

/** Why an output is not the transaction that was made; null: it is. */
function problem(output: string, made = MADE): string | null {
  const parts = readOutput(output, fromBase58);
  return parts === null ? "no transaction" : returnedProblem(made, parts, buyer.address);
}

/** The made message with other instructions, compiled anew as a wallet does. */
function changed(change: (all: Instruction[]) => Instruction[]): Uint8Array {
  const compiled = getCompiledTransactionMessageDecoder().decode(MADE);
  const message = decompileTransactionMessage(compiled, { lastValidBlockHeight: 0n });
  const wire = getBase64EncodedWireTransaction(
    compileTransaction({
      ...message,
      instructions: change([...message.instructions]),
    } as Parameters<typeof compileTransaction>[0]),
  );
  const parts = readOutput(wire, fromBase58);
  if (parts === null) throw new Error("the wallet made nothing");
  return parts.message;
}

const guard = (over: Partial<Instruction> = {}): Instruction => ({
  programAddress: address(LIGHTHOUSE),
  accounts: [{ address: source.address, role: AccountRole.READONLY }],
  data: new Uint8Array([9, 0, 1]),
  ...over,
});
const foreign: Instruction = {
  programAddress: address("Memo4c2pQwLE9i9tT7wQgXwwGxEsdfhqQ5gmYQ6fBHZ".slice(0, 43)),
  accounts: [],
  data: new Uint8Array([1]),
};

// Guarantee: the transaction that was made, signed by its buyer, is taken.
test("unchanged", () => {
  expect(problem(sign(MADE, buyer))).toBeNull();
  expect(problem(sign(compileTransfer({ ...PLAN, token: null }, BLOCKHASH), buyer))).not.toBeNull();
});

// Guarantee: one to four assertions of the guard program may stand anywhere.
test.for([1, 2, 3, 4])("%i guards", (count) => {
  const guards = Array.from({ length: count }, () => guard());
  expect(
    problem(
      sign(
        changed((all) => [...guards, ...all]),
        buyer,
      ),
    ),
  ).toBeNull();
  expect(
    problem(
      sign(
        changed((all) => [...all, ...guards]),
        buyer,
      ),
    ),
  ).toBeNull();
});

const elsewhere = newSolanaKey();
const withTransfer =
  (change: (transfer: Instruction) => Instruction) =>
  (all: Instruction[]): Instruction[] =>
    all.map((one) => (one.programAddress === TOKEN_PROGRAM_ADDRESS ? change(one) : one));
const accountAt =
  (at: number, account: { address: Key["address"]; role: AccountRole }) =>
  (one: Instruction): Instruction => ({
    ...one,
    accounts: (one.accounts ?? []).map((known, index) => (index === at ? account : known)),
  });

const CHANGES: [string, (all: Instruction[]) => Instruction[], RegExp][] = [
  ["five guards", (all) => [...Array(5).fill(guard()), ...all], /5 guards/],
  [
    "a guard that writes",
    (all) => [guard({ data: new Uint8Array([0]) }), ...all],
    /more than assert/,
  ],
  [
    "a guard that closes",
    (all) => [guard({ data: new Uint8Array([1]) }), ...all],
    /more than assert/,
  ],
  ["a guard without data", (all) => [guard({ data: new Uint8Array() }), ...all], /more than/],
  [
    "a guard that names the fee payer",
    (all) => [
      guard({ accounts: [{ address: relayer.address, role: AccountRole.READONLY }] }),
      ...all,
    ],
    /names the fee payer/,
  ],
  [
    "a guard with a writable account",
    (all) => [
      guard({ accounts: [{ address: elsewhere.address, role: AccountRole.WRITABLE }] }),
      ...all,
    ],
    /another account/,
  ],
  ["another program", (all) => [...all, foreign], /other instructions/],
  [
    "another amount",
    withTransfer((one) => ({
      ...one,
      data: new Uint8Array([...(one.data ?? [])].map((byte, at) => (at === 1 ? byte ^ 1 : byte))),
    })),
    /instruction 3/,
  ],
  [
    "another recipient",
    withTransfer(accountAt(2, { address: elsewhere.address, role: AccountRole.WRITABLE })),
    /another account/,
  ],
  [
    "another source",
    withTransfer(accountAt(0, { address: elsewhere.address, role: AccountRole.WRITABLE })),
    /another account/,
  ],
  [
    "another reference",
    withTransfer(accountAt(4, { address: elsewhere.address, role: AccountRole.READONLY })),
    /instruction 3/,
  ],
  [
    "a second transfer",
    (all) => [
      ...all,
      ...all.filter(({ programAddress }) => programAddress === TOKEN_PROGRAM_ADDRESS),
    ],
    /other instructions/,
  ],
  ["no memo", (all) => all.slice(0, -1), /other instructions/],
  ["another order", (all) => [...all.slice(1), ...all.slice(0, 1)], /instruction 1/],
  [
    "a drain of the fee payer",
    (all) => [
      ...all,
      {
        programAddress: address("11111111111111111111111111111111"),
        accounts: [
          { address: relayer.address, role: AccountRole.WRITABLE_SIGNER },
          { address: elsewhere.address, role: AccountRole.WRITABLE },
        ],
        data: new Uint8Array([2, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]),
      },
    ],
    /another account|other instructions/,
  ],
  [
    "a third signer",
    (all) => [
      guard({ accounts: [{ address: elsewhere.address, role: AccountRole.READONLY_SIGNER }] }),
      ...all,
    ],
    /other signers/,
  ],
];

// Guarantee: everything that the fee payer's signature would cover besides is refused.
test.for(CHANGES)("%s is refused", ([, change, why]) => {
  expect(problem(sign(changed(change), buyer))).toMatch(why);
});

// Guarantee: the lifetime and the fee payer are ours.
test("another blockhash, another fee payer, another version", () => {
  expect(problem(sign(compileTransfer(PLAN, newSolanaKey().address), buyer))).toBe(
    "another blockhash",
  );
  const paidByBuyer = compileTransfer({ ...PLAN, feePayer: buyer.address }, BLOCKHASH);
  expect(problem(sign(paidByBuyer, buyer))).toBe("another fee payer");
  const legacy = Uint8Array.from(MADE.subarray(1));
  expect(
    readOutput(Buffer.from([2, ...new Uint8Array(128), ...legacy]).toString("base64"), fromBase58),
  ).toBeNull();
});

// Guarantee: accounts cannot be hidden in a lookup table.
test("a lookup table is refused", () => {
  const compiled = getCompiledTransactionMessageDecoder().decode(MADE);
  const hidden = getCompiledTransactionMessageEncoder().encode({
    ...compiled,
    addressTableLookups: [
      { lookupTableAddress: elsewhere.address, writableIndexes: [0], readonlyIndexes: [] },
    ],
  } as Parameters<ReturnType<typeof getCompiledTransactionMessageEncoder>["encode"]>[0]);
  const wire = Buffer.from([2, ...new Uint8Array(128), ...new Uint8Array(hidden)]);
  expect(problem(wire.toString("base64"))).toBe("no transaction");
});

// Guarantee: the buyer's signature must be there and hold; ours must not be.
test("signatures", () => {
  expect(problem(sign(MADE))).toBe("the buyer's signature is missing");
  const stranger = newSolanaKey();
  const forged = encodeWire(MADE, new Map([[buyer.address, signWith(stranger.key, MADE)]]));
  expect(problem(forged)).toBe("the signature does not verify");
  expect(problem(sign(MADE, buyer, relayer))).toBe("the fee payer's place is not empty");
});

// Guarantee: no single changed byte goes through, wherever it is.
test("a flipped byte", () => {
  const signed = Buffer.from(sign(MADE, buyer), "base64");
  for (let at = 0; at < signed.length; at++) {
    const flipped = Buffer.from(signed);
    flipped[at] = (flipped[at] ?? 0) ^ 1;
    expect([at, problem(flipped.toString("base64"))]).not.toEqual([at, null]);
  }
  expect(problem(Buffer.concat([signed, Buffer.from([0])]).toString("base64"))).not.toBeNull();
});

// Guarantee: a key whose halves disagree is noticed before it signs anything.
test("keys", () => {
  expect(readKey(relayer.key).address).toBe(relayer.address);
  const mixed = fromBase58(relayer.key).slice();
  mixed.set(fromBase58(buyer.key).slice(32), 32);
  expect(() => readKey(toBase58(mixed))).toThrow();
});
