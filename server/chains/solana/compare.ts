import { verifies } from "./keys.ts";
import { type Parts, readMessage } from "./message.ts";

/** The program whose assertions wallets put around a transfer to protect their users. */
export const LIGHTHOUSE = "L2TExMFKdjpN9kozasaurPirfHy9P8sbXoAN1qA3S95";
/** Most of them that a wallet may insert. */
const MAX_GUARDS = 4;
/** First byte of its instructions: 0 and 1 write and close memory accounts, the following ones assert. */
const FIRST_ASSERTION = 2;
const LAST_ASSERTION = 17;

type Instruction = Parts["instructions"][number];

const sameBytes = (a: Uint8Array, b: Uint8Array): boolean =>
  a.length === b.length && a.every((byte, at) => byte === b[at]);

const sameInstruction = (a: Instruction, b: Instruction): boolean =>
  a.program === b.program &&
  sameBytes(a.data, b.data) &&
  a.accounts.length === b.accounts.length &&
  a.accounts.every((account, at) => account === b.accounts[at]);

/** Why an inserted guard is none; null: it only asserts, and the fee payer has no part in it. */
function guardProblem({ accounts, data }: Instruction, feePayer: string): string | null {
  const [kind = -1] = data;
  if (kind < FIRST_ASSERTION || kind > LAST_ASSERTION) return "a guard that does more than assert";
  return accounts.includes(feePayer) ? "a guard that names the fee payer" : null;
}

function accountProblem(ours: Parts["accounts"], theirs: Parts["accounts"]): string | null {
  const known = new Map(ours.map((account) => [account.address, account]));
  for (const { address, signer, writable } of theirs) {
    const made = known.get(address);
    if (made === undefined && (signer || writable)) return `another account that signs or changes`;
    if (made !== undefined && (made.signer !== signer || made.writable !== writable))
      return "an account in another role";
  }
  return null;
}

function instructionProblem(ours: Instruction[], theirs: Instruction[], feePayer: string) {
  const guards = theirs.filter(({ program }) => program === LIGHTHOUSE);
  if (guards.length > MAX_GUARDS) return `${guards.length} guards: at most ${MAX_GUARDS} are taken`;
  for (const guard of guards) {
    const problem = guardProblem(guard, feePayer);
    if (problem !== null) return problem;
  }
  const rest = theirs.filter(({ program }) => program !== LIGHTHOUSE);
  if (rest.length !== ours.length) return "other instructions than ours";
  const changed = rest.findIndex((instruction, at) => {
    const made = ours[at];
    return made === undefined || !sameInstruction(instruction, made);
  });
  return changed < 0 ? null : `instruction ${changed + 1} is not ours`;
}

function signatureProblem(returned: Parts, feePayer: string, payer: string): string | null {
  const sponsor = returned.signatures.get(feePayer);
  if (sponsor?.some((byte) => byte !== 0)) return "the fee payer's place is not empty";
  const signature = returned.signatures.get(payer);
  if (signature == null) return "the buyer's signature is missing";
  return verifies(payer, returned.message, signature) ? null : "the signature does not verify";
}

/**
 * Why a transaction that a wallet returned is not the one it was asked to sign; null: it is, with at most a few guards of the
 * wallet's own in it, and the buyer signed it. The fee payer's signature would cover everything, so nothing else is let through.
 */
export function returnedProblem(made: Uint8Array, returned: Parts, payer: string): string | null {
  const ours = readMessage(made);
  if (ours === null) return "nothing was made to be signed";
  const { feePayer } = ours;
  if (returned.feePayer !== feePayer) return "another fee payer";
  if (returned.blockhash !== ours.blockhash) return "another blockhash";
  const signers = returned.accounts.filter(({ signer }) => signer).map(({ address }) => address);
  if (signers.length !== 2 || !signers.includes(payer)) return "other signers than ours";
  return (
    accountProblem(ours.accounts, returned.accounts) ??
    instructionProblem(ours.instructions, returned.instructions, feePayer) ??
    signatureProblem(returned, feePayer, payer)
  );
}
