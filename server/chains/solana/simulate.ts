import type { TransferTerms } from "#server/domain/option/authorization.ts";
import {
  type BuiltTx,
  ChainUnavailable,
  type RevertReason,
  type SignatureCheck,
  type Simulation,
  type TxPlan,
} from "#server/ports/chain.ts";
import { readLamports, TOKEN_ACCOUNT_RENT } from "./account-reads.ts";
import { SYSTEM_PROGRAM, TOKEN_PROGRAMS } from "./assets.ts";
import { returnedProblem } from "./compare.ts";
import type { Context } from "./context.ts";
import { fromBase58 } from "./keys.ts";
import {
  compileTransfer,
  encodeWire,
  LAMPORTS_PER_SIGNATURE,
  type Parts,
  priorityFee,
  readMessage,
  readOutput,
} from "./message.ts";
import { payoutRefusal, planPayout } from "./transfers.ts";

type SimulationAnswer = {
  value: {
    err: unknown;
    logs: string[] | null;
    unitsConsumed?: number;
    accounts: ({ lamports: number } | null)[] | null;
  };
};

/** Two signatures: the sponsor's and the one of whoever pays. */
const SIGNATURES = 2n;
/** How often the sponsor's balance is compared: other transactions of its own may come in between. */
const TRIES = 3;

/** A blockhash that is replaced in simulations. */
const ANY_BLOCKHASH = "1".repeat(32);

async function ask(
  { rpc }: Context,
  wire: string,
  { fresh, watch }: { fresh: boolean; watch: string[] },
): Promise<SimulationAnswer["value"]> {
  const { value } = await rpc.read<SimulationAnswer>("simulateTransaction", [
    wire,
    {
      encoding: "base64",
      commitment: "confirmed",
      sigVerify: false,
      replaceRecentBlockhash: fresh,
      accounts: { encoding: "base64", addresses: watch },
    },
  ]);
  return value;
}

/** SPL errors by number. */
const SPL_ERRORS: Record<number, RevertReason> = { 1: "insufficient_balance", 17: "denied" };

/** What a failed instruction says, if it is a transfer. */
function instructionReason(parts: Pick<Parts, "instructions">, failed: unknown): RevertReason {
  if (!Array.isArray(failed)) return "other";
  const [at, why] = failed as [number, unknown];
  const instruction = parts.instructions[at];
  const custom =
    typeof why === "object" && why !== null && "Custom" in why ? Number(why.Custom) : null;
  if (instruction === undefined || custom === null) return "other";
  if (TOKEN_PROGRAMS.has(instruction.program)) return SPL_ERRORS[custom] ?? "other";
  return instruction.program === SYSTEM_PROGRAM && custom === 1 ? "insufficient_balance" : "other";
}

/** Names an error of a simulation; throws `ChainUnavailable` where our own fee payer is short, which is nobody else's fault. */
export function reasonOf(parts: Pick<Parts, "instructions">, err: unknown): RevertReason {
  if (typeof err === "object" && err !== null && "InstructionError" in err)
    return instructionReason(parts, err.InstructionError);
  const name =
    typeof err === "string"
      ? err
      : typeof err === "object" && err !== null
        ? Object.keys(err)[0]
        : "";
  if (name === "BlockhashNotFound") return "expired";
  if (name === "AlreadyProcessed") return "nonce_used";
  if (name === "InsufficientFundsForFee" || name === "AccountNotFound")
    throw new ChainUnavailable(`the fee payer cannot pay: ${name}`);
  return "other";
}

const detailOf = ({ err, logs }: SimulationAnswer["value"]): string =>
  `${JSON.stringify(err)} ${(logs ?? []).slice(-3).join(" | ")}`.slice(0, 500);

async function run(context: Context, parts: Parts, fresh: boolean): Promise<Simulation> {
  const wire = encodeWire(parts.message, signaturesOf(parts));
  const answer = await ask(context, wire, { fresh, watch: [] });
  if (answer.err === null) return { kind: "ok", gas: BigInt(answer.unitsConsumed ?? 0) };
  return { kind: "revert", reason: reasonOf(parts, answer.err), detail: detailOf(answer) };
}

const signaturesOf = ({ signatures }: Parts): Map<string, Uint8Array> =>
  new Map([...signatures].flatMap(([account, one]) => (one === null ? [] : [[account, one]])));

/** Runs a plan without sending it; a capture with the lifetime it has, a payout with the newest. */
export async function simulatePlan(context: Context, plan: TxPlan): Promise<Simulation> {
  if (plan.kind === "fill")
    return { kind: "revert", reason: "other", detail: "there is no nonce to fill" };
  if (plan.kind === "capture") {
    const parts = readOutput(plan.signature, fromBase58);
    if (parts === null) return { kind: "revert", reason: "other", detail: "no transaction" };
    return run(context, parts, false);
  }
  const refused = payoutRefusal(context, plan);
  if (refused !== null) return { kind: "revert", reason: "other", detail: refused };
  const message = compileTransfer(await planPayout(context, plan, 0n), ANY_BLOCKHASH);
  const parts = readMessage(message);
  if (parts === null) throw new Error("a transfer of ours cannot be read");
  return run(context, { ...parts, signatures: new Map() }, true);
}

/** Most a transaction may cost its sponsor, in lamports. */
function allowance(context: Context, made: Pick<Parts, "instructions">): bigint {
  // Compute limit, price, transfer and memo are always there; a fifth makes the recipient's token account.
  const creates = made.instructions.length > 4;
  return (
    SIGNATURES * LAMPORTS_PER_SIGNATURE +
    priorityFee(context.entry.microLamportsPerUnit) +
    (creates ? TOKEN_ACCOUNT_RENT : 0n)
  );
}

/** Simulates what a buyer signed and measures what it takes from the fee payer. */
async function sponsored(context: Context, parts: Parts, most: bigint): Promise<SignatureCheck> {
  const wire = encodeWire(parts.message, signaturesOf(parts));
  let taken = 0n;
  for (let turn = 0; turn < TRIES; turn++) {
    const before = await readLamports(context, parts.feePayer);
    const answer = await ask(context, wire, { fresh: false, watch: [parts.feePayer] });
    if (answer.err !== null)
      return {
        kind: "would_revert",
        reason: reasonOf(parts, answer.err),
        detail: detailOf(answer),
      };
    taken = before - BigInt(answer.accounts?.[0]?.lamports ?? 0);
    if (taken <= most) return { kind: "valid" };
  }
  return { kind: "invalid", reason: `it takes ${taken} lamports from the fee payer` };
}

/** Judges what a wallet returned for a transaction that was made for it. */
export async function checkTransaction(
  context: Context,
  terms: TransferTerms,
  built: BuiltTx,
  output: string,
): Promise<SignatureCheck & { wire?: string }> {
  const parts = readOutput(output, fromBase58);
  if (parts === null) return { kind: "invalid", reason: "it is no transaction of ours" };
  const made = new Uint8Array(Buffer.from(built.message, "base64"));
  const problem = returnedProblem(made, parts, terms.payer);
  if (problem !== null) return { kind: "invalid", reason: problem };
  const ours = readMessage(made);
  if (ours === null) return { kind: "invalid", reason: "nothing was made to be signed" };
  const checked = await sponsored(context, parts, allowance(context, ours));
  if (checked.kind !== "valid") return checked;
  return { kind: "valid", wire: encodeWire(parts.message, signaturesOf(parts)) };
}
