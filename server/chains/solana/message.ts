import {
  AccountRole,
  type Address,
  address,
  appendTransactionMessageInstructions,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase64EncodedWireTransaction,
  getCompiledTransactionMessageDecoder,
  getCompiledTransactionMessageEncoder,
  getTransactionDecoder,
  type Instruction,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
} from "@solana/kit";
import {
  getSetComputeUnitLimitInstruction,
  getSetComputeUnitPriceInstruction,
} from "@solana-program/compute-budget";
import { getAddMemoInstruction } from "@solana-program/memo";
import { getTransferSolInstruction } from "@solana-program/system";
import {
  getCreateAssociatedTokenIdempotentInstruction,
  getTransferCheckedInstruction,
} from "@solana-program/token";
import type { Key } from "./keys.ts";

/** Everything a transfer of ours consists of; addresses are base58. */
export type TransferPlan = {
  feePayer: string;
  from: string;
  to: string;
  amount: bigint;
  /** Null: native coin. */
  token: {
    mint: string;
    program: string;
    decimals: number;
    source: string;
    target: string;
    /** Whether the target has to be made first. */
    createTarget: boolean;
  } | null;
  reference: string | null;
  memo: string | null;
  memoProgram: string;
  microLamportsPerUnit: number;
};

/** What a wallet's guards and memo may use beside the transfer. */
const UNITS = 150_000;

/** Priority fee of a transaction of ours in lamports. */
export const priorityFee = (microLamportsPerUnit: number): bigint =>
  (BigInt(UNITS) * BigInt(microLamportsPerUnit) + 999_999n) / 1_000_000n;

/** What a base fee costs for each signature, in lamports. */
export const LAMPORTS_PER_SIGNATURE = 5_000n;

const withReference = (instruction: Instruction, reference: string | null): Instruction => ({
  programAddress: instruction.programAddress,
  ...(instruction.data === undefined ? {} : { data: instruction.data }),
  accounts: [
    ...(instruction.accounts ?? []).map(({ address: account, role }) => ({
      address: account,
      role,
    })),
    ...(reference === null ? [] : [{ address: address(reference), role: AccountRole.READONLY }]),
  ],
});

function transferOf({ token, from, to, amount, reference }: TransferPlan): Instruction {
  const authority = createNoopSigner(address(from));
  if (token === null)
    return withReference(
      getTransferSolInstruction({ source: authority, destination: address(to), amount }),
      reference,
    );
  const { mint, source, target, decimals, program } = token;
  return withReference(
    getTransferCheckedInstruction(
      {
        source: address(source),
        mint: address(mint),
        destination: address(target),
        authority,
        amount,
        decimals,
      },
      { programAddress: address(program) },
    ),
    reference,
  );
}

function instructionsOf(plan: TransferPlan): Instruction[] {
  const { token, feePayer, to, memo, memoProgram, microLamportsPerUnit } = plan;
  const create =
    token?.createTarget !== true
      ? []
      : [
          withReference(
            getCreateAssociatedTokenIdempotentInstruction({
              payer: createNoopSigner(address(feePayer)),
              ata: address(token.target),
              owner: address(to),
              mint: address(token.mint),
              tokenProgram: address(token.program),
            }),
            null,
          ),
        ];
  return [
    getSetComputeUnitLimitInstruction({ units: UNITS }),
    getSetComputeUnitPriceInstruction({ microLamports: microLamportsPerUnit }),
    ...create,
    transferOf(plan),
    ...(memo === null
      ? []
      : [getAddMemoInstruction({ memo }, { programAddress: address(memoProgram) })]),
  ];
}

/** Compiles a transfer into the bytes that are signed. The same input gives the same bytes. */
export function compileTransfer(plan: TransferPlan, blockhash: string): Uint8Array {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (m) => setTransactionMessageFeePayer(address(plan.feePayer), m),
    (m) =>
      setTransactionMessageLifetimeUsingBlockhash(
        // The height is kept by us: it is no part of what is signed.
        { blockhash: blockhash as Blockhash, lastValidBlockHeight: 0n },
        m,
      ),
    (m) => appendTransactionMessageInstructions(instructionsOf(plan), m),
  );
  return new Uint8Array(compileTransaction(message).messageBytes);
}

/** A transaction taken apart; accounts of instructions are resolved. */
export type Parts = {
  message: Uint8Array;
  blockhash: string;
  feePayer: string;
  /** Every account with its role in the whole message. */
  accounts: { address: string; signer: boolean; writable: boolean }[];
  instructions: { program: string; accounts: string[]; data: Uint8Array }[];
  /** By account; null: its place is empty. */
  signatures: Map<string, Uint8Array | null>;
};

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

type Compiled = ReturnType<ReturnType<typeof getCompiledTransactionMessageDecoder>["decode"]>;

function rolesOf({ header, staticAccounts }: Compiled): Parts["accounts"] {
  const { numSignerAccounts, numReadonlySignerAccounts, numReadonlyNonSignerAccounts } = header;
  return staticAccounts.map((account, at) => ({
    address: account,
    signer: at < numSignerAccounts,
    writable:
      at < numSignerAccounts
        ? at < numSignerAccounts - numReadonlySignerAccounts
        : at < staticAccounts.length - numReadonlyNonSignerAccounts,
  }));
}

/** Reads the message that is signed; null: not exactly one message of version 0 without lookup tables. */
export function readMessage(bytes: Uint8Array): Omit<Parts, "signatures"> | null {
  try {
    const compiled = getCompiledTransactionMessageDecoder().decode(bytes);
    if (compiled.version !== 0 || (compiled.addressTableLookups ?? []).length > 0) return null;
    // A decoder may stop early: only bytes that it would write itself are what they seem to be.
    if (!sameBytes(new Uint8Array(getCompiledTransactionMessageEncoder().encode(compiled)), bytes))
      return null;
    const at = (index: number): Address => {
      const found = compiled.staticAccounts[index];
      if (found === undefined) throw new Error("an account that is not there");
      return found;
    };
    return {
      message: bytes,
      blockhash: compiled.lifetimeToken,
      feePayer: at(0),
      accounts: rolesOf(compiled),
      instructions: compiled.instructions.map((instruction) => ({
        program: at(instruction.programAddressIndex),
        accounts: (instruction.accountIndices ?? []).map(at),
        data: new Uint8Array(instruction.data ?? []),
      })),
    };
  } catch {
    return null;
  }
}

/** Reads a transaction with its signatures; null: it is none that we could have made. */
export function readTransaction(wire: Uint8Array): Parts | null {
  try {
    const { messageBytes, signatures } = getTransactionDecoder().decode(wire);
    const read = readMessage(new Uint8Array(messageBytes));
    if (read === null) return null;
    return {
      ...read,
      signatures: new Map(
        Object.entries(signatures).map(([account, signature]) => [
          account,
          signature === null ? null : new Uint8Array(signature),
        ]),
      ),
    };
  } catch {
    return null;
  }
}

/** A transaction in base64 with these signatures; the places of other signers stay empty. */
export function encodeWire(
  message: Uint8Array,
  signatures: ReadonlyMap<string, Uint8Array>,
): string {
  const read = readMessage(message);
  if (read === null) throw new Error("no message of ours");
  const places = read.accounts.filter(({ signer }) => signer);
  return getBase64EncodedWireTransaction({
    messageBytes: message,
    signatures: Object.fromEntries(
      places.map(({ address: account }) => [account, signatures.get(account) ?? null]),
    ),
  } as unknown as Parameters<typeof getBase64EncodedWireTransaction>[0]);
}

/** Signs a message with several keys; returns the complete transaction and its id. */
export function signMessage(
  message: Uint8Array,
  keys: Key[],
  given: ReadonlyMap<string, Uint8Array> = new Map(),
): Uint8Array {
  const signatures = new Map(given);
  for (const key of keys) signatures.set(key.address, key.sign(message));
  return Buffer.from(encodeWire(message, signatures), "base64");
}

/** Reads what a wallet returned: a transaction in base64 or base58; null: neither. */
export function readOutput(output: string, fromBase58: (text: string) => Uint8Array): Parts | null {
  const asBase64 = /^[A-Za-z0-9+/_-]+={0,2}$/.test(output)
    ? readTransaction(new Uint8Array(Buffer.from(output, "base64")))
    : null;
  if (asBase64 !== null) return asBase64;
  try {
    return readTransaction(fromBase58(output));
  } catch {
    return null;
  }
}
