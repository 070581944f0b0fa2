import { ed25519 } from "@noble/curves/ed25519.js";
import {
  type Address,
  address,
  getBase58Encoder,
  getBase64EncodedWireTransaction,
  getTransactionDecoder,
  type Transaction,
} from "@solana/kit";
import { z } from "zod";
import { ActionDeclined, type Executor } from "#server/client/wallet/executors.ts";
import type { Sandbox } from "./sandbox-file.ts";

const params = z.tuple([z.object({ transaction: z.base64() })]);

/** The secret half of a key as the sandbox keeps it: 64 bytes in base58. */
function secretOf(sandbox: Sandbox, account: string): Uint8Array {
  const found = sandbox.accounts.find(({ caip10 }) => caip10 === account);
  if (found === undefined) throw new ActionDeclined(`${account} is not an account of this sandbox`);
  return new Uint8Array(getBase58Encoder().encode(found.privateKey)).slice(0, 32);
}

function readTransaction(text: string): Transaction {
  try {
    return getTransactionDecoder().decode(new Uint8Array(Buffer.from(text, "base64")));
  } catch (error) {
    throw new ActionDeclined(`the transaction cannot be read: ${String(error)}`);
  }
}

/**
 * Signs a transaction for one of the sandbox's accounts and gives all of it back; nothing is broadcast. The places of other signers
 * stay as they are.
 */
export const createSolanaSigner =
  (sandbox: Sandbox): Executor =>
  async (given, { account }) => {
    const parsed = params.safeParse(given);
    if (!parsed.success)
      throw new ActionDeclined("unreadable parameters: no transaction in base64");
    const transaction = readTransaction(parsed.data[0].transaction);
    const own: Address = address(account.slice(account.lastIndexOf(":") + 1));
    if (!(own in transaction.signatures))
      throw new ActionDeclined(`the transaction does not ask ${own} to sign`);
    const signature = ed25519.sign(
      new Uint8Array(transaction.messageBytes),
      secretOf(sandbox, account),
    );
    return getBase64EncodedWireTransaction({
      ...transaction,
      signatures: { ...transaction.signatures, [own]: signature },
    } as Transaction);
  };
