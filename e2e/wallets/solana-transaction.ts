import { expect } from "@playwright/test";
import {
  type Address,
  appendTransactionMessageInstruction,
  type Blockhash,
  compileTransaction,
  createNoopSigner,
  createTransactionMessage,
  getBase64Encoder,
  getPublicKeyFromAddress,
  getTransactionDecoder,
  pipe,
  setTransactionMessageFeePayer,
  setTransactionMessageLifetimeUsingBlockhash,
  verifySignature,
} from "@solana/kit";
import { getTransferSolInstruction } from "@solana-program/system";

/** A transaction an account has to sign. */
export function issue(payer: Address) {
  const message = pipe(
    createTransactionMessage({ version: 0 }),
    (made) => setTransactionMessageFeePayer(payer, made),
    (made) =>
      setTransactionMessageLifetimeUsingBlockhash(
        { blockhash: payer as unknown as Blockhash, lastValidBlockHeight: 1n },
        made,
      ),
    (made) =>
      appendTransactionMessageInstruction(
        getTransferSolInstruction({
          source: createNoopSigner(payer),
          destination: payer,
          amount: 1,
        }),
        made,
      ),
  );
  return compileTransaction(message);
}

/** Whether the output is that transaction, unchanged and signed by an address. */
export const isSignedBy = async (
  address: Address,
  issued: ReturnType<typeof issue>,
  output: unknown,
) => {
  const signed = getTransactionDecoder().decode(getBase64Encoder().encode(String(output)));
  const signature = signed.signatures[address];
  if (signature == null) return false;
  expect(signed.messageBytes).toEqual(issued.messageBytes);
  return verifySignature(await getPublicKeyFromAddress(address), signature, issued.messageBytes);
};
